"""Models: one file a model, with its blocks and its scikit-learn estimator."""

from ssvi.models.base import Block, Model

__all__ = ["Block", "Model"]
