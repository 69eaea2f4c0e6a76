"""Chib-style estimation of a document's marginal probability (Murray and Salakhutdinov 2009; Wallach et al. 2009).

p(w) = p(w, z*) / p(z* | w) for any assignment z*. The denominator is the probability that a Markov chain in its
stationary distribution moves to z* in one sweep. Let T be the sweep in one order of the tokens and T~ that in the
other. A place among S states is drawn at random, the state there by T~ from z*, the states after it by T and those
before it by T~. With the mean of T(z* <- z) over these S states, p(w, z*) / mean is an unbiased estimate of p(w).
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
from ssvi.evaluation.tokens import Tokens, Topics, draw_topic, estimate, sequence, sweep
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys, derive_key, uniform
from ssvi.numerics.special import log_gamma
from ssvi.numerics.vectors import dot
from ssvi.typing import Array

_BURN_IN = 50  # sweeps before z* is looked for
_CLIMBS = 20  # sweeps of steepest ascent towards z*, at the most


@kernel
def _climb(tokens: Tokens, by_word: Array, topics: Topics, tally: Array) -> bool:
    """Set each token's topic to its most probable one given all others; tell whether any changed."""
    changed = False
    for n in range(tokens.size):
        old = topics[n]
        tally[old] -= 1.0
        best = np.argmax(tally * by_word[tokens[n]])
        changed |= best != old
        topics[n] = best
        tally[best] += 1.0
    return changed


@kernel
def _log_transition(tokens: Tokens, by_word: Array, start: Topics, goal: Topics, tally: Array) -> float:
    """Return log T(goal <- start): the sweep in forward order that puts `goal` in the place of `start`.

    `tally` belongs to `start`; it is moved to `goal` and back.
    """
    total = 0.0
    for n in range(tokens.size):
        tally[start[n]] -= 1.0
        row = by_word[tokens[n]]
        total += math.log(tally[goal[n]] * row[goal[n]] / dot(tally, row))
        tally[goal[n]] += 1.0
    for n in range(tokens.size):
        tally[goal[n]] -= 1.0
        tally[start[n]] += 1.0
    return total


@kernel
def _log_joint(tokens: Tokens, by_word: Array, alpha: Array, topics: Topics, tally: Array) -> float:
    """Return log p(w, z | beta) with theta integrated out."""
    total = log_gamma(alpha.sum()) - log_gamma(alpha.sum() + tokens.size)
    for k in range(alpha.size):
        total += log_gamma(tally[k]) - log_gamma(alpha[k])
    for n in range(tokens.size):
        total += math.log(by_word[tokens[n], topics[n]])
    return total


@kernel
def _find_mode(tokens: Tokens, by_word: Array, topics: Topics, tally: Array, state: np.uint64) -> np.uint64:
    """Bring topics to an assignment z* of high probability: sample, then climb."""
    for n in range(tokens.size):
        chance, state = uniform(state)
        topics[n] = draw_topic(by_word[tokens[n]], tally, chance)
        tally[topics[n]] += 1.0
    for _ in range(_BURN_IN):
        state = sweep(tokens, by_word, topics, tally, False, state)
    for _ in range(_CLIMBS):
        if not _climb(tokens, by_word, topics, tally):
            break
    return state


@kernel
def _one_document(tokens: Tokens, by_word: Array, alpha: Array, samples: int, state: np.uint64) -> float:
    """Return the estimate of log p(w)."""
    goal, goal_tally = np.empty(tokens.size, np.int64), alpha.copy()
    state = _find_mode(tokens, by_word, goal, goal_tally, state)
    chance, state = uniform(state)
    place = int(chance * samples)
    middle, middle_tally = goal.copy(), goal_tally.copy()
    state = sweep(tokens, by_word, middle, middle_tally, True, state)
    logs = np.empty(samples)
    for backwards, first, last, step in ((False, place, samples, 1), (True, place - 1, -1, -1)):
        topics, tally = middle.copy(), middle_tally.copy()
        for s in range(first, last, step):
            if s != place:
                state = sweep(tokens, by_word, topics, tally, backwards, state)
            logs[s] = _log_transition(tokens, by_word, topics, goal, tally)
    largest = logs.max()
    log_mean = largest + math.log(np.exp(logs - largest).mean())
    return float(_log_joint(tokens, by_word, alpha, goal, goal_tally) - log_mean)


@kernel
def _chib_documents(
    samples: int,
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
        log_probability[d] = _one_document(tokens, by_word, alpha, samples, keys[d]) if tokens.size else 0.0


def chib_style(
    topics: Array,
    alpha: Array,
    documents: Any,
    *,
    seed: int = 0,
    samples: int = 200,
    backend: Backend | None = None,
) -> HeldOut:
    """Estimate the log probability of each whole document given the topics: the paper's own evaluator.

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
    samples : int
        S, the states of the chain. More of them give a less noisy estimate. The log of an unbiased estimate is too low
        on average, less so with more samples.
    backend : Backend, optional
        Where it runs.

    """
    require_count("samples", samples)
    kernel_of_shard = partial(_chib_documents, samples)
    return estimate(kernel_of_shard, topics, alpha, documents, derive_key(seed, "chib"), backend)
