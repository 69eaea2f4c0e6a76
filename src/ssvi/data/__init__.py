"""Corpora and minibatches."""

from ssvi.data.documents import Documents
from ssvi.data.minibatches import minibatches

__all__ = ["Documents", "minibatches"]
