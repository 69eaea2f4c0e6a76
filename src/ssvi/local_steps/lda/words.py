"""What the local steps of LDA share: topics laid out word by word, for the words of a minibatch only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ssvi.batches.documents import Documents
from ssvi.checks import require_one_of
from ssvi.local_steps.base import PRECISIONS, LocalStep, Part
from ssvi.models.lda import LDA
from ssvi.numerics.bits import fast_exp
from ssvi.numerics.compile import kernel, widest_vectors
from ssvi.numerics.simd import aligned_zeros
from ssvi.numerics.special import digamma_array
from ssvi.tasks import Each, row_tasks, run_all
from ssvi.typing import Array

# Weights are relative to the largest of their word. This is far below any that matters, and far enough above the
# smallest normal single-precision number (1e-38) that products with topic weights stay normal: arithmetic on subnormal
# numbers is many times slower.
_SMALLEST_WEIGHT = 1e-20
_LARGEST_COUNT = 2.0**53  # up to here a double holds every whole number


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


@kernel
def lay_out(view: Array, weights: npt.NDArray[Any], log_scale: Array) -> None:
    """Fill weights with exp(view - the row's largest), and log_scale with the largest."""
    widest_vectors()
    number = weights.dtype.type
    for word in range(view.shape[0]):
        largest = -np.inf
        for k in range(view.shape[1]):
            largest = max(largest, view[word, k])
        log_scale[word] = largest
        for k in range(view.shape[1]):
            weights[word, k] = number(max(fast_exp(view[word, k] - largest), _SMALLEST_WEIGHT))


class LdaStep(LocalStep):
    """A local step of LDA: `prepare` is the same for all."""

    model = "lda"
    partial_blocks: ClassVar[Mapping[str, str]] = {"topics": "coordinates"}
    precision: str

    def __post_init__(self) -> None:
        require_one_of("precision", self.precision, PRECISIONS)

    def check(self, batch: Documents) -> None:
        """Raise if a count is too large to be one."""
        own = batch.tight()
        if own.counts.max(initial=0) > _LARGEST_COUNT:
            entry = int(own.counts.argmax())
            row, column = own.locate(entry)
            raise ValueError(
                f"the count at row {row}, column {column} is {own.counts[entry]:.3g}, and numbers over "
                f"{_LARGEST_COUNT:.1g} do not count one by one: correct it, or divide all counts by the same number."
            )

    def touched(self, batch: Documents) -> Mapping[str, npt.NDArray[np.int64]]:
        """Return the minibatch's vocabulary."""
        present = np.zeros(batch.n_words, dtype=np.bool_)
        present[batch.tight().words] = True
        return {"topics": np.flatnonzero(present)}

    def prepare(self, model: LDA, views: Mapping[str, Part], batch: Documents, each: Each = map) -> Prepared:
        """Lay out exp(t(beta)) word by word for the minibatch's words."""
        part = views["topics"]
        weights = aligned_zeros((len(part.chosen), self._width(model.n_topics)), self.precision)
        log_scale = np.empty(len(part.chosen))
        tasks = row_tasks(part.stats.shape)
        run_all(each, lambda own: lay_out(part.stats[own], weights[own], log_scale[own]), tasks)
        return Prepared(self._renumber(batch, part.chosen), part.chosen, weights, log_scale)

    def _renumber(self, batch: Documents, columns: npt.NDArray[np.int64]) -> Documents:
        """Return the minibatch with words numbered by their place in `columns`."""
        tight = batch.tight()
        places = np.zeros(tight.n_words, dtype=np.uint32)
        places[columns] = np.arange(len(columns), dtype=np.uint32)
        return Documents(tight.indptr, places[tight.words], self._counts(tight.counts), len(columns))

    def _width(self, n_topics: int) -> int:
        """Return how many columns the kernel wants the weights to have."""
        return n_topics

    def _counts(self, counts: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return counts as the kernel takes them."""
        return counts.astype(self.precision)


def expected_tables(model: LDA, counts: Array, log_absent: Array | None = None) -> dict[str, Array]:
    """Return what expected counts of topics (documents x topics) say of alpha, if the model learns it.

    See `ssvi.local_steps.lda.tokens.count_tables` for what it is. Few topics are in a document, each with several
    words, and expected counts look as if there were many with little each. Where the log probability of a topic's
    absence is known, the expectation is taken given that it is there, times the probability of that (Teh et al. 2007).
    """
    if model.alpha_rule is None:
        return {}
    total, present = model.alpha.sum(), np.ones(1)
    if log_absent is not None:
        present = np.maximum(-np.expm1(log_absent), 1e-300)
    each = present * (digamma_array(counts / present + model.alpha) - digamma_array(model.alpha))
    lengths = (digamma_array(counts.sum(axis=1) + total) - digamma_array(np.array([total]))).sum()
    return {"tables": np.append(model.alpha * each.sum(axis=0), lengths)}
