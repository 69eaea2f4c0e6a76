"""The log-likelihood of successes out of trials, its slope and its curvature, under two links, and their means."""

from __future__ import annotations

import math

import numpy as np

from ssvi.numerics.compile import kernel
from ssvi.numerics.normal_tail import log_tail, tail_ratio

LOGIT, PROBIT = 0, 1

_POINTS = 15
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(_POINTS)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()
_CERTAIN = 1e-12  # a variance that need not be integrated over


@kernel
def likelihood(link: int, y: float, n: float, eta: float) -> tuple[float, float, float]:
    """Return log p(y | eta) but for the binomial coefficient, its slope, and minus its second derivative."""
    if link == LOGIT:
        small = math.exp(-abs(eta))
        share = 1.0 / (1.0 + small) if eta > 0.0 else small / (1.0 + small)
        value = y * eta - n * (max(eta, 0.0) + math.log1p(small))
        return value, y - n * share, n * small / (1.0 + small) ** 2
    up, down = tail_ratio(-eta), tail_ratio(eta)
    value = y * log_tail(-eta) + (n - y) * log_tail(eta)
    return value, y * up - (n - y) * down, y * up * (up + eta) + (n - y) * down * (down - eta)


@kernel
def expected_likelihood(
    link: int, y: float, n: float, eta: float, variance: float
) -> tuple[float, float, float]:  # fmt: skip
    """Return the means of the three over eta ~ N(eta, variance), by Gauss-Hermite quadrature."""
    if variance < _CERTAIN:
        return likelihood(link, y, n, eta)
    deviation = math.sqrt(variance)
    value, slope, curvature = 0.0, 0.0, 0.0
    for k in range(_POINTS):
        own = likelihood(link, y, n, eta + deviation * _NODES[k])
        value += _WEIGHTS[k] * own[0]
        slope += _WEIGHTS[k] * own[1]
        curvature += _WEIGHTS[k] * own[2]
    return value, slope, curvature


@kernel
def log_ways(y: float, n: float) -> float:
    """Return the logarithm of the binomial coefficient."""
    return math.lgamma(n + 1.0) - math.lgamma(y + 1.0) - math.lgamma(n - y + 1.0)
