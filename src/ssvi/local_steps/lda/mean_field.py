"""Mean-field local step of LDA: q(theta) prod q(z), each document by coordinate ascent (Blei et al. 2003)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.local_steps.base import LocalResult
from ssvi.local_steps.lda.common import LdaStep, Prepared
from ssvi.local_steps.splits import add_shares, gather, most_entries, pull_towards
from ssvi.models.lda import LDA
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys
from ssvi.numerics.special import digamma, log_gamma
from ssvi.typing import Array

_NEGLIGIBLE = 1e-15  # a topic this much rarer than the document's first one counts as absent (and makes no subnormals)


@kernel
def _expected_log_weights(gamma: Array, theta: npt.NDArray[Any]) -> float:
    """Fill theta with exp(psi(gamma_k) - largest) and return the largest psi(gamma_k)."""
    largest = digamma(gamma.max())
    for k in range(gamma.size):
        value = math.exp(digamma(gamma[k]) - largest)
        theta[k] = value if value > _NEGLIGIBLE else 0.0
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
def mean_field_documents(
    indptr: npt.NDArray[np.int64],
    columns: npt.NDArray[np.uint32],
    counts: npt.NDArray[Any],
    weights: npt.NDArray[Any],
    alpha: Array,
    max_rounds: int,
    tolerance: float,
    statistics: npt.NDArray[Any],
    gamma: Array,
) -> float:
    """Handle each document of a shard; fill statistics (words x topics) and gamma (documents x topics).

    The statistics lack the factor that a word's weights are. Returns the sum of the local ELBOs.
    """
    n_topics = alpha.size
    buffer = np.empty((most_entries(indptr), n_topics), weights.dtype)
    theta = np.empty(n_topics, weights.dtype)
    pull = np.empty(n_topics, weights.dtype)
    bound = 0.0
    for d in range(indptr.size - 1):
        start, stop = indptr[d], indptr[d + 1]
        words, own = columns[start:stop], counts[start:stop]
        rows = gather(words, weights, buffer)
        gamma[d] = alpha + own.sum() / n_topics
        for _ in range(max_rounds):
            _expected_log_weights(gamma[d], theta)
            pull_towards(rows, own, theta, pull)
            change = 0.0
            for k in range(n_topics):
                updated = alpha[k] + theta[k] * pull[k]
                change += abs(updated - gamma[d, k])
                gamma[d, k] = updated
            if change < tolerance * n_topics:
                break
        peak = _expected_log_weights(gamma[d], theta)
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

    def run(self, model: LDA, prepared: Prepared, start: int, stop: int, keys: Keys) -> LocalResult:
        """Run coordinate ascent on each document; `local` is E[theta]."""
        shard = prepared.documents.slice(start, stop)
        statistics = np.zeros_like(prepared.weights)
        gamma = np.empty((stop - start, model.n_topics))
        bound = mean_field_documents(
            shard.indptr,
            shard.words,
            shard.counts,
            prepared.weights,
            model.alpha,
            self.max_rounds,
            self.tolerance,
            statistics,
            gamma,
        )
        own = slice(shard.indptr[0], shard.indptr[-1])
        bound += float(shard.counts[own] @ prepared.log_scale[shard.words[own]])
        statistics *= prepared.weights
        return LocalResult({"topics": statistics}, gamma / gamma.sum(axis=1, keepdims=True), bound)
