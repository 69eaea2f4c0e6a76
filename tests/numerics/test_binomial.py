"""Binomial and multinomial draws against their distributions."""

import numpy as np
import pytest
from scipy import stats

from ssvi.numerics.binomial import binomial, room_for, split_count
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import derive_key


@kernel
def _draw(n, p, state, out):
    for i in range(out.size):
        out[i], state = binomial(n, p, state)


@kernel
def _split(count, weights, sums, state, out):
    for i in range(out.shape[0]):
        state = split_count(count, weights, sums, out[i], state)


@pytest.mark.parametrize(
    ("n", "p"), [(1, 0.3), (7, 0.5), (40, 0.1), (40, 0.9), (60, 0.45), (200, 0.05), (5_000, 0.004), (5_000, 0.7)]
)
def test_binomial_draws_have_their_distribution(n, p):
    """A chi-squared test with cells of 10 or more expected; fails by chance once in 10^5 for each of 8 cases."""
    size = 100_000
    drawn = np.empty(size)
    _draw(n, p, np.uint64(derive_key(0, "binomial", n)), drawn)
    expected = size * stats.binom(n, p).pmf(np.arange(n + 1))
    cells = np.unique(np.floor(np.cumsum(expected) / 10), return_inverse=True)[1]
    observed = np.bincount(cells, np.bincount(drawn.astype(int), minlength=n + 1))
    grouped = np.bincount(cells, expected)
    keep = grouped >= 5
    statistic = ((observed - grouped) ** 2 / grouped)[keep].sum()
    assert stats.chi2(keep.sum() - 1).sf(statistic) > 1e-5


def test_certain_outcomes():
    for n, p, outcome in ((0, 0.5, 0), (5, 0.0, 0), (5, 1.0, 5), (300, 1e-300, 0)):
        assert binomial(n, p, np.uint64(1))[0] == outcome


@pytest.mark.parametrize("count", [1, 5, 127, 128, 1_000])
@pytest.mark.parametrize("size", [1, 3, 8, 19])
def test_splits_have_multinomial_means_and_variances(count, size):
    """10,000 splits: 19 means within 5 standard errors and variances within 10%, about 7 standard errors."""
    rng = np.random.default_rng(size)
    weights = rng.gamma(1.0, 1.0, size)
    tallies = np.zeros((10_000, size))
    _split(count, weights, room_for(size), np.uint64(derive_key(0, "split", count, size)), tallies)
    np.testing.assert_array_equal(tallies.sum(axis=1), count)
    share = weights / weights.sum()
    variance = count * share * (1 - share)
    assert np.all(np.abs(tallies.mean(axis=0) - count * share) <= 5 * np.sqrt(variance / 10_000) + 1e-9)
    enough = variance > 0.5
    np.testing.assert_allclose(tallies.var(axis=0)[enough], variance[enough], rtol=0.1)


def test_a_weight_of_zero_gets_nothing():
    tallies = np.zeros((500, 10))
    weights = np.array([0.0, 1.0] * 5)
    for count in (3, 500):
        _split(count, weights, room_for(10), np.uint64(7), tallies)
    assert not tallies[:, ::2].any()


def test_a_probability_that_is_nan_ends():
    out = np.ones(5, dtype=np.int64)
    _draw(1_000, np.nan, np.uint64(1), out)
    assert out.tolist() == [0] * 5
