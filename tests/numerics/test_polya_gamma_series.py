import mpmath
import numpy as np
import pytest

from ssvi.numerics.polya_gamma_series import TERMS, log_cosh_slopes, polya_gamma_rows, remainder
from ssvi.numerics.random import derive_keys


@pytest.mark.parametrize("s", [0.0, 1e-6, 0.01, 0.2499, 0.2501, 2.0, 30.0, 900.0])
def test_slopes_of_log_cosh_are_those_of_mpmath(s):
    with mpmath.workdps(40):
        at = mpmath.mpf(s) + (mpmath.mpf(10) ** -15 if s == 0 else 0)
        expected = [float(mpmath.diff(lambda x: mpmath.log(mpmath.cosh(mpmath.sqrt(x))), at, n)) for n in (1, 2, 3)]
    np.testing.assert_allclose(log_cosh_slopes(s), expected, rtol=1e-13)


def log_transform(b, c, t):
    """Return log E[exp(-t omega)] of PG(b, c)."""
    return b * (mpmath.log(mpmath.cosh(c / 2)) - mpmath.log(mpmath.cosh(mpmath.sqrt((c**2 / 2 + t) / 2))))


def log_transform_of_draws(b, c, t):
    """Return log E[exp(-t omega)] of what is drawn: some gamma variables, and a shifted one for the others."""
    shift, shape, scale = remainder(float(c))
    u, tilt = t / (2 * mpmath.pi**2), c**2 / (4 * mpmath.pi**2)
    terms = [mpmath.log(1 + u / ((k + mpmath.mpf(0.5)) ** 2 + tilt)) for k in range(TERMS)]
    return -b * (shift * u + shape * mpmath.log(1 + scale * u) + sum(terms))


@pytest.mark.parametrize("b", [0.5, 1, 5, 100])
@pytest.mark.parametrize("c", [0.0, 0.1, 1.0, 3.0, 10.0, 30.0, 300.0])
def test_the_distribution_is_polya_gamma(b, c):
    c, mean = mpmath.mpf(c), b / 4 if c == 0 else b * mpmath.tanh(c / 2) / (2 * c)
    for share in (0.1, 1, 3, 10, 100):
        t = share / mean
        exact, drawn = mpmath.exp(log_transform(b, c, t)), mpmath.exp(log_transform_of_draws(b, c, t))
        assert abs(exact - drawn) < 2e-5


@pytest.mark.parametrize(("b", "c"), [(1.0, 0.0), (0.3, -4.0), (40.0, 2.0)])
def test_draws_have_its_mean_and_variance(b, c):
    # 4 standard errors of 100,000 draws: one of these six is outside with a chance of 4e-4.
    n = 100_000
    draws = np.empty((100, n // 100))
    polya_gamma_rows(np.full_like(draws, b), np.full_like(draws, c), derive_keys(3, 100), draws)
    first, second, _ = log_cosh_slopes(0.25 * c * c)
    mean, variance = 0.5 * b * first, -0.25 * b * second
    assert abs(draws.mean() - mean) < 4 * np.sqrt(variance / n)
    squares = (draws - mean) ** 2
    assert abs(squares.mean() - variance) < 4 * squares.std() / np.sqrt(n)


def test_nothing_is_drawn_of_nothing():
    draws = np.ones((1, 2))
    polya_gamma_rows(np.zeros((1, 2)), np.ones((1, 2)), derive_keys(0, 1), draws)
    assert (draws == 0).all()
