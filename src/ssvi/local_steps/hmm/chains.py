"""The recursions of a hidden Markov chain: filtering, smoothing, drawing a path, and the most probable path.

A time point's scores are shifted by their largest, and what is kept of each step is a distribution: nothing underflows,
however long a chain is. Transitions may be those of a view whose rows do not add up to 1 (`exp(E[log p])`); nothing
here takes them for probabilities. None of them is 0 (`ssvi.local_steps.hmm.views`), so that every state is reached at
every step, and what a distribution loses below the smallest number is less than what the next transition brings back.

Backwards, shares of states are made of those one step later, gamma_t = alpha_t (A (gamma_t+1 / predicted_t+1)), and not
of products of their own, which could overflow. Expected transitions are sums of outer products, times A in the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.numerics.compile import fused_kernel, kernel, widest_vectors
from ssvi.numerics.products import add_products
from ssvi.numerics.random import Keys, uniform
from ssvi.numerics.vectors import dot, total, total_distance
from ssvi.typing import Array

Places = npt.NDArray[np.int64]


@fused_kernel
def advance(vector: Array, matrix: Array, out: Array) -> None:
    """Set out = vector matrix, four rows at a time."""
    size = out.size
    whole = vector.size - vector.size % 4
    for k in range(size):
        out[k] = 0.0
    for j in range(0, whole, 4):
        a, b, c, d = vector[j], vector[j + 1], vector[j + 2], vector[j + 3]
        first, second, third, fourth = matrix[j], matrix[j + 1], matrix[j + 2], matrix[j + 3]
        for k in range(size):
            out[k] += (a * first[k] + b * second[k]) + (c * third[k] + d * fourth[k])
    for j in range(whole, vector.size):
        a, first = vector[j], matrix[j]
        for k in range(size):
            out[k] += a * first[k]


@kernel
def fill(row: Array, value: float) -> None:
    """Set all of a row (loops like this one compile much faster than slices)."""
    for k in range(row.size):
        row[k] = value


@kernel
def copy(row: Array, out: Array) -> None:
    """Copy a row."""
    for k in range(row.size):
        out[k] = row[k]


@kernel
def condition(predicted: Array, emitted: Array) -> float:
    """Turn what a state emits into its share given that, in place; return by how much the observation was expected."""
    expected: float = dot(predicted, emitted)
    scale = 1.0 / expected
    for k in range(emitted.size):
        emitted[k] *= predicted[k] * scale
    return expected


@kernel
def filter_chain(emitted: Array, predicted: Array, totals: Array, transitions: Array, begin: int, end: int) -> None:
    """Turn emissions into filtered shares of states, in place; predicted[begin] is there already."""
    for t in range(begin, end):
        if t > begin:
            advance(emitted[t - 1], transitions, predicted[t])
        totals[t] = condition(predicted[t], emitted[t])


@kernel
def glimpse(emitted: Array, transitions: Array, begin: int, end: int, out: Array, room: Array) -> None:
    """Fill `out` with the filtered shares at end - 1, as they are if nothing is known before `begin`."""
    scale = 1.0 / total(emitted[begin])
    for k in range(out.size):
        out[k] = emitted[begin, k] * scale
    for t in range(begin + 1, end):
        advance(out, transitions, room)
        for k in range(out.size):
            out[k] = emitted[t, k]
        condition(room, out)


@kernel
def look_back(emitted: Array, transposed: Array, begin: int, end: int, out: Array, room: Array) -> None:
    """Fill `out` with how probable emissions begin, ..., end - 1 are given each state before, but for a factor."""
    fill(out, 1.0)
    for step in range(end - begin):
        t = end - 1 - step
        for k in range(out.size):
            room[k] = out[k] * emitted[t, k]
        advance(room, transposed, out)
        scale = 1.0 / total(out)
        for k in range(out.size):
            out[k] *= scale


@kernel
def meet(share: Array, message: Array, out: Array) -> None:
    """Fill `out` with shares times a message, made to add up to 1."""
    scale = 1.0 / dot(share, message)
    for k in range(out.size):
        out[k] = share[k] * message[k] * scale


@kernel
def open_window(
    emitted: Array, predicted: Array, totals: Array, start: Array, transitions: Array, transposed: Array, place: Places,
    ends: Any, ahead: Array, room: Array,
) -> float:  # fmt: skip
    """Filter up to the end of a window's core and look back at what follows it (`ahead`).

    Returns how much shares of states at the edges of the core change if the window is half as long on either side: the
    largest sum of absolute differences.
    """
    begin, first, last, end = place[0], place[1], place[2], place[3]
    half, change = np.empty(start.size), 0.0
    if ends[0]:
        copy(start, predicted[begin])
    else:
        glimpse(emitted, transitions, begin + (first - begin) // 2, first, half, room)
        fill(predicted[begin], 1.0 / start.size)
    filter_chain(emitted, predicted, totals, transitions, begin, last)
    if not ends[0]:
        change = total_distance(half, emitted[first - 1])
    fill(ahead, 1.0)
    if last < end:
        other = np.empty(start.size)
        look_back(emitted, transposed, last, last + (end - last) // 2, half, room)
        meet(emitted[last - 1], half, other)
        look_back(emitted, transposed, last, end, ahead, room)
        meet(emitted[last - 1], ahead, half)
        if not ends[1]:
            change = max(change, total_distance(half, other))
    return change


@kernel
def close_window(
    filtered: Array, predicted: Array, transposed: Array, first: int, last: int, opens: bool, ahead: Array,
    firsts: Array, counts: Array,
) -> None:  # fmt: skip
    """Replace predicted shares of a core by smoothed ones; add up first states, and outer products in `counts`."""
    size = ahead.size
    share, room = np.empty(size), np.empty(size)
    lefts, rights, waiting = np.empty((4, size)), np.empty((4, size)), 0
    meet(filtered[last - 1], ahead, share)
    lowest = first + 1 if opens else first
    for step in range(last - first):
        t = last - 1 - step
        if t >= lowest:
            for k in range(size):
                rights[waiting, k] = share[k] / predicted[t, k]
                lefts[waiting, k] = filtered[t - 1, k]
            advance(rights[waiting], transposed, room)
            waiting += 1
            if waiting == 4:
                add_products(lefts, rights, 4, counts)
                waiting = 0
        copy(share, predicted[t])
        if t > first:
            meet(filtered[t - 1], room, share)
    add_products(lefts, rights, waiting, counts)
    if opens:
        for k in range(size):
            firsts[k] += predicted[first, k]


@kernel
def choose(weights: Array, level: float) -> int:
    """Return the first place up to which weights add up to a share `level` of all."""
    level *= total(weights)
    chosen = 0
    for k in range(weights.size):
        if weights[k] > 0.0:
            chosen = k
            level -= weights[k]
            if level < 0.0:
                break
    return chosen


@kernel
def draw_path(
    filtered: Array, shares: Array, transposed: Array, first: int, last: int, opens: bool, ahead: Array,
    state: np.uint64, firsts: Array, counts: Array,
) -> None:  # fmt: skip
    """Draw the states of a core, backwards; set shares to ones and zeros, and count first states and transitions."""
    room = np.empty(ahead.size)
    meet(filtered[last - 1], ahead, room)
    later = -1
    lowest = first if opens else first - 1  # a core that goes on counts the transition into it
    for step in range(last - lowest):
        t = last - 1 - step
        level, state = uniform(state)
        own = choose(room, level)
        if later >= 0:
            counts[own, later] += 1.0
        if t >= first:
            fill(shares[t], 0.0)
            shares[t, own] = 1.0
        if t == first and opens:
            firsts[own] += 1.0
        if t > lowest:
            for k in range(room.size):
                room[k] = filtered[t - 1, k] * transposed[own, k]
        later = own


@kernel
def smooth_windows(
    emitted: Array, shares: Array, totals: Array, start: Array, transitions: Array, transposed: Array, places: Places,
    ends: Any, keys: Keys, sampled: bool, tolerance: float, firsts: Array, counts: Array, settled: Any,
) -> None:  # fmt: skip
    """Fill `shares` with what states have of each time point of a core, expected or drawn, and add up transitions.

    Windows whose edges change the core by more than `tolerance` are left out, and not `settled`. Time points outside of
    cores have no shares.
    """
    widest_vectors()
    ahead, room = np.empty(start.size), np.empty(start.size)
    for n in range(places.shape[0]):
        begin, first, last, end = places[n, 0], places[n, 1], places[n, 2], places[n, 3]
        settled[n] = True
        if first < last:
            change = open_window(
                emitted, shares, totals, start, transitions, transposed, places[n], ends[n], ahead, room
            )
            settled[n] = change <= tolerance
            if settled[n] and sampled:
                draw_path(
                    emitted,
                    shares,
                    transposed,
                    first,
                    last,
                    ends[n, 0] and first == begin,
                    ahead,
                    keys[n],
                    firsts,
                    counts,
                )
            elif settled[n]:
                close_window(
                    emitted, shares, transposed, first, last, ends[n, 0] and first == begin, ahead, firsts, counts
                )
        if not settled[n] or first >= last:
            first, last = end, end
        for t in range(begin, end):
            if t < first or t >= last:
                fill(shares[t], 0.0)
                totals[t] = 1.0


@kernel
def best_path(scores: Array, log_start: Array, log_transitions: Array, path: Any) -> float:
    """Fill in the most probable states of a whole sequence (Viterbi); return their log probability."""
    length, size = scores.shape
    back = np.empty((length, size), np.int32)
    best, room = log_start + scores[0], np.empty(size)
    for t in range(1, length):
        origin = back[t]
        for k in range(size):
            room[k] = best[0] + log_transitions[0, k]
            origin[k] = 0
        for j in range(1, size):
            value, row = best[j], log_transitions[j]
            for k in range(size):
                candidate = value + row[k]
                if candidate > room[k]:
                    room[k] = candidate
                    origin[k] = j
        for k in range(size):
            best[k] = room[k] + scores[t, k]
    state = int(np.argmax(best))
    result = best[state]
    for step in range(length):
        t = length - 1 - step
        path[t] = state
        if t > 0:
            state = back[t, state]
    return float(result)
