"""What the steps share that find a Gaussian for each document's log weights: where it is, and how wide."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.checks import require_count, require_not_negative
from ssvi.local_steps.base import LocalResult
from ssvi.local_steps.ctm.ascent import ascend, bound_of
from ssvi.local_steps.ctm.documents import (
    CtmStep,
    PreparedForCtm,
    add_moments,
    mean_softmax,
    mirror,
    softmax_into,
    some_normals,
)
from ssvi.local_steps.ctm.modes import WHOLLY, find_mode
from ssvi.local_steps.splits import add_shares, gather, most_entries
from ssvi.models.ctm import CTM
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys
from ssvi.typing import Array


@kernel
def gaussian_documents(
    indptr: npt.NDArray[np.int64],
    columns: npt.NDArray[np.uint32],
    counts: Array,
    weights: Array,
    precision: Array,
    pull: Array,
    begin: Array,
    factorised: bool,
    rounds: int,
    tolerance: float,
    normals: Array,
    statistics: Array,
    total: Array,
    squares: Array,
    mixtures: Array,
) -> float:
    """Add what documents say to statistics (words x topics, but for the words' weights), total and squares.

    With no room in `total`, and without rows in `mixtures`, these are not filled. Returns the bounds of a `factorised`
    q, but for the constant of log p(x); NaN else, since there is none.
    """
    n_topics = begin.size
    buffer = np.empty((most_entries(indptr), n_topics))
    matrices, vectors = np.zeros((3, n_topics, n_topics)), np.empty((10, n_topics))
    spread, bound = np.empty(n_topics), 0.0 if factorised else np.nan
    for d in range(indptr.size - 1):
        first, last = indptr[d], indptr[d + 1]
        words, own = columns[first:last], counts[first:last]
        rows = gather(words, weights, buffer)
        x = begin.copy()
        if factorised:
            spread[:] = 0.0
            ascend(rows, own, precision, pull, rounds, tolerance, x, spread, matrices, vectors[:7])
        else:
            find_mode(rows, own, precision, pull, rounds, tolerance, WHOLLY, x, matrices, vectors)
        if total.size:
            shift = softmax_into(x, vectors[0])
            height = add_shares(rows, words, own, vectors[0], statistics)
            if factorised:
                bound += height + own.sum() * shift
                bound += bound_of(own, precision, pull, x, spread, matrices[2], vectors[1])
            add_moments(x, matrices[2], total, squares)
        if mixtures.shape[0]:
            mean_softmax(x, matrices[2], normals, vectors[0], vectors[1], mixtures[d])
    mirror(squares)
    return bound


@dataclass(frozen=True)
class GaussianStep(CtmStep):
    """A step that goes to the maximum of something by Newton's steps, and takes a Gaussian around it.

    Parameters
    ----------
    max_rounds : int
        At most this many of Newton's steps a document.
    tolerance : float
        Stop when no log weight changes by more than this.

    """

    max_rounds: int = 100
    tolerance: float = 1e-3

    def __post_init__(self) -> None:
        super().__post_init__()
        require_count("max_rounds", self.max_rounds)
        require_not_negative("tolerance", self.tolerance)

    @property
    @abstractmethod
    def factorised(self) -> bool:
        """Whether z is independent of x under q, and there is a bound; else it is summed out."""

    def run(self, model: CTM, prepared: PreparedForCtm, start: int, stop: int, keys: Keys) -> LocalResult:
        """Find each document's Gaussian; `local` is its mean of softmax(x), over fixed draws."""
        statistics, size = np.zeros_like(prepared.weights), model.n_topics
        total, squares, mixtures, bound = self._over(model, prepared, start, stop, statistics, size)
        shard = prepared.documents.slice(start, stop)
        own = slice(shard.indptr[0], shard.indptr[-1])
        bound += float(shard.counts[own] @ prepared.log_scale[shard.words[own]]) + (stop - start) * prepared.constant
        said = model.said_of_weights(total, squares, float(stop - start))
        eta_hat = {"topics": statistics * prepared.weights, "weights": said[None]}
        eta_hat |= self.said_of_eta(model, prepared, start, stop, mixtures, keys)
        return LocalResult(eta_hat, {"weights": mixtures}, None if np.isnan(bound) else bound)

    def local(self, model: CTM, prepared: PreparedForCtm, start: int, stop: int, keys: Keys) -> Mapping[str, Array]:
        """Find each document's Gaussian for its weights only."""
        return {"weights": self._over(model, prepared, start, stop, np.zeros((0, model.n_topics)), 0)[2]}

    def _over(
        self, model: CTM, prepared: PreparedForCtm, start: int, stop: int, statistics: Array, size: int
    ) -> tuple[Array, Array, Array, float]:
        """Return the sums of E[x] and E[x x^T], `size` of them, the weights, and the bound but for its constants."""
        total, squares, mixtures = np.zeros(size), np.zeros((size, size)), np.zeros((stop - start, model.n_topics))
        options: tuple[Any, ...] = (self.factorised, self.max_rounds, self.tolerance, some_normals(model.n_topics))
        sums: tuple[Any, ...] = (statistics, total, squares, mixtures)
        bound = gaussian_documents(*prepared.given(start, stop), *options, *sums)
        return total, squares, mixtures, bound
