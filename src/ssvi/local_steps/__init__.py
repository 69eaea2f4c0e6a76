"""Local steps (E-steps): a folder a model, one file a step, its kernel beside it."""

from ssvi.local_steps.base import Batch, LocalResult, LocalStep

__all__ = ["Batch", "LocalResult", "LocalStep"]
