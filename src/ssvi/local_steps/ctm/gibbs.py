"""Gibbs local step of the correlated topic model, by Polya-Gamma variables (Chen et al. 2013).

Given z, with C_k words of topic k and N in all, a log weight x_k has the likelihood exp(C_k r) / (1 + exp(r))^N of a
logistic regression, r = x_k - log sum_{j != k} exp(x_j). Given omega ~ PG(N, r) it is Gaussian in x_k, and so is the
prior given the other log weights.

Such a chain moves slowly, the more so the longer a document is. So it begins with a draw from Laplace's approximation,
and has little left to mend.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ssvi.batches.documents import Documents
from ssvi.checks import is_integer, require, require_count
from ssvi.local_steps.ctm.documents import mirror, softmax_into
from ssvi.local_steps.ctm.sampling import SamplingStep, begin_chain, draw_place, keep_sample
from ssvi.local_steps.lda.gibbs import Gibbs as LdaGibbs
from ssvi.local_steps.splits import gather, most_entries
from ssvi.numerics.compile import kernel
from ssvi.numerics.polya_gamma import polya_gamma
from ssvi.numerics.random import Keys, normal
from ssvi.numerics.vectors import dot
from ssvi.typing import Array

_SMALLEST = 1e-300


@kernel
def draw_topics(
    rows: Array, counts: Array, theta: Array, cumulative: Array, held: Array, state: np.uint64
) -> np.uint64:
    """Draw the topic of every token given weights, and fill `held` with how many each topic has."""
    held[:] = 0.0
    for i in range(counts.size):
        total = 0.0
        for k in range(theta.size):
            total += theta[k] * rows[i, k]
            cumulative[k] = total
        for _ in range(int(counts[i])):
            k, state = draw_place(cumulative, total, state)
            held[k] += 1.0
    return state


@kernel
def draw_log_weights(
    held: Array, n_words: float, precision: Array, pull: Array, x: Array, state: np.uint64
) -> np.uint64:
    """Draw one log weight after another given the others and how many words each topic has."""
    for k in range(x.size):
        largest = -np.inf
        for j in range(x.size):
            if j != k:
                largest = max(largest, x[j])
        norm = 0.0
        for j in range(x.size):
            if j != k:
                norm += math.exp(x[j] - largest)
        others = largest + math.log(norm) if x.size > 1 else 0.0
        omega, state = polya_gamma(int(n_words), x[k] - others, state)
        curvature = precision[k, k] + omega
        slope = pull[k] - dot(precision[k], x) + precision[k, k] * x[k]
        slope += held[k] - 0.5 * n_words + omega * others
        chance, state = normal(state)
        x[k] = slope / curvature + chance / math.sqrt(curvature)
    return state


@kernel
def gibbs_documents(
    indptr: npt.NDArray[np.int64],
    columns: npt.NDArray[np.uint32],
    counts: Array,
    weights: Array,
    precision: Array,
    pull: Array,
    begin: Array,
    sweeps: int,
    kept: int,
    keys: Keys,
    statistics: Array,
    total: Array,
    squares: Array,
    mixtures: Array,
) -> None:
    """Add the sums over the kept sweeps to statistics (words x topics, but for the words' weights), total and squares.

    Words say of the topics what they do in the mean over z. With no room in `total`, none of these is filled.
    """
    n_topics = begin.size
    buffer = np.empty((most_entries(indptr), n_topics))
    theta, cumulative, held = np.empty(n_topics), np.empty(n_topics), np.empty(n_topics)
    matrices, vectors = np.zeros((3, n_topics, n_topics)), np.empty((10, n_topics))
    x, noise = np.empty(n_topics), np.empty(n_topics)
    for d in range(indptr.size - 1):
        first, last = indptr[d], indptr[d + 1]
        words, own = columns[first:last], counts[first:last]
        rows, mode = gather(words, weights, buffer), begin.copy()
        state = begin_chain(rows, own, precision, pull, mode, matrices, vectors, noise, x, keys[d])
        n_words = own.sum()
        for sweep in range(sweeps):
            softmax_into(x, theta)
            for k in range(n_topics):
                theta[k] = max(theta[k], _SMALLEST)
            state = draw_topics(rows, own, theta, cumulative, held, state)
            state = draw_log_weights(held, n_words, precision, pull, x, state)
            if sweep < sweeps - kept:
                continue
            softmax_into(x, theta)
            keep_sample(rows, words, own, x, theta, mixtures[d], statistics, total, squares)
    mirror(squares)


@dataclass(frozen=True)
class Gibbs(SamplingStep):
    """Samples of x_d and z_d given the views, which approach draws from the exact conditional as sweeps grow.

    Parameters
    ----------
    sweeps : int
        Sweeps over each document, from a draw of Laplace's approximation.
    kept : int
        How many of them, the last, are averaged.

    """

    sweeps: int = 10
    kept: int = 5

    name = "gibbs"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_count("sweeps", self.sweeps)
        among = f"an integer from 1 to sweeps = {self.sweeps}"
        require("kept", self.kept, lambda v: is_integer(v) and 1 <= v <= self.sweeps, among)

    def check(self, batch: Documents) -> None:
        """Raise unless every count is whole, since a fraction of a token has no topic, and no document is endless."""
        LdaGibbs().check(batch)

    @property
    def documents(self) -> Callable[..., None]:
        """The kernel."""
        return gibbs_documents

    @property
    def options(self) -> tuple[int, int]:
        """Sweeps, and those kept."""
        return self.sweeps, self.kept

    @property
    def averaged(self) -> int:
        """The sweeps kept."""
        return self.kept
