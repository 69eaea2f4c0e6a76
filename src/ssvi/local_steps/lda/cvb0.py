"""CVB0 local step of LDA (Asuncion et al. 2009), adapted as the paper says: theta integrated out, beta held fixed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.checks import require_count, require_not_negative
from ssvi.local_steps.base import LocalResult
from ssvi.local_steps.lda.drawn import drawn_word_tables
from ssvi.local_steps.lda.words import LdaStep, Prepared, expected_tables
from ssvi.models.lda import LDA
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys
from ssvi.numerics.vectors import total, total_distance
from ssvi.typing import Array

# Tokens of a document from which on expected counts are added up anew after each round. Changes by many tokens leave
# rounding errors behind, which would be large beside a topic with few.
_LONG = 10_000
_CERTAIN = 1e-30  # a topic that a token lacks with this probability is there


@kernel
def update_entry(
    row: npt.NDArray[Any],
    count: float,
    alpha: npt.NDArray[Any],
    expected: npt.NDArray[Any],
    share: npt.NDArray[Any],
    fresh: npt.NDArray[Any],
) -> Any:
    """Update one word's q(z): share_k proportional to row_k (expected_k without one such token + alpha_k).

    All `count` tokens of a word in a document share one q(z); each is left out of what it sees. Returns the change.
    """
    zero, one = row.dtype.type(0), row.dtype.type(1)
    own = min(count, one)
    for k in range(row.size):
        fresh[k] = row[k] * (max(expected[k] - own * share[k], zero) + alpha[k])
    scale = one / total(fresh)
    for k in range(row.size):
        fresh[k] *= scale
    change = count * total_distance(fresh, share)
    for k in range(row.size):
        expected[k] += count * (fresh[k] - share[k])
        share[k] = fresh[k]
    return change


@kernel
def _add_up(counts: npt.NDArray[Any], shares: npt.NDArray[Any], expected: npt.NDArray[Any]) -> None:
    """Set expected_k to sum_i count_i share_ik."""
    expected[:] = 0
    for i in range(counts.size):
        for k in range(expected.size):
            expected[k] += counts[i] * shares[i, k]


@kernel
def cvb0_documents(
    indptr: npt.NDArray[np.int64],
    columns: npt.NDArray[np.uint32],
    counts: npt.NDArray[Any],
    weights: npt.NDArray[Any],
    alpha: npt.NDArray[Any],
    max_rounds: int,
    tolerance: float,
    statistics: npt.NDArray[Any],
    expected: npt.NDArray[Any],
    log_absent: Array,
) -> None:
    """Handle each document of a shard; fill statistics (words x topics) and expected counts (documents x topics).

    If it has rows, log_absent gets the log probability that no token of a document has a topic.
    """
    n_topics = alpha.size
    largest = 0
    for d in range(indptr.size - 1):
        largest = max(largest, indptr[d + 1] - indptr[d])
    shares = np.empty((largest, n_topics), weights.dtype)
    fresh = np.empty(n_topics, weights.dtype)
    for d in range(indptr.size - 1):
        start, stop = indptr[d], indptr[d + 1]
        own, is_long = shares[: stop - start], counts[start:stop].sum() > _LONG
        expected[d] = 0
        own[:] = 0
        # In the first round nothing is known of the words to come: each sees those before it.
        for _ in range(max_rounds):
            change = 0.0
            for i in range(start, stop):
                row = weights[columns[i]]
                change += update_entry(row, counts[i], alpha, expected[d], own[i - start], fresh)
            if is_long:
                _add_up(counts[start:stop], own, expected[d])
            if change < tolerance * n_topics:
                break
        for i in range(start, stop):
            statistics[columns[i]] += counts[i] * own[i - start]
        if log_absent.size:
            log_absent[d] = 0.0
            for i in range(start, stop):
                for k in range(n_topics):
                    log_absent[d, k] += counts[i] * math.log(max(1.0 - own[i - start, k], _CERTAIN))


@dataclass(frozen=True)
class Cvb0(LdaStep):
    """q(z_d) by zeroth-order collapsed updates given exp(t(beta)). It optimises no bound.

    Parameters
    ----------
    max_rounds : int
        At most this many rounds over a document's words.
    tolerance : float
        Stop when the mean absolute change of the expected topic counts, over topics, is below this.
    precision : {"float32", "float64"}
        The arithmetic of the inner loops.

    """

    max_rounds: int = 100
    tolerance: float = 1e-3
    precision: str = "float32"

    name = "cvb0"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_count("max_rounds", self.max_rounds)
        require_not_negative("tolerance", self.tolerance)

    def run(self, model: LDA, prepared: Prepared, start: int, stop: int, keys: Keys) -> LocalResult:
        """Iterate on each document; `local` is the normalised alpha + E[n_dk]."""
        shard = prepared.documents.slice(start, stop)
        statistics = np.zeros_like(prepared.weights)
        expected = np.empty((stop - start, model.n_topics), prepared.weights.dtype)
        log_absent = np.empty((stop - start if model.alpha_rule else 0, model.n_topics))
        cvb0_documents(
            shard.indptr,
            shard.words,
            shard.counts,
            prepared.weights,
            model.alpha.astype(prepared.weights.dtype),
            self.max_rounds,
            self.tolerance,
            statistics,
            expected,
            log_absent,
        )
        counts = expected.astype(np.float64)
        local: Array = model.alpha + counts
        learned = expected_tables(model, counts, log_absent) | drawn_word_tables(model, prepared, shard, local, keys)
        weights = {"weights": local / local.sum(axis=1, keepdims=True)}
        return LocalResult({"topics": statistics, **learned}, weights)
