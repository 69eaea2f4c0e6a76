import numpy as np
import pytest
from scipy import special, stats

from ssvi.numerics.gamma_variates import log_gamma_rows
from ssvi.numerics.random import derive_keys


def _draws(shape, size=100_000):
    out = np.empty((10, size // 10))
    log_gamma_rows(np.full(out.shape, float(shape)), derive_keys(11, 10), out)
    return out.ravel()


@pytest.mark.parametrize("shape", [1e-3, 0.05, 0.5, 0.999, 1.0, 1.5, 3.0, 30.0, 1e3, 1e6, 1e8])
def test_distribution(shape):
    """p < 1e-4 has a chance of 1e-4 for each shape; the streams are fixed."""
    draws = _draws(shape)
    probability = special.gammainc(shape, np.exp(draws))
    # Where x underflows, P(s, x) is its first term x^s / Gamma(s + 1) to all digits.
    tiny = draws < -600
    probability[tiny] = np.exp(shape * draws[tiny] - special.gammaln(shape + 1))
    assert stats.kstest(probability, "uniform").pvalue > 1e-4


def test_the_smallest_shape_neither_underflows_nor_piles_up():
    draws = _draws(1e-8)
    assert np.isfinite(draws).all()
    # s log x tends to minus an exponential variable.
    assert stats.kstest(-1e-8 * draws, "expon").pvalue > 1e-4


def test_rows_have_their_own_streams():
    shapes = np.full((4, 5), 0.7)
    whole, part = np.empty((4, 5)), np.empty((2, 5))
    keys = derive_keys(5, 4)
    log_gamma_rows(shapes, keys, whole)
    log_gamma_rows(shapes[2:], keys[2:], part)
    np.testing.assert_array_equal(whole[2:], part)
