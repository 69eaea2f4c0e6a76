"""What the steps share that find a Gaussian for each document's log weights: where it is, and how wide."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ssvi.checks import require_count, require_not_negative
from ssvi.local_steps.base import LocalResult
from ssvi.local_steps.ctm.documents import CtmStep, PreparedForCtm, some_normals
from ssvi.models.ctm import CTM
from ssvi.numerics.random import Keys
from ssvi.typing import Array


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
    def documents(self) -> Callable[..., float]:
        """The kernel that goes over documents and returns the sum of their bounds, or NaN."""

    def run(self, model: CTM, prepared: PreparedForCtm, start: int, stop: int, keys: Keys) -> LocalResult:
        """Find each document's Gaussian; `local` is its mean of softmax(x), over fixed draws."""
        statistics, size = np.zeros_like(prepared.weights), model.n_topics
        total, squares, mixtures, bound = self._over(model, prepared, start, stop, statistics, size)
        shard = prepared.documents.slice(start, stop)
        own = slice(shard.indptr[0], shard.indptr[-1])
        bound += float(shard.counts[own] @ prepared.log_scale[shard.words[own]]) + (stop - start) * prepared.constant
        said = model.said_of_weights(total, squares, float(stop - start))
        eta_hat = {"topics": statistics * prepared.weights, "weights": said[None]}
        return LocalResult(eta_hat, {"weights": mixtures}, None if np.isnan(bound) else bound)

    def local(self, model: CTM, prepared: PreparedForCtm, start: int, stop: int, keys: Keys) -> Mapping[str, Array]:
        """Find each document's Gaussian for its weights only."""
        return {"weights": self._over(model, prepared, start, stop, np.zeros((0, model.n_topics)), 0)[2]}

    def _over(
        self, model: CTM, prepared: PreparedForCtm, start: int, stop: int, statistics: Array, size: int
    ) -> tuple[Array, Array, Array, float]:
        """Return the sums of E[x] and E[x x^T], `size` of them, the weights, and the bound but for its constants."""
        total, squares, mixtures = np.zeros(size), np.zeros((size, size)), np.zeros((stop - start, model.n_topics))
        options = (self.max_rounds, self.tolerance, some_normals(model.n_topics))
        bound = self.documents(*prepared.given(start, stop), *options, statistics, total, squares, mixtures)
        return total, squares, mixtures, bound
