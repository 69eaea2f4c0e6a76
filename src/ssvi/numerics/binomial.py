"""Binomial draws, and multinomial splits of a count."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.numerics.compile import kernel
from ssvi.numerics.random import uniform

_BLOCK = 8  # weights that a search for a unit's place passes over at once
_MANY = 128  # units from which on a binomial draw for each weight takes less time than a search for each unit
_LARGE_MEAN = 10.0


@kernel
def _binomial_by_search(n: int, p: float, state: np.uint64) -> tuple[int, np.uint64]:
    """Return a Binomial(n, p) draw, for small n p: the distribution function is added up until it passes a uniform."""
    odds = p / (1.0 - p)
    term = math.exp(n * math.log1p(-p))
    level, state = uniform(state)
    k = 0
    while level > term and k < n:
        level -= term
        k += 1
        term *= odds * (n - k + 1) / k
    return k, state


@kernel
def _binomial_by_rejection(n: int, p: float, state: np.uint64) -> tuple[int, np.uint64]:
    """Return a Binomial(n, p) draw, n p >= 10, p <= 1/2: Hormann's transformed rejection with a squeeze (1993)."""
    spread = math.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    alpha = (2.83 + 5.1 / b) * spread
    log_odds, mode = math.log(p / (1.0 - p)), math.floor((n + 1) * p)
    peak = math.lgamma(mode + 1.0) + math.lgamma(n - mode + 1.0)
    while True:
        first, state = uniform(state)
        second, state = uniform(state)
        first -= 0.5
        rest = 0.5 - abs(first)
        k = math.floor((2.0 * a / rest + b) * first + n * p + 0.5)
        if k < 0 or k > n:
            continue
        if rest >= 0.07 and second <= 0.92 - 4.2 / b:
            return int(k), state
        bound = peak - math.lgamma(k + 1.0) - math.lgamma(n - k + 1.0) + (k - mode) * log_odds
        if math.log(second * alpha / (a / (rest * rest) + b)) <= bound:
            return int(k), state


@kernel
def binomial(n: int, p: float, state: np.uint64) -> tuple[int, np.uint64]:
    """Return a Binomial(n, p) draw and the state that follows; a probability that is NaN has no successes."""
    if n <= 0 or not p > 0.0:
        return 0, state
    if p >= 1.0:
        return n, state
    small = min(p, 1.0 - p)
    if n * small < _LARGE_MEAN:
        k, state = _binomial_by_search(n, small, state)
    else:
        k, state = _binomial_by_rejection(n, small, state)
    return (k if p <= 0.5 else n - k), state


@kernel
def _block_sums(weights: npt.NDArray[Any], sums: npt.NDArray[np.float64]) -> float:
    """Fill in the sums of consecutive blocks of weights; return the total."""
    total = 0.0
    for j in range(sums.size):
        block = 0.0
        for k in range(j * _BLOCK, min((j + 1) * _BLOCK, weights.size)):
            block += weights[k]
        sums[j] = block
        total += block
    return total


@kernel
def split_count(
    count: int, weights: npt.NDArray[Any], sums: npt.NDArray[np.float64], tallies: npt.NDArray[Any], state: np.uint64
) -> np.uint64:
    """Add a Multinomial(count, weights / their sum) draw to `tallies`; return the state that follows.

    `sums` is room for one number for every eight weights (`room_for`).
    """
    left = _block_sums(weights, sums)
    if count >= _MANY:
        for k in range(weights.size):
            drawn, state = binomial(count, weights[k] / left if k < weights.size - 1 else 1.0, state)
            tallies[k] += drawn
            count -= drawn
            left -= weights[k]
            if count == 0:
                break
        return state
    for _ in range(count):
        chance, state = uniform(state)
        level = chance * left
        j = 0
        while j < sums.size - 1 and level >= sums[j]:
            level -= sums[j]
            j += 1
        k, last = j * _BLOCK, min((j + 1) * _BLOCK, weights.size) - 1
        while k < last and level >= weights[k]:
            level -= weights[k]
            k += 1
        tallies[k] += 1
    return state


@kernel
def room_for(size: int) -> npt.NDArray[np.float64]:
    """Return room for the block sums of so many weights."""
    return np.empty((size + _BLOCK - 1) // _BLOCK)
