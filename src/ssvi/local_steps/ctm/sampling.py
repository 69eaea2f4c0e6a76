"""What the steps share that sample each document's log weights."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from ssvi.local_steps.base import LocalResult
from ssvi.local_steps.ctm.documents import CtmStep, PreparedForCtm, add_point, draw_around
from ssvi.local_steps.ctm.modes import NEAR, NEARLY, ROUNDS, find_mode
from ssvi.local_steps.splits import add_shares
from ssvi.models.ctm import CTM
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys, uniform
from ssvi.typing import Array


@kernel
def begin_chain(
    rows: Array,
    counts: Array,
    precision: Array,
    pull: Array,
    mode: Array,
    matrices: Array,
    vectors: Array,
    noise: Array,
    x: Array,
    state: np.uint64,
) -> np.uint64:
    """Take `mode` near the mode, and x to a draw from Laplace's approximation there, made of the normals `noise`."""
    find_mode(rows, counts, precision, pull, ROUNDS, NEAR, NEARLY, mode, matrices, vectors)
    x[:] = mode
    return draw_around(matrices[2], noise, x, state)


@kernel
def keep_sample(
    rows: Array,
    words: npt.NDArray[np.uint32],
    counts: Array,
    x: Array,
    theta: Array,
    mixture: Array,
    statistics: Array,
    total: Array,
    squares: Array,
) -> None:
    """Add a sample of a document to all sums; with no room in `total`, to `mixture` only."""
    for k in range(theta.size):
        mixture[k] += theta[k]
    if total.size:
        add_shares(rows, words, counts, theta, statistics)
        add_point(x, total, squares)


@kernel
def add_drawn_topics(
    rows: Array,
    words: npt.NDArray[np.uint32],
    counts: Array,
    theta: Array,
    cumulative: Array,
    statistics: Array,
    state: np.uint64,
) -> np.uint64:
    """Draw the topic of every token given weights, and add it to statistics, which are to be multiplied by `rows`."""
    for i in range(counts.size):
        total = 0.0
        for k in range(theta.size):
            total += theta[k] * rows[i, k]
            cumulative[k] = total
        for _ in range(int(counts[i])):
            k, state = draw_place(cumulative, total, state)
            statistics[words[i], k] += 1.0 / rows[i, k]
    return state


@kernel
def draw_place(cumulative: Array, total: float, state: np.uint64) -> tuple[int, np.uint64]:
    """Draw a place in proportion to weights, given their sums."""
    chance, state = uniform(state)
    level, k = chance * total, 0
    while k < cumulative.size - 1 and cumulative[k] <= level:
        k += 1
    return k, state


class SamplingStep(CtmStep):
    """A step that averages over samples of each document."""

    @property
    @abstractmethod
    def documents(self) -> Callable[..., None]:
        """The kernel that goes over documents and adds up samples."""

    @property
    @abstractmethod
    def options(self) -> tuple[int, ...]:
        """Its own parameters."""

    @property
    @abstractmethod
    def averaged(self) -> int:
        """How many samples of each document it adds up."""

    def run(self, model: CTM, prepared: PreparedForCtm, start: int, stop: int, keys: Keys) -> LocalResult:
        """Sample each document; `local` is the mean of softmax(x)."""
        statistics = np.zeros_like(prepared.weights)
        total, squares, mixtures = self._sample(model, prepared, start, stop, keys, statistics, model.n_topics)
        said = model.said_of_weights(total, squares, float(self.averaged * (stop - start)))
        share = 1.0 / self.averaged
        eta_hat = {"topics": share * statistics * prepared.weights, "weights": share * said[None]}
        eta_hat |= self.said_of_eta(model, prepared, start, stop, mixtures, keys)
        return LocalResult(eta_hat, {"weights": mixtures})

    def local(self, model: CTM, prepared: PreparedForCtm, start: int, stop: int, keys: Keys) -> Mapping[str, Array]:
        """Sample each document for its weights only."""
        nothing = np.zeros((0, model.n_topics))
        return {"weights": self._sample(model, prepared, start, stop, keys, nothing, 0)[2]}

    def _sample(
        self, model: CTM, prepared: PreparedForCtm, start: int, stop: int, keys: Keys, statistics: Array, size: int
    ) -> tuple[Array, Array, Array]:
        """Return the sums of x and x x^T over samples, `size` of them, and the means of softmax(x)."""
        total, squares = np.zeros(size), np.zeros((size, size))
        mixtures = np.zeros((stop - start, model.n_topics))
        self.documents(*prepared.given(start, stop), *self.options, keys, statistics, total, squares, mixtures)
        return total, squares, mixtures / self.averaged
