"""Models: one file a model, with its blocks, its start and its simulation."""

from ssvi.models.base import Block, Model

__all__ = ["Block", "Model"]
