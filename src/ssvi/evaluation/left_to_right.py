"""Left-to-right estimation of a document's marginal probability (Wallach 2008; Wallach et al. 2009; Buntine 2009).

p(w_1, ..., w_N) is the product of p(w_n | w_1, ..., w_{n-1}). Each factor is an average over particles: every particle
redraws the topics of the tokens before n, then predicts token n. The particles are then resampled in proportion to what
they predicted, and each draws the topic of token n.

Without resampling, particles would stand for the tokens before n alone, and the product of their averages would be
biased and stay so with any number of particles. Resampled at every token they are a particle filter, whose estimate of
the probability is unbiased with any number of particles and converges as they grow (Del Moral 2004). The mean over
particles of their own products is unbiased too, but a few particles come to hold all of it: it is the noisier.

The cost grows with the square of a document's length.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.backends.base import Backend
from ssvi.checks import require_count
from ssvi.evaluation.held_out import HeldOut
from ssvi.evaluation.tokens import Tokens, draw_topic, estimate, sequence, sweep
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys, derive_key, uniform
from ssvi.numerics.vectors import dot
from ssvi.typing import Array


@kernel
def _resampled(weights: Array, chance: float) -> npt.NDArray[np.int64]:
    """Return as many numbers of particles as there are, each as often as its weight says, up or down to a whole number.

    One draw serves all (systematic resampling): equal weights leave every particle as it is.
    """
    chosen, last = np.empty(weights.size, np.int64), weights.size - 1
    share, covered, i = weights.sum() / weights.size, weights[0], 0
    for place in range(weights.size):
        while covered < (place + chance) * share and i < last:
            i += 1
            covered += weights[i]
        chosen[place] = i
    return chosen


@kernel
def _one_document(tokens: Tokens, by_word: Array, alpha: Array, particles: int, state: np.uint64) -> float:
    """Return the estimate of log p(w)."""
    topics, tallies = np.empty((particles, tokens.size), np.int64), np.empty((particles, alpha.size))
    tallies[:] = alpha
    predicted, mass, total = np.empty(particles), alpha.sum(), 0.0
    for n in range(tokens.size):
        row = by_word[tokens[n]]
        for i in range(particles):
            state = sweep(tokens[:n], by_word, topics[i], tallies[i], False, state)
            predicted[i] = dot(tallies[i], row) / (mass + n)
        total += math.log(predicted.mean())
        chance, state = uniform(state)
        chosen = _resampled(predicted, chance)
        topics[:, :n], tallies[:] = topics[chosen, :n], tallies[chosen]
        for i in range(particles):
            chance, state = uniform(state)
            topics[i, n] = draw_topic(row, tallies[i], chance)
            tallies[i, topics[i, n]] += 1.0
    return total


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
        log_probability[d] = _one_document(tokens, by_word, alpha, particles, keys[d])


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
        The estimate of the probability is unbiased with any number of them, and less noisy with more. Its log is too
        low on average, less so with more particles.
    backend : Backend, optional
        Where it runs.

    """
    require_count("particles", particles)
    kernel_of_shard = partial(_left_to_right_documents, particles)
    return estimate(kernel_of_shard, topics, alpha, documents, derive_key(seed, "left to right"), backend)
