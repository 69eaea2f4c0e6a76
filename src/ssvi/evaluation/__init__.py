"""Honest scores: how well a fitted model predicts what it has not seen."""

from ssvi.evaluation.document_completion import document_completion
from ssvi.evaluation.held_out import HeldOut

__all__ = ["HeldOut", "document_completion"]
