"""Corpora: readers of many formats, Wikipedia's dumps, and samples that need no download."""

from ssvi.batches import Documents, minibatches

__all__ = ["Documents", "minibatches"]
