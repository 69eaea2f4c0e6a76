"""Left-to-right estimation of a document's marginal probability (Wallach 2008; Wallach et al. 2009).

p(w_1, ..., w_N) is the product of p(w_n | w_1, ..., w_{n-1}). Each factor is an average over particles: every particle
resamples the topics of the tokens before n, then predicts token n, then draws its topic. The estimate of the
probability is unbiased; its cost grows with the square of a document's length.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.backends.base import Backend
from ssvi.evaluation.held_out import HeldOut
from ssvi.evaluation.tokens import Tokens, draw_topic, estimate, sequence
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys, derive_key, uniform
from ssvi.numerics.vectors import dot
from ssvi.typing import Array


@kernel
def _one_particle(tokens: Tokens, by_word: Array, alpha: Array, state: np.uint64, probability: Array) -> np.uint64:
    """Add one particle's p(w_n | w_1, ..., w_{n-1}) to each element of `probability`."""
    topics = np.empty(tokens.size, np.int64)
    tally = alpha.copy()
    mass = alpha.sum()
    for n in range(tokens.size):
        for m in range(n):
            tally[topics[m]] -= 1.0
            chance, state = uniform(state)
            topics[m] = draw_topic(by_word[tokens[m]], tally, chance)
            tally[topics[m]] += 1.0
        probability[n] += dot(tally, by_word[tokens[n]]) / (mass + n)
        chance, state = uniform(state)
        topics[n] = draw_topic(by_word[tokens[n]], tally, chance)
        tally[topics[n]] += 1.0
    return state


@kernel
def _left_to_right_documents(
    particles: int,
    indptr: npt.NDArray[np.int64],
    words: Tokens,
    counts: npt.NDArray[np.int64],
    by_word: Array,
    alpha: Array,
    keys: Keys,
    log_probability: Array,
) -> None:
    """Fill in the estimate for each document of a shard."""
    for d in range(indptr.size - 1):
        tokens = sequence(words[indptr[d] : indptr[d + 1]], counts[indptr[d] : indptr[d + 1]])
        probability = np.zeros(tokens.size)
        state = keys[d]
        for _ in range(particles):
            state = _one_particle(tokens, by_word, alpha, state, probability)
        log_probability[d] = np.log(probability / particles).sum()


def left_to_right(
    topics: Array,
    alpha: Array,
    documents: Any,
    *,
    seed: int = 0,
    particles: int = 20,
    backend: Backend | None = None,
) -> HeldOut:
    """Estimate the log probability of each whole document given the topics.

    Parameters
    ----------
    topics : (K, V)
        A point estimate of beta, such as E_q[beta]; rows sum to 1.
    alpha : (K,)
        The prior of theta.
    documents : Documents, or a documents x words matrix of counts
        What is held out from training; whole counts. An empty document has log probability 0.
    seed : int
        The figure depends on it and on each document's content, on nothing else.
    particles : int
        More of them give a less noisy estimate. The log of an unbiased estimate is too low on average, less so with
        more particles.
    backend : Backend, optional
        Where it runs.

    """
    if particles < 1:
        raise ValueError(f"particles must be 1 or more, not {particles!r}.")
    kernel_of_shard = partial(_left_to_right_documents, particles)
    return estimate(kernel_of_shard, topics, alpha, documents, derive_key(seed, "left to right"), backend)
