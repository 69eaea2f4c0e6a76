"""What the local steps of LDA share: topics laid out word by word, for the words of a minibatch only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.data.documents import Documents
from ssvi.local_steps.base import LocalResult, LocalStep
from ssvi.models.lda import LDA
from ssvi.typing import Array

# Weights are relative to the largest of their word. This is far below any that matters, and far enough above the
# smallest normal single-precision number (1e-38) that products with topic weights stay normal: arithmetic on subnormal
# numbers is many times slower.
_SMALLEST_WEIGHT = 1e-20


@dataclass(frozen=True)
class Prepared:
    """A minibatch and the topics' view of its words.

    Attributes
    ----------
    documents : Documents
        The minibatch, its words numbered by their place in `words`.
    words : (W,) integers
        The minibatch's vocabulary.
    weights : (W, K or more)
        exp(t(beta)), a row a word, divided by the row's largest; columns past K are 0. No conditional of z minds a
        factor that depends on the word alone.
    log_scale : (W,)
        The logarithm of what each row was divided by.

    """

    documents: Documents
    words: npt.NDArray[np.int64]
    weights: npt.NDArray[np.floating[Any]]
    log_scale: Array


def _vocabulary(documents: Documents) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
    """Return the distinct words of some documents, sorted, and each entry's place among them."""
    present = np.zeros(documents.n_words, dtype=np.bool_)
    present[documents.words] = True
    place = np.cumsum(present, dtype=np.uint32) - np.uint32(1)
    return np.flatnonzero(present), place[documents.words]


class LdaStep(LocalStep):
    """A local step of LDA: `prepare` and `finish` are the same for all."""

    model = "lda"
    precision: str

    def prepare(self, model: LDA, views: Mapping[str, Array], batch: Documents) -> Prepared:
        """Lay out exp(t(beta)) word by word for the minibatch's words."""
        tight = batch.tight()
        words, columns = _vocabulary(tight)
        dtype = np.dtype(self.precision)
        topics = views["topics"]
        chosen = topics if len(words) == topics.shape[1] else topics[:, words]
        weights = np.zeros((len(words), self._width(model.n_topics)), dtype)
        filled = weights[:, : model.n_topics]
        log_scale = chosen.max(axis=0)
        np.subtract(chosen.T, log_scale[:, None], out=filled, casting="same_kind")
        np.exp(filled, out=filled)
        np.maximum(filled, dtype.type(_SMALLEST_WEIGHT), out=filled)
        documents = Documents(tight.indptr, columns, self._counts(tight.counts), len(words))
        return Prepared(documents, words, weights, log_scale)

    def _width(self, n_topics: int) -> int:
        """Return how many columns the kernel wants the weights to have."""
        return n_topics

    def _counts(self, counts: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return counts as the kernel takes them."""
        return counts.astype(self.precision)

    def finish(self, model: LDA, prepared: Prepared, result: LocalResult) -> LocalResult:
        """Turn statistics of the minibatch's words into a topics x words array."""
        by_word = result.eta_hat["topics"]
        eta_hat = np.zeros((model.n_topics, model.n_words))
        eta_hat[:, prepared.words] = by_word.T
        return LocalResult({"topics": self._scale(eta_hat)}, result.local, result.bound)

    def _scale(self, eta_hat: Array) -> Array:
        """Return eta-hat from what the kernel added up."""
        return eta_hat
