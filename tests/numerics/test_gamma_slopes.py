"""The vectorised slopes against the exact form (which has its own tests against quadrature) and SciPy."""

import numpy as np
import pytest
from scipy import special

from ssvi.numerics.gamma_quantile import log_quantile_derivative_into
from ssvi.numerics.gamma_slopes import BOUND, _slopes, inverse_curvature, slopes
from ssvi.numerics.gamma_variates import log_gamma_batch

RANGES = [(1e-4, 1e-2), (1e-2, 0.1), (0.1, 1), (1, 3), (3, 8), (7.9, 8.1), (8, 12), (12, 50), (50, 1e3), (1e3, 1e7)]


def _arguments(low, high, spread):
    """Shapes and log x: draws, or, for a spread, places all over the distribution and far into its tails."""
    rng = np.random.default_rng(0)
    shapes = np.exp(rng.uniform(np.log(low), np.log(high), 20_000))
    log_x = np.empty_like(shapes)
    log_gamma_batch(shapes, np.uint64(17), log_x)
    if spread:
        log_x += rng.normal(0.0, 1.0 / np.sqrt(shapes), len(shapes))
    return shapes, np.minimum(log_x, np.log(shapes + 40 * np.sqrt(shapes) + 40))


@pytest.mark.parametrize("spread", [False, True], ids=["draws", "everywhere"])
@pytest.mark.parametrize(("low", "high"), RANGES)
def test_errors_stay_below_the_bound(low, high, spread):
    shapes, log_x = _arguments(low, high, spread)
    found, exact = np.empty_like(shapes), np.empty_like(shapes)
    slopes(shapes, log_x, found)
    log_quantile_derivative_into(shapes, log_x, exact)
    np.testing.assert_allclose(found, exact, rtol=BOUND)


@pytest.mark.parametrize(("low", "high"), RANGES)
def test_few_draws_need_the_exact_form(low, high):
    shapes, log_x = _arguments(low, high, spread=False)
    found = np.empty_like(shapes)
    _slopes(shapes, log_x, found)
    assert np.mean(found < 0) < 0.01


def test_inverse_curvature():
    shapes = np.exp(np.linspace(np.log(1e-9), np.log(1e12), 2_000))
    found = np.array([inverse_curvature(shape) for shape in shapes])
    np.testing.assert_allclose(found, 1 / special.polygamma(1, shapes), rtol=1e-8)
