"""Poisson draws."""

from __future__ import annotations

import math

import numpy as np

from ssvi.numerics.compile import kernel
from ssvi.numerics.random import uniform

_LARGE_MEAN = 10.0
_WITHOUT_SPREAD = 1e15  # the spread is below one part in 10^7, and whole numbers are running out


@kernel
def _by_search(mean: float, state: np.uint64) -> tuple[float, np.uint64]:
    """Return a draw of small mean: the distribution function is added up until it passes a uniform."""
    level, state = uniform(state)
    term, k = math.exp(-mean), 0.0
    while level > term and k < 1e3:
        level -= term
        k += 1.0
        term *= mean / k
    return k, state


@kernel
def _by_rejection(mean: float, state: np.uint64) -> tuple[float, np.uint64]:
    """Return a draw of mean 10 or more: Hormann's transformed rejection with a squeeze (1993)."""
    b = 0.931 + 2.53 * math.sqrt(mean)
    a = -0.059 + 0.02483 * b
    inverse_alpha = 1.1239 + 1.1328 / (b - 3.4)
    while True:
        first, state = uniform(state)
        second, state = uniform(state)
        first -= 0.5
        rest = 0.5 - abs(first)
        k = math.floor((2.0 * a / rest + b) * first + mean + 0.43)
        if rest >= 0.07 and second <= 0.9277 - 3.6224 / (b - 2.0):
            return float(k), state
        if k < 0 or (rest < 0.013 and second > rest):
            continue
        height = math.log(second * inverse_alpha / (a / (rest * rest) + b))
        if height <= k * math.log(mean) - mean - math.lgamma(k + 1.0):
            return float(k), state


@kernel
def poisson(mean: float, state: np.uint64) -> tuple[float, np.uint64]:
    """Return a Poisson draw of this mean, as a float, and the state that follows; NaN has no events."""
    if not mean > 0.0:
        return 0.0, state
    if mean > _WITHOUT_SPREAD:
        return mean, state
    return _by_search(mean, state) if mean < _LARGE_MEAN else _by_rejection(mean, state)
