"""The tail of the normal distribution, and draws from it, safe however far out."""

from __future__ import annotations

import math

import numpy as np

from ssvi.numerics.compile import kernel
from ssvi.numerics.random import normal, uniform

_HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)
_FAR = 10.0  # from here on a continued fraction has all digits, and erfc would lose them
_TERMS = 30


@kernel
def tail_ratio(x: float) -> float:
    """Return phi(x) / (1 - Phi(x)), the hazard of the normal distribution (the inverse of Mills' ratio)."""
    if x < _FAR:
        return math.exp(-0.5 * x * x - _HALF_LOG_TWO_PI) / (0.5 * math.erfc(x / math.sqrt(2.0)))
    value = x
    for k in range(_TERMS, 0, -1):
        value = x + k / value
    return value


@kernel
def log_tail(x: float) -> float:
    """Return log(1 - Phi(x))."""
    if x < 0.0:
        return math.log1p(-0.5 * math.erfc(-x / math.sqrt(2.0)))
    if x < _FAR:
        return math.log(0.5 * math.erfc(x / math.sqrt(2.0)))
    return -0.5 * x * x - _HALF_LOG_TWO_PI - math.log(tail_ratio(x))


@kernel
def normal_above(low: float, state: np.uint64) -> tuple[float, np.uint64]:
    """Draw a standard normal number given that it exceeds `low`; return it and the state that follows.

    By trying until one does, or (Robert 1995) by trying exponential numbers beyond `low`: half of them or more will do.
    """
    if low < 0.4:
        while True:
            value, state = normal(state)
            if value > low:
                return value, state
    rate = 0.5 * (low + math.sqrt(low * low + 4.0))
    while True:
        first, state = uniform(state)
        second, state = uniform(state)
        value = low - math.log(first) / rate
        if -2.0 * math.log(second) > (value - rate) ** 2:
            return value, state
