"""SSVI's correction by columns against the rows' own, its mean, and finite differences."""

import numpy as np
import pytest
from scipy import special

from ssvi import tasks
from ssvi.families.dirichlet import Dirichlet
from ssvi.families.draws import Draw
from ssvi.families.restricted import Others, Statistics
from ssvi.numerics.random import derive_keys


def _chosen(lam, columns):
    """Return lambda of some columns of a words x distributions array, the sum of the others, and a way to them."""
    others = np.delete(lam, columns, axis=0)
    return lam[columns], others.sum(axis=0), Others(len(others), lambda task: others[task])


def _correct(chosen, x, seed):
    """Return V x for the chosen words and the others, after a draw."""
    lam, rest, others = chosen
    family = Dirichlet().restricted(rest)
    draw = family.draw(lam, derive_keys(seed, family.streams(lam.shape)))
    correction = family.correction(lam, draw, Statistics(x / 2, 2.0), others)
    left_out = others.lam(slice(0, others.count))
    found = correction.of(slice(0, len(lam))).corrected(lam, draw, x)
    return draw, found, correction.of_others().corrected(left_out, draw, np.zeros_like(left_out))


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("small", [False, True], ids=["one task", "many tasks"])
def test_the_correction_of_all_words_is_that_of_the_rows(ties, small, monkeypatch):
    """Against the exact slopes of `Dirichlet`: their bound, and nothing more, may come between the two."""
    if small:
        monkeypatch.setattr(tasks, "_ELEMENTS_A_TASK", 6)
    rng = np.random.default_rng(1)
    lam = np.ascontiguousarray(rng.gamma(0.3, 5.0, (40, 3)) + 0.01)
    if ties:
        lam[7] = lam[21] = lam.max() + 1.0
    x = rng.poisson(0.7, lam.shape) * 3.0
    draw, found, _ = _correct(_chosen(lam, np.arange(40)), x, 2)
    rows = Dirichlet().natural_correction(lam.T, Draw(draw.stats.T, draw.hidden[0]), x.T).T
    np.testing.assert_allclose(found, rows, rtol=1e-3, atol=1e-4 * x.sum(axis=0).max())


@pytest.mark.parametrize("largest", [0, 9], ids=["the largest chosen", "the largest left out"])
def test_the_correction_of_some_words_has_mean_one(largest):
    """E[V] = I: V x has the mean x, and 0 for the words left out. 8,000 draws, 30 means, 5 errors: under 2e-5."""
    rng, n = np.random.default_rng(3), 8_000
    lam = rng.gamma(1.0, 2.0, (10, 3)) + 0.2
    lam[largest] += 10.0
    chosen = _chosen(np.tile(lam, (1, n)), np.array([0, 2, 3, 7]))
    x = rng.poisson(2.0, (4, 3)) + 0.5
    for found, expected in zip(_correct(chosen, np.tile(x, (1, n)), 0)[1:], (x, 0.0), strict=True):
        values = found.reshape(len(found), n, 3)
        assert len(np.unique(values[0, :, 0])) == n  # each distribution has a stream of its own
        assert np.all(np.abs(values.mean(axis=1) - expected) < 5 * values.std(axis=1) / np.sqrt(n))


def test_words_left_out_have_the_gradient_of_their_sum():
    """The slope of x . log beta in lambda of any word left out, by finite differences at fixed uniform numbers."""
    lam = np.random.default_rng(4).gamma(1.0, 2.0, (6, 1)) + 0.3
    chosen, x = _chosen(lam, np.array([1, 4])), np.array([[2.0], [5.0]])
    draw, found, others = _correct(chosen, x, 5)
    gammas = np.append(np.exp(draw.stats[:, 0] + draw.hidden[0]), np.exp(draw.hidden[1]))
    shapes = np.append(chosen[0][:, 0], chosen[1])
    uniforms = special.gammainc(shapes, gammas)

    def value(move):
        moved = special.gammaincinv(shapes + move, uniforms)
        return (x[:, 0] * np.log(moved[:2] / moved.sum())).sum()

    step = 1e-5
    slopes = [(value(step * unit) - value(-step * unit)) / (2 * step) for unit in np.eye(3)]
    gradient = np.array([slopes[2], slopes[0], slopes[2], slopes[2], slopes[1], slopes[2]])
    fisher = np.diag(special.polygamma(1, lam[:, 0])) - special.polygamma(1, lam.sum())
    natural = np.linalg.solve(fisher, gradient)
    np.testing.assert_allclose(found[:, 0], natural[[1, 4]], rtol=1e-3)
    np.testing.assert_allclose(others[:, 0], natural[[0, 2, 3, 5]], rtol=1e-3)


def test_one_word_has_nothing_to_learn_by_columns():
    _, found, _ = _correct(_chosen(np.array([[2.0, 0.5]]), np.array([0])), np.array([[3.0, 1.0]]), 2)
    np.testing.assert_allclose(found, 0.0, atol=1e-12)
