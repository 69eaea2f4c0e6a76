"""The Gibbs kernel for many topics: a token costs its document's number of topics, not K.

p(z = k | other z, w) is proportional to (n_dk + alpha_k) beta_kw. It splits into n_dk beta_kw, over the few topics
that the document uses, and alpha_k beta_kw, which does not change during a minibatch: a table of running sums for
each word serves every draw from it, by bisection.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.local_steps.lda.tokens import document_lengths, expand, record
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys, next_bits
from ssvi.typing import Array


@kernel
def prior_table(weights: npt.NDArray[Any], alpha: Array) -> npt.NDArray[Any]:
    """Return, for each word, the running sums over k of alpha_k beta_kw."""
    table = np.empty((weights.shape[0], alpha.size), weights.dtype)
    for word in range(weights.shape[0]):
        total = 0.0
        for k in range(alpha.size):
            total += alpha[k] * weights[word, k]
            table[word, k] = total
    return table


# Indices here are unsigned: for signed ones numba adds a test for negative values to every access, and the kernel
# takes a third longer.
_ONE, _TWO, _THREE = np.uint64(1), np.uint64(2), np.uint64(3)
_LANES = 2  # documents sampled side by side
_SHIFT = np.uint64(40)  # leaves 24 random bits, as many as a single-precision number holds


@kernel
def _from_prior(table: npt.NDArray[Any], word: np.uint32, level: float) -> np.uint64:
    """Return the first topic whose running sum exceeds `level`, or the last one."""
    low, size = np.uint64(0), np.uint64(table.shape[1])
    while size > _ONE:
        half = size >> _ONE
        if table[word, low + half - _ONE] <= level:
            low += half
        size -= half
    return low


@kernel
def _advance(
    words: npt.NDArray[np.uint32],
    weights: npt.NDArray[Any],
    table: npt.NDArray[Any],
    old_topics: npt.NDArray[np.uint32],
    new_topics: npt.NDArray[np.uint32],
    tally: npt.NDArray[Any],
    slots: npt.NDArray[np.uint32],
    place: npt.NDArray[np.uint32],
    before: npt.NDArray[Any],
    n_active: npt.NDArray[np.uint64],
    states: Keys,
    first: bool,
    start: int,
    stop: int,
    lanes: int,
) -> None:
    """Draw the topics of tokens start, ..., stop - 1 of several documents, a lane each, given all others of theirs.

    A document's topics stand in its first `n_active` slots, in any order, with their tallies; `place` tells where. The
    empty topic K fills the other slots, and is the place of topics that have none. Three things keep the processor
    busy: slots are read in groups of four, which shortens the chain of additions that each wait for the last; the
    group and the topic inside it are found by counting, since no processor foresees which way a random draw goes; and
    while one document's draw waits for its predecessor, the other's goes on. (All is written out in one function: a
    call with this many arrays costs as much as a draw.)
    """
    n_topics = np.uint64(table.shape[1])
    one, unit = before.dtype.type(1), before.dtype.type(2.0**-24)
    for token in range(np.uint64(start), np.uint64(stop)):
        for lane in range(np.uint64(lanes)):
            word, active = words[lane, token], n_active[lane]
            if not first:
                old = old_topics[lane, token]
                at = place[lane, old]
                tally[lane, at] -= one
                if tally[lane, at] == 0:
                    active -= _ONE
                    last = slots[lane, active]
                    slots[lane, at], tally[lane, at], place[lane, last] = last, tally[lane, active], at
                    slots[lane, active], tally[lane, active], place[lane, old] = n_topics, 0, n_topics
            total = before.dtype.type(0)
            groups = (active + _THREE) >> _TWO
            for g in range(groups):
                before[lane, g] = total
                j = g << _TWO
                a = tally[lane, j] * weights[word, slots[lane, j]]
                b = tally[lane, j + _ONE] * weights[word, slots[lane, j + _ONE]]
                c = tally[lane, j + _TWO] * weights[word, slots[lane, j + _TWO]]
                d = tally[lane, j + _THREE] * weights[word, slots[lane, j + _THREE]]
                total += (a + b) + (c + d)
            bits, states[lane] = next_bits(states[lane])
            level = before.dtype.type(np.int64(bits >> _SHIFT)) * unit * (total + weights[word, n_topics + _ONE])
            if level < total:
                hit = np.uint64(0)
                for g in range(_ONE, groups):
                    hit += np.uint64(before[lane, g] <= level)
                level -= before[lane, hit]
                j = hit << _TWO
                a = tally[lane, j] * weights[word, slots[lane, j]]
                b = a + tally[lane, j + _ONE] * weights[word, slots[lane, j + _ONE]]
                c = b + tally[lane, j + _TWO] * weights[word, slots[lane, j + _TWO]]
                where = j + np.uint64(level >= a) + np.uint64(level >= b) + np.uint64(level >= c)
                where = min(where, active - _ONE)  # rounding may point past the last topic
                topic = np.uint64(slots[lane, where])
            else:
                topic = _from_prior(table, word, level - total)
                where = np.uint64(place[lane, topic])
                if where == n_topics:
                    where = active
                    slots[lane, where], place[lane, topic] = topic, where
                    active += _ONE
            tally[lane, where] += one
            new_topics[lane, token] = topic
            n_active[lane] = active


@kernel
def gibbs_sparse(
    indptr: npt.NDArray[np.int64],
    columns: npt.NDArray[np.uint32],
    counts: npt.NDArray[np.int32],
    weights: npt.NDArray[Any],
    table: npt.NDArray[Any],
    sweeps: int,
    kept: int,
    keys: Keys,
    statistics: npt.NDArray[Any],
    tallies: npt.NDArray[np.float64],
) -> None:
    """Sample each document of a shard from a fresh start.

    Fills statistics (words x topics) and tallies (documents x topics) with counts summed over the last `kept` of
    `sweeps` sweeps. The first sweep draws each token given those before it. `weights` has two more columns than there
    are topics: 0 for the empty topic, and the last running sum of `table`.
    """
    n_topics, n_documents = table.shape[1], indptr.size - 1
    lengths = document_lengths(indptr, counts)
    order = np.argsort(-lengths, kind="mergesort")  # documents side by side are about equally long
    longest = lengths.max() if n_documents else 0
    words = np.empty((_LANES, longest), np.uint32)
    topics = np.empty((kept + 1, _LANES, longest), np.uint32)
    tally = np.zeros((_LANES, n_topics + 4), weights.dtype)
    slots = np.full((_LANES, n_topics + 4), n_topics, np.uint32)
    place = np.full((_LANES, n_topics + 1), n_topics, np.uint32)
    before = np.empty((_LANES, n_topics // 4 + 2), weights.dtype)
    n_active, states = np.zeros(_LANES, np.uint64), np.zeros(_LANES, np.uint64)
    for begin in range(0, n_documents, _LANES):
        own = order[begin : begin + _LANES]
        for lane in range(own.size):
            start, stop = indptr[own[lane]], indptr[own[lane] + 1]
            expand(columns[start:stop], counts[start:stop], words[lane])
            states[lane] = keys[own[lane]]
        n_active[:], tally[:], slots[:], place[:] = 0, 0, n_topics, n_topics
        for sweep in range(sweeps):
            old, new = topics[(sweep - 1) % (kept + 1)], topics[sweep % (kept + 1)]
            done = 0
            for lanes in range(own.size, 0, -1):  # the shortest document ends first
                end = lengths[own[lanes - 1]]
                _advance(
                    words, weights, table, old, new, tally, slots, place, before, n_active, states,
                    sweep == 0, done, end, lanes,
                )  # fmt: skip
                done = end
            if sweep >= sweeps - kept:
                for lane in range(own.size):
                    for j in range(n_active[lane]):
                        tallies[own[lane], slots[lane, j]] += tally[lane, j]
        for lane in range(own.size):
            record(words[lane], lengths[own[lane]], topics[:, lane], sweeps, kept, statistics)
