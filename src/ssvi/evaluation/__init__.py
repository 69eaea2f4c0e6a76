"""Honest scores: how well a fitted model predicts what it has not seen."""

from ssvi.evaluation.bounds import Bound, mean_field_elbo, structured_elbo
from ssvi.evaluation.chib import chib_style
from ssvi.evaluation.coherence import (
    c_v,
    document_occurrences,
    npmi,
    top_words,
    topic_diversity,
    umass,
    window_occurrences,
)
from ssvi.evaluation.document_completion import document_completion
from ssvi.evaluation.held_out import HeldOut
from ssvi.evaluation.left_to_right import left_to_right

__all__ = [
    "Bound",
    "HeldOut",
    "c_v",
    "chib_style",
    "document_completion",
    "document_occurrences",
    "left_to_right",
    "mean_field_elbo",
    "npmi",
    "structured_elbo",
    "top_words",
    "topic_diversity",
    "umass",
    "window_occurrences",
]
