"""Polya-Gamma draws against their Laplace transform, which is known in closed form."""

import mpmath
import numpy as np
import pytest

from ssvi.numerics.compile import kernel
from ssvi.numerics.polya_gamma import polya_gamma, polya_gamma_mean, polya_gamma_variance

N = 60_000


@kernel
def draw_into(n, c, state, out):
    for i in range(out.size):
        out[i], state = polya_gamma(n, c, state)


def transform(n, c, t):
    """E[exp(-t omega)] = (cosh(c / 2) / cosh(sqrt(c^2 / 4 + t / 2)))^n."""
    with mpmath.workdps(60):
        root = mpmath.sqrt(mpmath.mpf(c) ** 2 / 4 + mpmath.mpf(t) / 2)
        return mpmath.re(mpmath.cosh(mpmath.mpf(c) / 2) / mpmath.cosh(root)) ** n


@pytest.mark.parametrize("c", [0.0, 1e-4, 0.019, 0.021, 1.0, -7.0, 299.0, 301.0, 1e4])
def test_mean_and_variance_are_slopes_of_the_transform(c):
    with mpmath.workdps(60):
        h = mpmath.mpf(10) ** -12
        below, middle, above = (mpmath.log(transform(3, c, t)) for t in (-h, 0, h))
        slope, curvature = (above - below) / (2 * h), (above - 2 * middle + below) / h**2
    assert polya_gamma_mean(3.0, c) == pytest.approx(-float(slope), rel=1e-9)
    assert polya_gamma_variance(3.0, c) == pytest.approx(float(curvature), rel=1e-4)


@pytest.mark.parametrize(
    ("n", "c"), [(1, 0.0), (1, 0.7), (1, -3.1), (1, 3.2), (1, 40.0), (1, 2e3), (4, 1.5), (400, 2.0)]
)
def test_draws_have_the_transform(n, c):
    """At three places that see the body and both ends; five standard errors, 6e-7 each."""
    out = np.empty(N)
    draw_into(n, c, np.uint64(11), out)
    assert (out > 0.0).all()
    for scale in (0.1, 1.0, 5.0):
        t = scale / polya_gamma_mean(n, c)
        found = np.exp(-t * out)
        assert abs(found.mean() - float(transform(n, c, t))) < 5.0 * found.std() / np.sqrt(N) + 1e-9
    assert abs(out.mean() - polya_gamma_mean(n, c)) < 5.0 * out.std() / np.sqrt(N)


def test_no_trials_are_nothing():
    assert polya_gamma(0, 1.0, np.uint64(3))[0] == 0.0
