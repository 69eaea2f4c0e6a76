"""Digamma, trigamma, tetragamma and log-gamma of positive arguments, callable from kernels.

The first three are NaN of arguments below zero, which the recurrence might never get away from.

Each moves its argument above 8 by the recurrence, then uses the asymptotic (Stirling) series there. Relative errors
are a few units in the last place, but for digamma near its root at 1.46 where the absolute error is.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.numerics.bits import fast_exp
from ssvi.numerics.compile import fused_kernel, kernel, widest_vectors

_LARGE = 8.0
_LARGE_FOR_EXCESS = 300.0


@kernel
def digamma(x: float) -> float:
    """Return psi(x), the derivative of log Gamma(x), for x > 0."""
    if x < 0.0:
        return math.nan
    result = 0.0
    while x < _LARGE:
        result -= 1.0 / x
        x += 1.0
    y = 1.0 / (x * x)
    tail = y * (
        1 / 12
        - y
        * (
            1 / 120
            - y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - y * (691 / 32760 - y * (1 / 12 - y * 0.4432598039)))))
        )
    )
    return result + math.log(x) - 0.5 / x - tail


@fused_kernel
def _digamma_less_log(x: float) -> float:
    """Return psi(x) - log(x + 6) for x > 0, without a branch.

    psi(x) = psi(x + 6) - P'(x) / P(x), with P(x) = x (x + 1) ... (x + 5), and psi(y) is near log y.
    """
    product = x * (120.0 + x * (274.0 + x * (225.0 + x * (85.0 + x * (15.0 + x)))))
    slope = 120.0 + x * (548.0 + x * (675.0 + x * (340.0 + x * (75.0 + x * 6.0))))
    y = 1.0 / (x + 6.0)
    z = y * y
    tail = 1 / 240 - z * (1 / 132 - z * (691 / 32760 - z * (1 / 12 - z * 0.4432598039)))
    tail = z * (1 / 12 - z * (1 / 120 - z * (1 / 252 - z * tail)))
    return -slope / product - 0.5 * y - tail


@kernel
def exp_digamma_array(
    x: npt.NDArray[Any], shift: float, smallest: float, result: npt.NDArray[Any], work: npt.NDArray[np.float64]
) -> None:
    """Fill `result` with exp(psi(x) - shift), or 0 where that is below `smallest`. `work` is as long as x.

    Two loops, since the compiler vectorises each and not both in one: a sixth of the time.
    """
    widest_vectors()
    for k in range(x.size):
        work[k] = _digamma_less_log(x[k]) - shift
    for k in range(x.size):
        value = (x[k] + 6.0) * fast_exp(work[k])
        result[k] = value if value > smallest else 0.0


@kernel
def trigamma(x: float) -> float:
    """Return psi'(x), the second derivative of log Gamma(x), for x > 0."""
    if x < 0.0:
        return math.nan
    result = 0.0
    while x < _LARGE:
        result += 1.0 / (x * x)
        x += 1.0
    y = 1.0 / (x * x)
    tail = y * (
        1 / 6
        - y * (1 / 30 - y * (1 / 42 - y * (1 / 30 - y * (5 / 66 - y * (691 / 2730 - y * (7 / 6 - y * 3617 / 510))))))
    )
    return result + (1.0 + 0.5 / x + tail) / x


@kernel
def tetragamma(x: float) -> float:
    """Return psi''(x), the third derivative of log Gamma(x), for x > 0."""
    if x < 0.0:
        return math.nan
    result = 0.0
    while x < _LARGE:
        result -= 2.0 / (x * x * x)
        x += 1.0
    y = 1.0 / (x * x)
    tail = y * (1 / 2 - y * (1 / 6 - y * (1 / 6 - y * (3 / 10 - y * (5 / 6 - y * (691 / 210 - y * 35 / 2))))))
    return result - y * (1.0 + 1.0 / x + tail)


@kernel
def inverse_trigamma_growth(start: float, step: float) -> float:
    """Return f(start + step) - f(start) for f = 1 / psi', also where the two are almost equal.

    Short steps integrate f' = -psi'' / psi'^2 by Gauss's rule with three points.
    """
    if step > 0.1 * start:
        return 1.0 / trigamma(start + step) - 1.0 / trigamma(start)
    total = 0.0
    for node, weight in ((-math.sqrt(0.6), 5 / 18), (0.0, 8 / 18), (math.sqrt(0.6), 5 / 18)):
        point = start + 0.5 * step * (1.0 + node)
        total -= weight * tetragamma(point) / trigamma(point) ** 2
    return step * total


@kernel
def log_gamma(x: float) -> float:
    """Return log Gamma(x) for x > 0."""
    return math.lgamma(x)


@kernel
def _digamma_into(x: npt.NDArray[np.float64], out: npt.NDArray[np.float64]) -> None:
    for i in range(x.size):
        out[i] = digamma(x[i])


@kernel
def _trigamma_into(x: npt.NDArray[np.float64], out: npt.NDArray[np.float64]) -> None:
    for i in range(x.size):
        out[i] = trigamma(x[i])


def digamma_array(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return digamma of every element."""
    out = np.empty(x.shape)
    _digamma_into(np.ascontiguousarray(x).reshape(-1), out.reshape(-1))
    return out


def trigamma_array(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return trigamma of every element."""
    out = np.empty(x.shape)
    _trigamma_into(np.ascontiguousarray(x).reshape(-1), out.reshape(-1))
    return out


def trigamma_excess(x: npt.NDArray[np.float64], curvature: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return x psi'(x) - 1, about 1 / (2 x), of every element, from x and psi'(x).

    For large x it comes from its series, as the difference loses digits.
    """
    inverse = 1.0 / np.maximum(x, _LARGE_FOR_EXCESS)
    series = inverse * (0.5 + inverse * (1.0 / 6.0 - inverse * inverse / 30.0))
    result: npt.NDArray[np.float64] = np.where(x > _LARGE_FOR_EXCESS, series, x * curvature - 1.0)
    return result
