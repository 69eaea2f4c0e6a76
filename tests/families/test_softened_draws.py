"""Draws that stand at the mean where gamma shapes are small."""

import numpy as np
import pytest

from ssvi import tasks
from ssvi.families.dirichlet import Dirichlet
from ssvi.families.draws import SELDOM, Draw
from ssvi.families.gaussian import Gaussian
from ssvi.families.restricted import Others, Statistics
from ssvi.global_steps.base import Clock
from ssvi.global_steps.ssvi import Ssvi
from ssvi.models.base import Block
from ssvi.numerics.random import derive_keys
from ssvi.stores import CoordinateStore, Update

SOFTENING = 1.0
LAM = np.random.default_rng(0).gamma(0.4, 3.0, (3, 12)) + 0.01  # three distributions over twelve words
SMALL = LAM < SELDOM * SOFTENING
X = np.random.default_rng(1).poisson(2.0, LAM.shape).astype(float)


def test_the_data_of_these_tests_has_small_and_large_shapes():
    assert 0.2 < SMALL.mean() < 0.8


def _columns(chosen):
    rest = np.zeros(3) if len(chosen) == 12 else LAM.sum(axis=1) - LAM[:, chosen].sum(axis=1)
    return np.ascontiguousarray(LAM[:, chosen].T), Dirichlet().restricted(rest)


@pytest.mark.parametrize("form", ["rows", "columns"])
def test_small_shapes_stand_at_their_means_and_others_are_drawn_in(form, monkeypatch):
    monkeypatch.setattr(tasks, "_ELEMENTS_A_TASK", 6)
    if form == "rows":
        seen, draw = Dirichlet().softened_draw(LAM, derive_keys(3, 3), SOFTENING)
        drawn, log_totals = draw.stats, draw.hidden
    else:
        lam, family = _columns(np.arange(12))
        seen, draw = family.softened_draw(lam, derive_keys(3, family.streams(lam.shape)), SOFTENING)
        seen, drawn, log_totals = seen.T, draw.stats.T, draw.hidden[0]
    mean = np.log(LAM / LAM.sum(axis=1, keepdims=True))
    np.testing.assert_allclose(seen[SMALL], mean[SMALL], rtol=1e-6)
    share = LAM / (LAM + SOFTENING)
    np.testing.assert_allclose(seen[~SMALL], (mean + share * (drawn - mean))[~SMALL], rtol=1e-6)
    assert np.abs(seen - mean)[~SMALL].min() > 1e-4
    np.testing.assert_allclose(np.exp(drawn).sum(axis=1), 1.0, rtol=1e-6)
    np.testing.assert_allclose((drawn + log_totals[:, None])[SMALL], np.log(LAM)[SMALL], rtol=1e-6)


def test_gammas_that_are_drawn_have_their_distribution():
    """4,000 draws of each: means of the gamma variables to 5 standard errors, 20 of them (failure chance 1e-5)."""
    lam, family = _columns(np.arange(12))
    count = family.streams(lam.shape)
    found = [family.softened_draw(lam, derive_keys(n, count), SOFTENING)[1] for n in range(4_000)]
    gammas = np.exp([draw.stats + draw.hidden[0] for draw in found])
    error = np.sqrt(lam / len(gammas))
    large = lam >= SELDOM * SOFTENING
    assert np.all(np.abs(gammas.mean(axis=0) - lam)[large] < 5 * error[large])


def test_the_correction_keeps_its_mean_and_spares_what_was_not_drawn():
    """V x has the mean x to 5 standard errors in 6,000 draws (36 values: failure chance 2e-5)."""
    step = Ssvi(softening=0.0, correction_sweeps=0.0, draw_softening=SOFTENING)
    targets = []
    for n in range(6_000):
        view = step.view(Dirichlet(), LAM, derive_keys(n, 3))
        targets.append(step.target(Dirichlet(), np.zeros_like(LAM), LAM, view, X, Clock(10, 10)))
    targets = np.array(targets)
    np.testing.assert_allclose(targets[:, SMALL], np.broadcast_to(X[SMALL], targets[:, SMALL].shape), rtol=1e-12)
    error = targets.std(axis=0) / np.sqrt(len(targets))
    # beta is normalised with means in place of some gammas, which shifts V a little: 4% of the counts at
    # most (without the mean of g for words that were not drawn it is a multiple of that).
    assert np.all(np.abs(targets.mean(axis=0) - X)[~SMALL] < (5 * error + 0.04 * X.sum(axis=1, keepdims=True))[~SMALL])


def test_columns_correct_as_rows_do():
    lam, family = _columns(np.arange(12))
    _, draw = family.softened_draw(lam, derive_keys(9, family.streams(lam.shape)), SOFTENING)
    others = Others(0, lambda task: np.zeros((0, 3)))
    correction = family.correction(lam, draw, Statistics(np.ascontiguousarray(X.T)), others)
    found = correction.of(slice(0, 12)).corrected(lam, draw, X.T, 1.0, 0.3)
    rows = type(draw)(np.ascontiguousarray(draw.stats.T), draw.hidden[0], draw.least)
    wanted = Dirichlet().corrected(LAM, rows, X, 1.0, 0.3)
    np.testing.assert_allclose(found.T, wanted, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(found.T[SMALL], X[SMALL])


def test_others_count_as_one_word_that_has_their_sum():
    """A store moves the chosen words as those of a Dirichlet with one word more, by the plain formulas of rows.

    What the others add up to was drawn, so x is corrected there too, but nobody asks for it: words that are not in a
    minibatch shrink towards eta, each when it is looked at.
    """
    chosen, eta, rho, x = np.array([0, 2, 3, 7, 11]), 0.1, 0.25, X[:, [0, 2, 3, 7, 11]]
    step = Ssvi(correction_sweeps=0.0, draw_softening=SOFTENING)
    store = CoordinateStore(Block(Dirichlet(), np.full((1, 1), eta), LAM.shape), LAM)
    store.view(step, chosen, 9, map)
    draw = store._view.draw
    store.advance(Update(step, rho, Clock(10, 10), map), Statistics(np.ascontiguousarray(x.T)))
    rest = np.delete(LAM, chosen, axis=1).sum(axis=1)
    lam, seen = np.column_stack([LAM[:, chosen], rest]), np.column_stack([x, np.zeros(3)])
    stats = np.column_stack([draw.stats.T, draw.hidden[1] - draw.hidden[0]])
    target = eta + Dirichlet().corrected(lam, Draw(stats, draw.hidden[0], draw.least), seen, 1.0, step.softening)
    wanted = np.maximum((1.0 - rho) * lam + rho * target, np.maximum(lam / 2, eta))[:, :-1]
    np.testing.assert_allclose(store.lam()[:, chosen], wanted, rtol=1e-6)
    left = np.delete(np.arange(12), chosen)
    np.testing.assert_allclose(store.lam()[:, left], (1.0 - rho) * LAM[:, left] + rho * eta, rtol=1e-12)
    np.testing.assert_allclose(store.totals, store.lam().sum(axis=1), rtol=1e-12)


def test_a_family_without_gamma_shapes_is_drawn_as_it_is():
    lam = Gaussian().examples(np.random.default_rng(0))
    keys = derive_keys(1, len(lam))
    seen, draw = Gaussian().softened_draw(lam, keys, SOFTENING)
    np.testing.assert_allclose(seen, Gaussian().draw(lam, keys).stats)
    assert draw.least == 0.0
