import numpy as np
import pytest
from scipy import special, stats

from ssvi.numerics.gamma_variates import log_gamma_batch, log_gamma_rows
from ssvi.numerics.random import derive_key, derive_keys


def _draws(shape, method="rows", size=100_000):
    out = np.empty((10, size // 10))
    shapes = np.full(out.shape, float(shape))
    if method == "rows":
        log_gamma_rows(shapes, derive_keys(11, 10), out)
    else:
        log_gamma_batch(shapes.ravel(), np.uint64(derive_key(12, "batch")), out.reshape(-1))
    return out.ravel()


METHODS = pytest.mark.parametrize("method", ["rows", "batch"])


@METHODS
@pytest.mark.parametrize("shape", [1e-3, 0.05, 0.5, 0.999, 1.0, 1.5, 3.0, 30.0, 1e3, 1e6, 1e8])
def test_distribution(shape, method):
    """p < 1e-4 has a chance of 1e-4 for each shape; the streams are fixed."""
    draws = _draws(shape, method)
    probability = special.gammainc(shape, np.exp(draws))
    # Where x underflows, P(s, x) is its first term x^s / Gamma(s + 1) to all digits.
    tiny = draws < -600
    probability[tiny] = np.exp(shape * draws[tiny] - special.gammaln(shape + 1))
    assert stats.kstest(probability, "uniform").pvalue > 1e-4


@METHODS
def test_the_smallest_shape_neither_underflows_nor_piles_up(method):
    draws = _draws(1e-8, method)
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


def test_a_batch_of_mixed_shapes_has_the_right_means_and_no_memory():
    """Means of 2,000 draws of each of 300 shapes, and of products of neighbours: 5 errors of 600 means, 4e-4."""
    rng = np.random.default_rng(3)
    shapes = np.exp(rng.uniform(-3, 5, 300))
    draws = np.empty((2_000, 300))
    log_gamma_batch(np.tile(shapes, 2_000), np.uint64(derive_key(13)), draws.reshape(-1))
    score = (draws - special.digamma(shapes)) / np.sqrt(special.polygamma(1, shapes))
    assert np.abs(score.mean(axis=0)).max() < 5 / np.sqrt(2_000)
    neighbours = (score[:, 1:] * score[:, :-1]).mean(axis=0)
    assert np.abs(neighbours).max() < 5 / np.sqrt(2_000)


@METHODS
@pytest.mark.parametrize("shape", [np.nan, 0.0, -0.0, -1e-300, -0.3, -0.9, -1.0, -7.5, -1e300, np.inf, -np.inf])
def test_a_shape_that_there_is_not_gives_nan_and_ends(shape, method):
    assert np.isnan(_draws(shape, method, size=2_000)).all()


@METHODS
def test_shapes_that_there_are_not_leave_the_others_alone(method):
    shapes = np.exp(np.random.default_rng(4).uniform(-3, 3, (2, 700)))
    spoilt = shapes.copy()
    spoilt[:, ::7] = [[np.nan], [-2.0]]
    results = []
    for given in (shapes, spoilt):
        out = np.empty_like(given)
        if method == "rows":
            for column in range(given.shape[1]):  # a stream each, because one that is no draw takes nothing from it
                log_gamma_rows(given[:, [column]], derive_keys(column, 2), out[:, column : column + 1])
        else:
            log_gamma_batch(given.ravel(), np.uint64(3), out.reshape(-1))
        results.append(out)
    assert np.isnan(results[1][:, ::7]).all()
    kept = np.arange(700) % 7 != 0
    np.testing.assert_array_equal(results[1][:, kept], results[0][:, kept])
