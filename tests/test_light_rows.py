"""SSVI on a large vocabulary: words too small to be corrected wait, and nothing else changes."""

import numpy as np
import pytest
from scipy import special

from ssvi.families.restricted import Statistics
from ssvi.global_steps.base import Clock
from ssvi.global_steps.ssvi import Ssvi
from ssvi.models.base import Block
from ssvi.models.lda import LDA
from ssvi.stores import CoordinateStore, PutOff, Update, coordinates
from ssvi.stores.light import MOST, curvature

STEP = Ssvi(draw_softening=1.0, correction_sweeps=0.0, averaging=2.0)
SHAPE = (5, 400)
MODEL = LDA(SHAPE[1], np.full(SHAPE[0], 0.2), 0.01)


def new_store(lam=None, totals=None, average=None):
    lam = MODEL.init(np.random.default_rng(0))["topics"] if lam is None else lam
    return CoordinateStore(MODEL.blocks()["topics"], lam, totals, lam if average is None else average)


def advance(store, first, last, each=map):
    """Take some steps, with statistics that follow from their numbers; most words come seldom."""
    for number in range(first, last):
        rng = np.random.default_rng(number)
        words = np.unique((SHAPE[1] * rng.random(20) ** 4).astype(int))
        store.view(STEP, words, number, each)
        eta_hat = Statistics(rng.poisson(0.5, (len(words), SHAPE[0])), 8.0)
        store.advance(Update(STEP, (number + 2) ** -0.4, Clock(10, 20), each, 3.0 / (number + 3)), eta_hat)
    return store


@pytest.fixture
def put_off(monkeypatch):
    monkeypatch.setattr(coordinates, "LARGE", 0)


def test_the_polynomial_is_the_inverse_curvature():
    for limit in (0.01, 0.1, MOST):
        u = np.linspace(1e-3, 1.0, 1000)
        found = np.polynomial.Polynomial(curvature(limit))(u)
        np.testing.assert_allclose(found, 1.0 / special.polygamma(1, limit * u), rtol=2e-9)


def test_lambda_is_that_of_steps_that_move_every_word(monkeypatch):
    exact = advance(new_store(), 0, 150)
    monkeypatch.setattr(coordinates, "LARGE", 0)
    looked, look_at = [], PutOff.look_at
    monkeypatch.setattr(PutOff, "look_at", lambda self, rows: looked.append(len(rows)) or look_at(self, rows))
    store = advance(new_store(), 0, 150)
    # Others are looked at three times in a step; all of them would be some 400 words each time.
    assert sum(looked) < 0.5 * 150 * 3 * SHAPE[1]
    np.testing.assert_allclose(store.lam(), exact.lam(), rtol=1e-8)
    np.testing.assert_allclose(store.average(), exact.average(), rtol=1e-8)
    np.testing.assert_allclose(store.totals[0], store.lam().sum(axis=1), rtol=1e-12)


def test_sums_of_powers_do_not_drift(put_off):
    store = advance(new_store(), 0, 300)
    lam = store.lam()
    light = lam[:, (lam < MOST).all(axis=0)]
    assert 100 < light.shape[1] < SHAPE[1]
    for power, sums in enumerate(store.totals[1:]):
        np.testing.assert_allclose(sums, ((light / MOST) ** power).sum(axis=1), rtol=1e-9)


def test_a_fit_that_is_taken_up_again_has_the_same_bits(put_off):
    store = advance(new_store(), 0, 40)
    again = advance(new_store(store.lam(), store.totals, store.average()), 40, 60)
    store = advance(store, 40, 60, each=lambda function, tasks: [function(task) for task in reversed(tasks)][::-1])
    np.testing.assert_array_equal(again.lam(), store.lam())
    np.testing.assert_array_equal(again.totals, store.totals)


def test_a_prior_that_differs_from_word_to_word_is_corrected_word_by_word(put_off):
    prior = np.random.default_rng(2).gamma(1.0, 0.1, SHAPE)
    store = advance(CoordinateStore(Block(MODEL.blocks()["topics"].family, prior, SHAPE), np.ones(SHAPE)), 0, 3)
    assert store.totals.shape == SHAPE[:1]
