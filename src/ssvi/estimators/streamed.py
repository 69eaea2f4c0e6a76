"""Corpora that are read as they are needed, where estimators take data: what is checked, and results chunk by chunk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssvi.batches.documents import Documents
from ssvi.batches.frames import Frames
from ssvi.batches.sources import Source
from ssvi.typing import Array


def take_columns(estimator: Any, source: Source, where: str, *, reset: bool, allow_empty: bool) -> None:
    """Let the columns of a corpus be those of a model that begins, or see that they are those of one that goes on."""
    if not len(source):
        raise ValueError(f"There are no documents in the corpus passed to {where}.")
    if not allow_empty and not source.sizes.tokens:
        raise ValueError(f"There is nothing but zeros in the data passed to {where}.")
    if reset:
        estimator.__dict__.pop("feature_names_in_", None)
        estimator.n_features_in_ = source.n_words
    elif source.n_words != estimator.n_features_in_:
        name = type(estimator).__name__
        raise ValueError(
            f"the corpus has {source.n_words:,} columns, but {name} is expecting {estimator.n_features_in_:,} features "
            "as input: build it over the words of the model."
        )


def by_chunks(method: Callable[..., Array], source: Source, **options: Any) -> Array:
    """Return what a method of an estimator has for each row of a corpus, put together."""
    return np.concatenate([method(documents.to_matrix(), **options) for _, documents in source.chunks()])


def mean_by_chunks(method: Callable[[Any], float], source: Source, weigh: Callable[[Documents], float] = len) -> float:
    """Return the mean that a method of an estimator has for a corpus, from those of its parts."""
    total, weights = 0.0, 0.0
    for _, documents in source.chunks():
        weight = weigh(documents)
        if weight:
            total, weights = total + weight * method(documents.to_matrix()), weights + weight
    return total / weights if weights else float("nan")


@dataclass(frozen=True)
class AboveThreshold:
    """Makes ones of counts above a threshold, and nothing of others."""

    threshold: float

    def __call__(self, documents: Documents) -> Documents:
        """Return the ones of documents."""
        tight = documents.tight()
        kept = tight.counts > self.threshold
        indptr = np.concatenate([[0], np.cumsum(kept)])[tight.indptr]
        return Documents(indptr, tight.words[kept], np.ones(int(kept.sum()), tight.counts.dtype), tight.n_words)


def as_frames(documents: Documents) -> Frames:
    """Return documents as the rows of a factorisation, none of whose entries is missing."""
    nothing = np.zeros(len(documents) + 1, np.int64)
    own = documents.tight()
    return Frames(own, Documents(nothing, own.words[:0], own.counts[:0], own.n_words))
