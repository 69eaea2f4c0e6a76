"""Polya-Gamma draws of any number of trials by the series of gamma variables that they are; see `polya_gamma`.

omega ~ PG(b, c) is a sum of gamma variables without end,

    omega = 1 / (2 pi^2) sum_k g_k / d_k,    d_k = (k - 1/2)^2 + (c / 2 pi)^2,    g_k ~ Gamma(b, 1).

The first terms are drawn one by one. What remains is a sum of many small ones: one shifted gamma variable with the same
mean, variance and third cumulant takes their place. Laplace transforms of the two differ by less than 2e-5 (the tests
compute it), which no fit could see; and a draw costs the same for every b, whole or not.
"""

from __future__ import annotations

import math

import numpy as np

from ssvi.numerics.compile import kernel
from ssvi.numerics.gamma_variates import log_gamma_variate
from ssvi.numerics.random import Keys
from ssvi.typing import Array

TERMS = 6
"""How many terms are drawn one by one."""

_SQUARE = math.pi**2
_SMALL = 0.25  # below this s the series is exact to rounding


@kernel
def log_cosh_slopes(s: float) -> tuple[float, float, float]:
    """Return the first three derivatives of log cosh(sqrt(s)) with respect to s, for s of 0 or more."""
    if s < _SMALL:
        # tanh(y) / y = 1 - s/3 + 2 s^2/15 - ..., half of which is the first derivative; the others follow.
        first, second, third = 0.0, 0.0, 0.0
        for n in range(_SERIES.size - 1, -1, -1):
            third = third * s + 2.0 * second
            second = second * s + first
            first = first * s + _SERIES[n]
        return 0.5 * first, 0.5 * second, 0.5 * third
    y = math.sqrt(s)
    t = math.tanh(y)
    slope = (1.0 - t) * (1.0 + t)
    first = t / (2.0 * y)
    second = (slope * y - t) / (4.0 * y**3)
    third = (3.0 * t - 3.0 * slope * y - 2.0 * t * slope * y * y) / (8.0 * y**5)
    return first, second, third


def _tanh_series(terms: int) -> Array:
    """Return the coefficients of tanh(sqrt(s)) / sqrt(s) in powers of s, from t' = 1 - t^2."""
    coefficients = np.zeros(terms)
    coefficients[0] = 1.0
    for n in range(1, terms):
        coefficients[n] = -(coefficients[:n] * coefficients[:n][::-1]).sum() / (2 * n + 1)
    return coefficients


_SERIES = _tanh_series(28)


@kernel
def remainder(c: float) -> tuple[float, float, float]:
    """Return what takes the place of the terms not drawn, for b = 1: a shift, a gamma variable's shape and its scale.

    Shift and shape are proportional to b. All is in units of 1 / (2 pi^2).
    """
    first, second, third = log_cosh_slopes(0.25 * c * c)
    ones, squares, cubes = _SQUARE * first, -(_SQUARE**2) * second, 0.5 * _SQUARE**3 * third
    tilt = c * c / (4.0 * _SQUARE)
    for k in range(TERMS):
        term = 1.0 / ((k + 0.5) ** 2 + tilt)
        ones -= term
        squares -= term * term
        cubes -= term * term * term
    scale = cubes / squares
    shape = squares / (scale * scale)
    return ones - shape * scale, shape, scale


@kernel
def polya_gamma_of_many(b: float, c: float, state: np.uint64) -> tuple[float, np.uint64]:
    """Return a draw from PG(b, c), b of 0 or more, and the state of the random stream that follows."""
    if b <= 0.0:
        return 0.0, state
    shift, shape, scale = remainder(c)
    log_gamma, state = log_gamma_variate(b * shape, state)
    total = b * shift + scale * math.exp(log_gamma)
    tilt = c * c / (4.0 * _SQUARE)
    for k in range(TERMS):
        log_gamma, state = log_gamma_variate(b, state)
        total += math.exp(log_gamma) / ((k + 0.5) ** 2 + tilt)
    return total / (2.0 * _SQUARE), state


@kernel
def polya_gamma_rows(b: Array, c: Array, keys: Keys, out: Array) -> None:
    """Fill `out` with draws from PG(b_i, c_i), row i from the stream `keys[i]`."""
    for row in range(out.shape[0]):
        state = keys[row]
        for column in range(out.shape[1]):
            out[row, column], state = polya_gamma_of_many(b[row, column], c[row, column], state)
