"""Gibbs local step of LDA: z sampled with theta integrated out and beta held fixed (Mimno et al. 2012).

p(z = k | other z, w) is proportional to (n_dk + alpha_k) beta_kw. It splits into n_dk beta_kw, over the few topics
that the document uses, and alpha_k beta_kw, which does not change during a minibatch: a table of running sums for
each word serves every draw from it, by bisection. So a token costs its document's number of topics, not K.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.data.documents import Documents
from ssvi.local_steps.base import LocalResult
from ssvi.local_steps.lda.common import LdaStep, Prepared
from ssvi.models.lda import LDA
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys, uniform
from ssvi.typing import Array


@kernel
def prior_table(weights: npt.NDArray[Any], alpha: Array) -> npt.NDArray[Any]:
    """Return, for each word, the running sums over k of alpha_k beta_kw."""
    table = np.empty_like(weights)
    for word in range(weights.shape[0]):
        total = 0.0
        for k in range(weights.shape[1]):
            total += alpha[k] * weights[word, k]
            table[word, k] = total
    return table


@kernel
def _bisect(running: npt.NDArray[Any], level: float) -> int:
    """Return the first k whose running sum exceeds `level`, or the last k."""
    low, high = 0, running.size - 1
    while low < high:
        middle = (low + high) >> 1
        if running[middle] > level:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def _draw_topic(
    row: npt.NDArray[Any],
    table_row: npt.NDArray[Any],
    tally: npt.NDArray[Any],
    active: npt.NDArray[np.int32],
    n_active: int,
    running: npt.NDArray[Any],
    chance: float,
) -> int:
    """Return the topic of one token, given the tally of its document's other tokens."""
    total = 0.0
    for j in range(n_active):
        k = active[j]
        total += tally[k] * row[k]
        running[j] = total
    level = chance * (total + table_row[table_row.size - 1])
    if level < total:
        j = 0
        while running[j] <= level:
            j += 1
        return active[j]
    return _bisect(table_row, level - total)


@kernel
def gibbs_documents(
    indptr: npt.NDArray[np.int64],
    columns: npt.NDArray[np.int32],
    counts: npt.NDArray[np.int32],
    weights: npt.NDArray[Any],
    table: npt.NDArray[Any],
    sweeps: int,
    kept: int,
    keys: Keys,
    statistics: npt.NDArray[np.int32],
    tallies: npt.NDArray[np.float64],
) -> None:
    """Sample each document of a shard from a fresh start.

    Fills statistics (words x topics) and tallies (documents x topics) with counts summed over the last `kept` of
    `sweeps` sweeps. The first sweep draws each token given those before it.
    """
    n_topics = weights.shape[1]
    longest = 0
    for d in range(indptr.size - 1):
        longest = max(longest, counts[indptr[d] : indptr[d + 1]].sum())
    topics = np.empty(longest, np.int32)
    tally = np.zeros(n_topics, weights.dtype)
    active = np.empty(n_topics, np.int32)
    place = np.empty(n_topics, np.int32)
    running = np.empty(n_topics, np.float64)
    for d in range(indptr.size - 1):
        state = keys[d]
        n_active = 0
        for sweep in range(sweeps):
            token = 0
            keep = sweep >= sweeps - kept
            for i in range(indptr[d], indptr[d + 1]):
                word = columns[i]
                for _ in range(counts[i]):
                    if sweep > 0:
                        k = topics[token]
                        tally[k] -= 1
                        if tally[k] == 0:
                            n_active -= 1
                            last = active[n_active]
                            active[place[k]] = last
                            place[last] = place[k]
                    chance, state = uniform(state)
                    k = _draw_topic(weights[word], table[word], tally, active, n_active, running, chance)
                    if tally[k] == 0:
                        active[n_active] = k
                        place[k] = n_active
                        n_active += 1
                    tally[k] += 1
                    topics[token] = k
                    token += 1
                    if keep:
                        statistics[word, k] += 1
            if keep:
                for j in range(n_active):
                    tallies[d, active[j]] += tally[active[j]]
        for j in range(n_active):
            tally[active[j]] = 0


@dataclass(frozen=True)
class PreparedForGibbs(Prepared):
    """A prepared minibatch with its table of running sums (see `prior_table`)."""

    table: npt.NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Gibbs(LdaStep):
    """Samples of z_d given t(beta), which approach draws from the exact conditional as sweeps grow.

    Parameters
    ----------
    sweeps : int
        Sweeps over each document, from a fresh start.
    kept : int
        How many of them, the last, are averaged.
    precision : {"float32", "float64"}
        The storage of the topics' weights; sums are taken in double precision.
    """

    sweeps: int = 10
    kept: int = 5
    precision: str = "float32"

    name = "gibbs"

    def __post_init__(self) -> None:
        if not 1 <= self.kept <= self.sweeps:
            raise ValueError(f"kept must be from 1 to sweeps = {self.sweeps}, not {self.kept}.")

    def check(self, batch: Documents) -> None:
        """Raise unless every count is whole: a fraction of a token has no topic."""
        if not batch.is_whole():
            raise ValueError(
                "local_step 'gibbs' needs whole counts, and some counts here are fractions: "
                "use local_step='mean_field' or 'cvb0', or give raw counts."
            )

    def prepare(self, model: LDA, views: Any, batch: Documents) -> PreparedForGibbs:
        """Add the table of running sums."""
        shared = super().prepare(model, views, batch)
        table = prior_table(shared.weights, model.alpha)
        return PreparedForGibbs(shared.documents, shared.words, shared.weights, table)

    def _counts(self, counts: npt.NDArray[Any]) -> npt.NDArray[Any]:
        return counts.astype(np.int32)

    def run(self, model: LDA, prepared: PreparedForGibbs, start: int, stop: int, keys: Keys) -> LocalResult:
        """Sample each document; `local` is the mean of E[theta | z] over the kept sweeps."""
        shard = prepared.documents.slice(start, stop)
        statistics = np.zeros(prepared.weights.shape, dtype=np.int32)
        tallies = np.zeros((stop - start, model.n_topics))
        gibbs_documents(
            shard.indptr,
            shard.words,
            shard.counts,
            prepared.weights,
            prepared.table,
            self.sweeps,
            self.kept,
            keys,
            statistics,
            tallies,
        )
        local: Array = model.alpha + tallies / self.kept
        return LocalResult({"topics": statistics}, local / local.sum(axis=1, keepdims=True))

    def _scale(self, eta_hat: Array) -> Array:
        return eta_hat / self.kept
