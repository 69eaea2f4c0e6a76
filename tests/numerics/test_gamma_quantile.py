"""w(s, x) = d log x / d s at fixed probability, against mpmath.

The reference integrates the derivative of the incomplete gamma function directly, and is itself checked against
differences of mpmath's quantiles.
"""

import math

import mpmath as mp
import numpy as np
import pytest
from scipy import special

from ssvi.numerics.gamma_quantile import log_quantile_derivative, log_quantile_derivative_into

SHAPES = [
    1e-6,
    1e-5,
    1e-4,
    1e-3,
    1e-2,
    0.1,
    0.5,
    0.99,
    1.0,
    1.5,
    2.0,
    3.0,
    5.0,
    8.0,
    11.999,
    12.0,
    15.0,
    20.0,
    40.0,
    100.0,
]
LARGE_SHAPES = [1e3, 1e4, 1e5, 1e6, 1e7, 1e8]
PROBABILITIES = [1e-8, 1e-6, 1e-4, 0.01, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1 - 1e-4, 1 - 1e-6, 1 - 1e-8]


def _log_quantile(shape, u):
    """log of the u-quantile; in log space where the quantile itself underflows."""
    x = special.gammaincinv(shape, u) if u < 0.5 else special.gammainccinv(shape, 1 - u)
    return math.log(x) if x > 1e-200 else (math.log(u) + special.gammaln(shape + 1)) / shape


def _reference(shape, log_x):
    """-(dQ/ds) / (x q(x)), the derivative taken under the integral of q(t) = t^(s-1) e^-t / Gamma(s).

    Substituting t = x e^y, it is the integral of (psi(s) - log x - y) exp(s y - x (e^y - 1)) over y < 0, or minus
    that over y > 0: the side that does not reach the mode is taken.
    """
    with mp.workdps(30):
        s, centre = mp.mpf(shape), mp.mpf(log_x)
        x = mp.exp(centre)
        psi = mp.digamma(s)

        def integrand(y):
            return (psi - centre - y) * mp.exp(s * y - x * mp.expm1(y))

        slope, curvature = s - x, x  # of the exponent at y = 0
        if x < s:  # rises from the left up to y = 0
            width = 1 / (slope + mp.sqrt(curvature))
            points = [-width * k for k in (80, 40, 20, 10, 5, 2, 1, 0)]
            return mp.quad(integrand, points)
        width = 1 / (-slope + mp.sqrt(curvature))
        points = [width * k for k in (0, 1, 2, 5, 10, 20, 40)]
        return -mp.quad(integrand, points)


def _series_reference(shape, log_x):
    """The lower incomplete gamma function's series in 40 digits; for shapes where it is short."""
    with mp.workdps(60):
        s, centre = mp.mpf(shape), mp.mpf(log_x)
        x = mp.exp(centre)
        weight, gap, n = 1 / s, mp.digamma(s + 1) - centre, 0
        total = mp.mpf(0)
        while True:
            total += weight * gap
            n += 1
            weight *= x / (s + n)
            gap += 1 / (s + n)
            if n > x and abs(weight * gap) < mp.mpf(10) ** -30 * abs(total):
                return total


@pytest.mark.parametrize("shape", SHAPES)
def test_small_and_medium_shapes(shape):
    for u in PROBABILITIES:
        log_x = _log_quantile(shape, u)
        expected = _series_reference(shape, log_x)
        assert abs(log_quantile_derivative(shape, log_x) / expected - 1) < 1e-8, u


@pytest.mark.parametrize("shape", LARGE_SHAPES)
def test_large_shapes(shape):
    for u in PROBABILITIES:
        log_x = _log_quantile(shape, u)
        expected = _reference(shape, log_x)
        assert abs(log_quantile_derivative(shape, log_x) / expected - 1) < 1e-8, u


@pytest.mark.parametrize(("shape", "u"), [(0.5, 0.3), (3.0, 0.9), (30.0, 0.01)])
def test_references_agree_with_differences_of_quantiles(shape, u):
    with mp.workdps(40):

        def log_quantile(s):
            def gap(log_x):
                return mp.gammainc(s, 0, mp.exp(log_x), regularized=True) - mp.mpf(u)

            return mp.findroot(gap, _log_quantile(shape, u))

        step = mp.mpf(10) ** -8
        difference = (log_quantile(shape + step) - log_quantile(shape - step)) / (2 * step)
        log_x = log_quantile(mp.mpf(shape))
        assert abs(_series_reference(shape, log_x) / difference - 1) < 1e-12
        assert abs(_reference(shape, log_x) / difference - 1) < 1e-12


def test_far_tails_beyond_the_grid_stay_positive_and_finite():
    for shape in (1e-8, 1e-3, 0.3, 1.0, 7.0, 12.0, 50.0):
        for log_x in (-1e6, -50.0, -5.0, math.log(shape + 1) + 1, math.log(shape + 1) + 3):
            value = log_quantile_derivative(shape, log_x)
            assert math.isfinite(value)
            assert value > 0


def test_array_form():
    shapes, log_x = np.array([0.5, 2.0, 50.0]), np.array([-1.0, 0.5, 4.0])
    out = np.empty(3)
    log_quantile_derivative_into(shapes, log_x, out)
    assert out.tolist() == [log_quantile_derivative(s, x) for s, x in zip(shapes, log_x, strict=True)]


@pytest.mark.parametrize("shape", [np.nan, -0.5, -5.0, -1e300, -np.inf, np.inf, 2.0])
@pytest.mark.parametrize("log_x", [np.nan, -np.inf, -1.0, 3.0, np.inf])
def test_no_shape_and_no_value_takes_for_ever(shape, log_x):
    value = log_quantile_derivative(shape, log_x)
    if np.isnan(shape) or np.isnan(log_x):
        assert np.isnan(value)
