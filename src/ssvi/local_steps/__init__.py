"""Local steps (E-steps): a folder a model, one file a step, its kernel beside it."""

from ssvi.local_steps.base import Batch, LocalResult, LocalStep
from ssvi.local_steps.plain import PlainStep

__all__ = ["Batch", "LocalResult", "LocalStep", "PlainStep"]
