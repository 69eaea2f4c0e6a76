"""Ranks of the truth: uniform under an exact posterior, and found out where a posterior is too narrow or leans."""

import numpy as np
import pytest

from ssvi.evaluation import calibration

N_DRAWS = 99


def _conjugate(rng, width, shift=0.0, data_sets=200, functions=8):
    """Ranks of normal means of known prior and data: the exact posterior, its deviation multiplied by `width`.

    The functions of a data set are the same mean seen with a little noise: they depend on each other, as those of a
    model do.
    """
    histograms, inside = [], []
    for _ in range(data_sets):
        truth = rng.normal() + 0.1 * rng.normal(size=functions)
        data = truth.mean() + 0.5 * rng.normal(size=6)
        prior_precision, precision = 1.0 / (1.0 + 0.01 / functions), 6 / 0.25
        variance = 1.0 / (prior_precision + precision)
        mean = variance * precision * data.mean() + shift * np.sqrt(variance)
        # Given the mean of the functions, each is off it by noise that the data tell nothing about.
        around = rng.normal(size=(N_DRAWS, functions)) * 0.1
        around -= around.mean(axis=1, keepdims=True)
        draws = mean + width * (np.sqrt(variance) * rng.normal(size=(N_DRAWS, 1)) + around)
        ranks = calibration.ranks_of(truth, draws, rng)
        histograms.append(calibration.rank_histogram(ranks, N_DRAWS))
        inside.append(calibration.covered(ranks, N_DRAWS, 0.9).mean())
    return calibration.uniformity(histograms), np.mean(inside), np.std(inside) / np.sqrt(data_sets)


def test_an_exact_posterior_passes():
    """p is below 0.001 once in a thousand; coverage is within four standard errors but for once in 10^4."""
    found, coverage, error = _conjugate(np.random.default_rng(0), width=1.0)
    assert found.p_value > 0.001
    assert abs(coverage - 0.9) < 4 * error
    assert found.deviation < 0.1


@pytest.mark.parametrize(("width", "shift"), [(0.6, 0.0), (1.8, 0.0), (1.0, 0.8)])
def test_one_that_is_too_narrow_too_wide_or_leans_fails(width, shift):
    found, coverage, error = _conjugate(np.random.default_rng(1), width, shift)
    assert found.p_value < 0.001
    if width != 1.0:
        assert np.sign(coverage - 0.9) == np.sign(width - 1.0)
        assert abs(coverage - 0.9) > 4 * error


def test_uniform_ranks_that_depend_on_each_other_are_rarely_rejected():
    """Of 200 experiments with level 0.05 fewer than 23 reject; a binomial number of mean 10 is larger once in 10^4."""
    rng = np.random.default_rng(2)
    values = [_conjugate(rng, 1.0, data_sets=40, functions=4)[0].p_value for _ in range(200)]
    assert np.count_nonzero(np.array(values) <= 0.05) < 23


@pytest.mark.parametrize("level", calibration.LEVELS)
def test_intervals_leave_out_as_many_ranks_as_they_should(level):
    for n_draws in (19, 39, 99):
        assert calibration.suits(n_draws)
        assert calibration.covered(np.arange(n_draws + 1), n_draws, level).mean() == pytest.approx(level)


def test_widths_are_those_of_the_intervals_that_cover():
    rng = np.random.default_rng(3)
    draws = rng.normal(size=(N_DRAWS, 1))
    ends = np.sort(draws[:, 0])[[4, 94]]
    assert calibration.interval_widths(draws, 0.9) == pytest.approx(ends[1] - ends[0])
    for truth, inside in [(ends[0] - 1e-9, False), (ends[0] + 1e-9, True), (ends[1] - 1e-9, True), (9.0, False)]:
        ranks = calibration.ranks_of(np.array([truth]), draws, rng)
        assert calibration.covered(ranks, N_DRAWS, 0.9)[0] == inside


def test_ties_are_broken_at_random():
    """20,000 ranks among 19 draws that equal the truth: 20 shares of 0.05, each within 5 standard errors."""
    ranks = calibration.ranks_of(np.zeros(20_000), np.zeros((19, 20_000)), np.random.default_rng(4))
    shares = np.bincount(ranks, minlength=20) / 20_000
    assert len(shares) == 20
    assert np.abs(shares - 0.05).max() < 5 * np.sqrt(0.05 * 0.95 / 20_000)


def test_every_rank_has_its_bin():
    histogram = calibration.rank_histogram(np.arange(100), 99)
    np.testing.assert_array_equal(histogram, np.full(calibration.BINS, 5))
    assert calibration.uniformity([histogram, histogram]) == calibration.Uniformity(0.0, 1.0)
