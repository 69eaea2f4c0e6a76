"""Mean-field local step of LDA: q(theta) prod q(z), each document by coordinate ascent (Blei et al. 2003)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.batches.documents import Documents
from ssvi.checks import require_count, require_not_negative
from ssvi.local_steps.base import LocalResult
from ssvi.local_steps.lda.drawn import drawn_word_tables
from ssvi.local_steps.lda.words import LdaStep, Prepared, expected_tables
from ssvi.local_steps.splits import add_shares, gather, most_entries, pull_towards
from ssvi.models.lda import LDA
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys
from ssvi.numerics.special import digamma, digamma_array, exp_digamma_array, log_gamma
from ssvi.typing import Array

_WIDE_ROUNDS = 3  # over all topics, before those that matter are iterated alone
_LONGEST_LEAP = 8.0  # in rounds; a leap is a guess, and long ones end in another optimum more often
_TRACE = 1e-3  # the expected number of a document's tokens that a topic must hold to matter
_NEGLIGIBLE = 1e-15  # a topic this much rarer than the document's first one counts as absent (and makes no subnormals)


@kernel
def _expected_log_weights(gamma: Array, theta: npt.NDArray[Any], work: Array) -> float:
    """Fill theta with exp(psi(gamma_k) - largest) and return the largest psi(gamma_k)."""
    largest = digamma(gamma.max())
    exp_digamma_array(gamma, largest, _NEGLIGIBLE, theta, work)
    return largest


@kernel
def _prior_bound(gamma: Array, alpha: Array) -> float:
    """Return E_q[log p(theta) - log q(theta)] of one document."""
    shift = digamma(gamma.sum())
    bound = log_gamma(alpha.sum()) - log_gamma(gamma.sum())
    for k in range(alpha.size):
        expected_log = digamma(gamma[k]) - shift
        bound += log_gamma(gamma[k]) - log_gamma(alpha[k]) + (alpha[k] - gamma[k]) * expected_log
    return bound


@kernel
def _round(
    rows: npt.NDArray[Any],
    counts: npt.NDArray[Any],
    alpha: Array,
    gamma: Array,
    theta: npt.NDArray[Any],
    pull: npt.NDArray[Any],
    work: Array,
) -> float:
    """Update gamma once; return the sum of its absolute changes."""
    _expected_log_weights(gamma, theta, work)
    pull_towards(rows, counts, theta, pull)
    change = 0.0
    for k in range(gamma.size):
        updated = alpha[k] + theta[k] * pull[k]
        change += abs(updated - gamma[k])
        gamma[k] = updated
    return change


@kernel
def _narrow(
    rows: npt.NDArray[Any], alpha: Array, gamma: Array, chosen: npt.NDArray[np.int64], buffer: npt.NDArray[Any]
) -> tuple[int, npt.NDArray[Any]]:
    """List the topics that hold more than a trace of a document; return their number and their columns of its rows."""
    count = 0
    for k in range(gamma.size):
        if gamma[k] - alpha[k] > _TRACE:
            chosen[count] = k
            count += 1
    narrow = buffer[: rows.shape[0] * count].reshape(rows.shape[0], count)
    for i in range(rows.shape[0]):
        for j in range(count):
            narrow[i, j] = rows[i, chosen[j]]
    return count, narrow


@kernel
def _leap(start: Array, middle: Array, gamma: Array, alpha: Array) -> None:
    """Replace gamma, two rounds after `start`, by where the changes so far point (SQUAREM, Varadhan and Roland 2008).

    Rounds shrink the distance to their limit slowly, by about the same factor each: twice as few with leaps between.
    """
    squares, bends = 0.0, 1e-300
    for k in range(gamma.size):
        change = middle[k] - start[k]
        squares += change**2
        bends += ((gamma[k] - middle[k]) - change) ** 2
    length = min(max(math.sqrt(squares / bends), 1.0), _LONGEST_LEAP)  # 1 is no leap: it ends at gamma
    for k in range(gamma.size):
        change = middle[k] - start[k]
        bend = (gamma[k] - middle[k]) - change
        gamma[k] = max(alpha[k], start[k] + length * (2.0 * change + length * bend))


@kernel
def _iterate(
    rows: npt.NDArray[Any],
    counts: npt.NDArray[Any],
    alpha: Array,
    gamma: Array,
    theta: npt.NDArray[Any],
    pull: npt.NDArray[Any],
    work: Array,
    past: Array,
    rounds: int,
    enough: float,
) -> int:
    """Update gamma by rounds and leaps, until a round changes it by less than `enough`; return the rounds made."""
    start, middle = past[0, : gamma.size], past[1, : gamma.size]
    made = 0
    while made < rounds:
        start[:] = gamma
        change = _round(rows, counts, alpha, gamma, theta, pull, work)
        made += 1
        if change < enough or made == rounds:
            break
        middle[:] = gamma
        change = _round(rows, counts, alpha, gamma, theta, pull, work)
        made += 1
        if change < enough or made == rounds:
            break
        _leap(start, middle, gamma, alpha)
    return made


@kernel
def mean_field_documents(
    indptr: npt.NDArray[np.int64],
    columns: npt.NDArray[np.uint32],
    counts: npt.NDArray[Any],
    weights: npt.NDArray[Any],
    alpha: Array,
    max_rounds: int,
    tolerance: float,
    gamma: Array,
) -> None:
    """Fill gamma (documents x topics), each document from a fresh start.

    After a few rounds most topics hold next to nothing of a document. The others are then iterated alone, with their
    columns copied together, and a round over all topics has the last word: only if it, too, changes little does the
    document end.
    """
    n_topics, most, enough = alpha.size, most_entries(indptr), tolerance * alpha.size
    buffer, narrow_buffer = np.empty((most, n_topics), weights.dtype), np.empty(most * n_topics, weights.dtype)
    theta, pull = np.empty(n_topics, weights.dtype), np.empty(n_topics, weights.dtype)
    chosen, work, past = np.empty(n_topics, np.int64), np.empty(n_topics), np.empty((2, n_topics))
    narrow_alpha, narrow_gamma = np.empty(n_topics), np.empty(n_topics)
    for d in range(indptr.size - 1):
        start, stop = indptr[d], indptr[d + 1]
        own = counts[start:stop]
        rows = gather(columns[start:stop], weights, buffer)
        gamma[d] = alpha + own.sum() / n_topics
        left = max_rounds
        while left > 0:
            for _ in range(min(_WIDE_ROUNDS, left)):
                change = _round(rows, own, alpha, gamma[d], theta, pull, work)
                left -= 1
                if change < enough:
                    left = 0
                    break
            if left <= 1:
                continue
            count, narrow = _narrow(rows, alpha, gamma[d], chosen, narrow_buffer)
            if count == 0 or 2 * count > n_topics:
                left -= _iterate(rows, own, alpha, gamma[d], theta, pull, work, past, left, enough)
                continue
            for j in range(count):
                narrow_alpha[j], narrow_gamma[j] = alpha[chosen[j]], gamma[d, chosen[j]]
            left -= _iterate(  # one round is left for all topics
                narrow, own, narrow_alpha[:count], narrow_gamma[:count], theta[:count], pull[:count], work, past,
                left - 1, 0.5 * enough,
            )  # fmt: skip
            for j in range(count):
                gamma[d, chosen[j]] = narrow_gamma[j]


@kernel
def mean_field_statistics(
    indptr: npt.NDArray[np.int64],
    columns: npt.NDArray[np.uint32],
    counts: npt.NDArray[Any],
    weights: npt.NDArray[Any],
    alpha: Array,
    gamma: Array,
    statistics: npt.NDArray[Any],
) -> float:
    """Add what documents with these gamma say of each word to statistics (words x topics); return their local ELBOs.

    The statistics lack the factor that a word's weights are.
    """
    buffer = np.empty((most_entries(indptr), alpha.size), weights.dtype)
    theta, work = np.empty(alpha.size, weights.dtype), np.empty(alpha.size)
    bound = 0.0
    for d in range(indptr.size - 1):
        start, stop = indptr[d], indptr[d + 1]
        words, own = columns[start:stop], counts[start:stop]
        rows = gather(words, weights, buffer)
        peak = _expected_log_weights(gamma[d], theta, work)
        bound += add_shares(rows, words, own, theta, statistics) + _prior_bound(gamma[d], alpha)
        bound += own.sum() * (peak - digamma(gamma[d].sum()))
    return bound


@dataclass(frozen=True)
class MeanField(LdaStep):
    """q(theta_d) q(z_d), optimised given exp(t(beta)).

    Parameters
    ----------
    max_rounds : int
        At most this many updates of q(theta_d) a document.
    tolerance : float
        Stop when the mean absolute change of gamma_d, over topics, is below this.
    precision : {"float32", "float64"}
        The arithmetic of the inner loops.

    """

    max_rounds: int = 100
    tolerance: float = 1e-3
    precision: str = "float32"

    name = "mean_field"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_count("max_rounds", self.max_rounds)
        require_not_negative("tolerance", self.tolerance)

    def local(self, model: LDA, prepared: Prepared, start: int, stop: int, keys: Keys) -> Mapping[str, Array]:
        """Return E[theta], by coordinate ascent on each document."""
        gamma = self._ascend(model, prepared, prepared.documents.slice(start, stop))
        return {"weights": gamma / gamma.sum(axis=1, keepdims=True)}

    def run(self, model: LDA, prepared: Prepared, start: int, stop: int, keys: Keys) -> LocalResult:
        """Run coordinate ascent on each document; `local` is E[theta]."""
        shard = prepared.documents.slice(start, stop)
        gamma = self._ascend(model, prepared, shard)
        statistics = np.zeros_like(prepared.weights)
        bound = mean_field_statistics(
            shard.indptr, shard.words, shard.counts, prepared.weights, model.alpha, gamma, statistics
        )
        own = slice(shard.indptr[0], shard.indptr[-1])
        bound += float(shard.counts[own] @ prepared.log_scale[shard.words[own]])
        statistics *= prepared.weights
        learned = expected_tables(model, gamma - model.alpha)
        if model.learns_eta:
            mixtures = np.exp(digamma_array(gamma) - digamma_array(gamma.max(axis=1, keepdims=True)))
            learned |= drawn_word_tables(model, prepared, shard, mixtures, keys)
        return LocalResult(
            {"topics": statistics, **learned}, {"weights": gamma / gamma.sum(axis=1, keepdims=True)}, bound
        )

    def _ascend(self, model: LDA, prepared: Prepared, shard: Documents) -> Array:
        gamma = np.empty((len(shard), model.n_topics))
        mean_field_documents(
            shard.indptr,
            shard.words,
            shard.counts,
            prepared.weights,
            model.alpha,
            self.max_rounds,
            self.tolerance,
            gamma,
        )
        return gamma
