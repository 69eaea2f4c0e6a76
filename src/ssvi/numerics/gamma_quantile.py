"""How the logarithm of a gamma quantile moves with its shape (appendix B of the paper).

Let x = R(u; s) be the u-quantile of Gamma(s, 1), with density q and distribution function Q. At fixed u,

    w(s, x) = d log x / d s = -(dQ/ds) / (x q(x)) > 0.

Three exact forms share the quadrant, each where it neither cancels nor needs many terms:

- large shapes: Temme's uniform expansion of Q, differentiated in s at fixed x;
- x up to about s + 1: the power series of the lower incomplete gamma function, differentiated term by term;
- x beyond: the continued fraction of the upper one, carried with its derivative.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from ssvi.numerics.compile import kernel
from ssvi.numerics.special import digamma

_ORDERS = 6  # powers of 1/s kept in Temme's expansion
_DEGREE = 32  # powers of eta kept in each of its coefficients; they converge for |eta| < 2 sqrt(pi)
_LARGE_SHAPE = 12.0
_LARGE_ETA = 1.9
_PRECISION = 1e-11


def _temme_coefficients(orders: int, degree: int) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return C[k, n], with c_k(eta) = sum_n C[k, n] eta^n, and g[k], the coefficients of Gamma*(s) in 1/s.

    mu(eta) solves eta^2 / 2 = mu - log(1 + mu), that is mu mu' = eta (1 + mu). Then c_0 = 1/mu - 1/eta and
    c_k = c_{k-1}' / eta + (-1)^k g_k / mu, where g_k is what cancels the pole at eta = 0. Exact rational arithmetic:
    the recurrence would lose digits in floating point.
    """
    size = degree + 2 * orders + 2
    mu = [Fraction(0), Fraction(1)]
    for n in range(2, size + 2):
        crossed = sum(((n + 1 - i) * mu[i] * mu[n + 1 - i] for i in range(2, n)), Fraction(0))
        mu.append((mu[n - 1] - crossed) / (n + 1))
    inverse = [Fraction(1)]  # eta / mu
    for n in range(1, size + 1):
        inverse.append(-sum((mu[i + 1] * inverse[n - i] for i in range(1, n + 1)), Fraction(0)))
    coefficient = inverse[1:]  # of c_0
    rows, stirling = [coefficient[:degree]], [Fraction(1)]
    for k in range(1, orders):
        stirling.append((-1) ** (k + 1) * coefficient[1])
        pole = (-1) ** k * stirling[k]
        coefficient = [(n + 2) * coefficient[n + 2] + pole * inverse[n + 1] for n in range(len(coefficient) - 2)]
        rows.append(coefficient[:degree])
    return np.array(rows, dtype=float), np.array(stirling, dtype=float)


TEMME, _STIRLING = _temme_coefficients(_ORDERS, _DEGREE)


@kernel
def _excess(mu: float) -> float:
    """Return mu - log(1 + mu) without cancellation near 0."""
    if abs(mu) > 0.1:
        return mu - math.log1p(mu)
    power, total, n = mu * mu, 0.0, 2
    while True:
        term = power / n
        total += term
        if abs(term) <= 1e-17 * total or n > 40:
            return total
        power *= -mu
        n += 1


@kernel
def _temme_form(shape: float, mu: float, eta: float) -> float:
    """Return w for large shapes, from mu = x / s - 1 and eta = sign(mu) sqrt(2 (mu - log(1 + mu)))."""
    terms = _DEGREE
    if abs(eta) < 1.0:
        terms = 3 + int(-math.log(_PRECISION) / math.log(3.5 / (abs(eta) + 1e-3)))
        terms = min(terms, _DEGREE)
    total, slope, drift, gamma_star = 0.0, 0.0, 0.0, 0.0  # S, dS/d eta, dS/ds, and Gamma*(s)
    power = 1.0
    for k in range(_ORDERS):
        value, derivative = 0.0, 0.0
        for n in range(terms - 1, -1, -1):
            derivative = derivative * eta + value
            value = value * eta + TEMME[k, n]
        total += value * power
        slope += derivative * power
        drift -= k * value * power / shape
        gamma_star += _STIRLING[k] * power
        power /= shape
        if power < _PRECISION:
            break
    ratio = mu / eta if abs(eta) > 1e-9 else 1.0 + eta / 3.0
    half_inverse = 0.5 / shape
    bracket = ratio - 0.5 * eta + total * (math.log1p(mu) - half_inverse) - slope * ratio / shape + drift
    return gamma_star * bracket / shape


@kernel
def _series_form(shape: float, log_x: float, x: float) -> float:
    """Return w from the power series: sum_n c_n (psi(s + n + 1) - log x), c_n = x^n Gamma(s) / Gamma(s + n + 1)."""
    weight = 1.0 / shape
    gap = digamma(shape + 1.0) - log_x
    total = weight * gap
    n = 1.0
    while True:
        divisor = shape + n
        weight *= x / divisor
        gap += 1.0 / divisor
        term = weight * gap
        total += term
        # Past n > x the terms fall at least geometrically, by x / (s + n). Said the other way round, NaN ends it too.
        if not (divisor <= x or abs(term) > 1e-13 * abs(total)):
            return total
        n += 1.0


@kernel
def _fraction_form(shape: float, log_x: float, x: float) -> float:
    """Return w from G = Gamma(s, x) e^x x^-s as a continued fraction: w = (log x - psi(s)) G + dG/ds.

    Modified Lentz steps, each quantity with its derivative in s (a name with a trailing `_s`).
    """
    b, b_s = x + 1.0 - shape, -1.0
    d = 1.0 / b
    d_s = -b_s * d * d
    value, value_s = d, d_s
    c, c_s = 1e300, 0.0
    for i in range(1, 10_000):
        a, a_s = -i * (i - shape), float(i)
        b += 2.0
        denominator, denominator_s = a * d + b, a_s * d + a * d_s + b_s
        d = 1.0 / denominator
        d_s = -denominator_s * d * d
        c, c_s = b + a / c, b_s + (a_s - a * c_s / c) / c
        change, change_s = c * d, c_s * d + c * d_s
        value, value_s = value * change, value_s * change + value * change_s
        # At a whole shape the fraction itself ends early; its derivative goes on.
        if abs(change - 1.0) < 1e-13 and abs(value * change_s) < 1e-13 * abs(value_s):
            break
    return (log_x - digamma(shape)) * value + value_s


@kernel
def log_quantile_derivative(shape: float, log_x: float) -> float:
    """Return w(s, x) = d log x / d s of a Gamma(s, 1) quantile x at fixed probability, from s and log x."""
    if not (shape > 0.0 and shape < math.inf):
        return math.nan  # the series would not end
    if shape >= _LARGE_SHAPE:
        mu = math.expm1(log_x - math.log(shape))
        eta = math.copysign(math.sqrt(2.0 * _excess(mu)), mu)
        if abs(eta) < _LARGE_ETA:
            return _temme_form(shape, mu, eta)
    x = math.exp(log_x)
    if x <= max(1.5, shape + 1.0):
        return _series_form(shape, log_x, x)
    return _fraction_form(shape, log_x, x)


@kernel
def log_quantile_derivative_into(
    shapes: npt.NDArray[np.float64], log_x: npt.NDArray[np.float64], out: npt.NDArray[np.float64]
) -> None:
    """Fill `out` with w(shapes, x), element by element, over one-dimensional arrays."""
    for i in range(shapes.size):
        out[i] = log_quantile_derivative(shapes[i], log_x[i])
