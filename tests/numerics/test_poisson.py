"""Poisson draws against their distribution."""

import numpy as np
import pytest
from scipy import stats

from ssvi.numerics.compile import kernel
from ssvi.numerics.poisson import poisson
from ssvi.numerics.random import derive_key


@kernel
def _draw(mean, state, out):
    for i in range(out.size):
        out[i], state = poisson(mean, state)


@pytest.mark.parametrize("mean", [1e-3, 0.3, 2.5, 9.9, 10.0, 47.3, 3_000.5])
def test_draws_have_their_distribution(mean):
    """A chi-squared test with cells of 10 or more expected; fails by chance once in 10^5 for each of 7 cases."""
    size = 100_000
    drawn = np.empty(size)
    _draw(mean, np.uint64(derive_key(0, "poisson", repr(mean))), drawn)
    top = int(mean + 12 * np.sqrt(mean) + 12)
    assert drawn.max() <= top
    expected = size * stats.poisson(mean).pmf(np.arange(top + 1))
    cells = np.unique(np.floor(np.cumsum(expected) / 10), return_inverse=True)[1]
    observed = np.bincount(cells, np.bincount(drawn.astype(int), minlength=top + 1))
    grouped = np.bincount(cells, expected)
    keep = grouped >= 5
    statistic = ((observed - grouped) ** 2 / grouped)[keep].sum()
    assert stats.chi2(max(1, keep.sum() - 1)).sf(statistic) > 1e-5


def test_extreme_means():
    for mean, outcome in ((0.0, 0.0), (np.nan, 0.0), (1e18, 1e18), (np.inf, np.inf)):
        assert poisson(mean, np.uint64(1))[0] == outcome
