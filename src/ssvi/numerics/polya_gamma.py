"""Polya-Gamma variables, which make logistic likelihoods Gaussian (Polson, Scott and Windle 2013).

omega ~ PG(n, c) is the sum of n independent PG(1, c), E[omega] = n tanh(c / 2) / (2 c), and

    exp(eta)^y / (1 + exp(eta))^n  is proportional to  exp((y - n / 2) eta) E[exp(-omega eta^2 / 2)], omega ~ PG(n, 0).

PG(1, c) is a quarter of a Jacobi variable tilted by z = |c| / 2, drawn exactly by Devroye's alternating series.
"""

from __future__ import annotations

import math

import numpy as np

from ssvi.numerics.compile import kernel
from ssvi.numerics.normal_tail import log_tail
from ssvi.numerics.polya_gamma_series import polya_gamma_of_many
from ssvi.numerics.random import normal, uniform

_CUT = 0.64  # where the series for small x hands over to that for large x
_LOG_HALF_PI = math.log(0.5 * math.pi)
_MOST_DRAWN = 8  # trials that are drawn one by one; for more, the series is quicker


@kernel
def _term(n: int, x: float) -> float:
    """Return the n-th coefficient of the alternating series of the Jacobi density at x."""
    k = n + 0.5
    if x > _CUT:
        return math.pi * k * math.exp(-0.5 * k * k * math.pi * math.pi * x)
    return math.exp(-1.5 * (_LOG_HALF_PI + math.log(x)) - 2.0 * k * k / x) * math.pi * k


@kernel
def _share_above(z: float) -> float:
    """Return the probability that a proposal lies above the cut."""
    rate, root = math.pi * math.pi / 8.0 + 0.5 * z * z, math.sqrt(1.0 / _CUT)
    log_above = _LOG_HALF_PI - math.log(rate) - rate * _CUT
    first = log_tail(-root * (_CUT * z - 1.0)) - z
    second = log_tail(root * (_CUT * z + 1.0)) + z
    return 1.0 / (1.0 + 2.0 * (math.exp(first - log_above) + math.exp(second - log_above)))


@kernel
def _inverse_gaussian_below(z: float, state: np.uint64) -> tuple[float, np.uint64]:
    """Draw from the inverse Gaussian distribution of mean 1 / z and shape 1, given that it is below the cut."""
    if z * _CUT < 1.0:
        while True:
            while True:
                first, state = uniform(state)
                second, state = uniform(state)
                first, second = -math.log(first), -math.log(second)
                if first * first * _CUT <= 2.0 * second:
                    break
            x = _CUT / (1.0 + _CUT * first) ** 2
            u, state = uniform(state)
            if u <= math.exp(-0.5 * z * z * x):
                return x, state
    mean = 1.0 / z
    while True:
        value, state = normal(state)
        a = mean * value * value
        x = mean / (1.0 + 0.5 * a + 0.5 * math.sqrt(a * (4.0 + a)))
        u, state = uniform(state)
        if u * (mean + x) > mean:
            x = mean * mean / x
        if x < _CUT:
            return x, state


@kernel
def _one(c: float, state: np.uint64) -> tuple[float, np.uint64]:
    """Draw PG(1, c)."""
    z = 0.5 * abs(c)
    above, rate = _share_above(z), math.pi * math.pi / 8.0 + 0.5 * z * z
    while True:
        u, state = uniform(state)
        if u < above:
            u, state = uniform(state)
            x = _CUT - math.log(u) / rate
        else:
            x, state = _inverse_gaussian_below(z, state)
        total = _term(0, x)
        u, state = uniform(state)
        level, n = u * total, 0
        while True:
            n += 1
            if n % 2 == 1:
                total -= _term(n, x)
                if level <= total:
                    return 0.25 * x, state
            else:
                total += _term(n, x)
                if level > total:
                    break


@kernel
def polya_gamma_mean(n: float, c: float) -> float:
    """Return E[omega] of PG(n, c)."""
    c = abs(c)
    if c < 1e-3:
        return n * (0.25 - c * c / 48.0)
    return n * math.tanh(0.5 * c) / (2.0 * c)


@kernel
def polya_gamma_variance(n: float, c: float) -> float:
    """Return Var[omega] of PG(n, c)."""
    c = abs(c)
    if c < 0.02:
        return n * (1.0 / 24.0 - c * c / 120.0)
    if c > 300.0:
        return n / (2.0 * c**3)
    return n * (math.sinh(c) - c) / (4.0 * c**3 * math.cosh(0.5 * c) ** 2)


@kernel
def polya_gamma(n: int, c: float, state: np.uint64) -> tuple[float, np.uint64]:
    """Draw PG(n, c); return it and the state that follows. Few trials are drawn exactly, more by the series."""
    if n > _MOST_DRAWN:
        return polya_gamma_of_many(n, c, state)
    total = 0.0
    for _ in range(n):
        value, state = _one(c, state)
        total += value
    return total, state
