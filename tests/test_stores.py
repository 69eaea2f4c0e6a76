"""A block held by columns against the same block held whole."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ssvi import engine, files
from ssvi.backends.threads import Threads
from ssvi.engine import Problem
from ssvi.global_steps.base import Clock
from ssvi.global_steps.map import Map
from ssvi.global_steps.mean_field import MeanField
from ssvi.global_steps.ssvi import Ssvi
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.models.base import Block
from ssvi.models.lda import LDA
from ssvi.schedules import PowerSchedule
from ssvi.stores import ColumnStore, WholeStore

CLOCK = Clock(10, 20)


def _stores():
    model = LDA(40, np.full(5, 0.2), 0.1)
    block = model.blocks()["topics"]
    lam = model.init(np.random.default_rng(0))["topics"]
    return ColumnStore(block, lam), WholeStore(block, lam)


@pytest.mark.parametrize("step", [Map(), MeanField()], ids=lambda step: step.name)
def test_steps_on_few_columns_move_a_block_as_steps_on_all_of_it(step):
    """The same products in the same order: equal to the last bit, whenever the columns left out catch up."""
    by_columns, whole = _stores()
    rng, backend = np.random.default_rng(1), Threads()
    for number in range(30):
        columns = np.sort(rng.choice(40, size=rng.integers(1, 7), replace=False))
        part, view = by_columns.view(step, columns, number, backend), whole.view(step, None, number, backend)
        np.testing.assert_allclose(part.stats.T, view[:, columns], rtol=1e-12)
        eta_hat = rng.poisson(2.0, (len(columns), 5))
        everywhere = np.zeros((5, 40))
        everywhere[:, columns] = eta_hat.T
        rho = 1.0 / (number + 2)
        by_columns.advance(step, eta_hat, 1.5, rho, CLOCK, backend)
        whole.advance(step, everywhere, 1.5, rho, CLOCK, backend)
        np.testing.assert_allclose(by_columns.totals, whole.lam().sum(axis=1), rtol=1e-12)
        if number % 7 == 0:
            assert_array_equal(by_columns.lam(), whole.lam())
    assert_array_equal(by_columns.lam(), whole.lam())


def test_a_step_of_size_one_forgets_the_columns_left_out():
    store, _ = _stores()
    store.view(Map(), np.array([3]), 0, Threads())
    store.advance(Map(), np.full((1, 5), 2.0), 1.0, 1.0, CLOCK, Threads())
    lam = store.lam()
    np.testing.assert_allclose(lam[:, 3], 2.1)
    np.testing.assert_allclose(np.delete(lam, 3, axis=1), 0.1)
    np.testing.assert_allclose(store.totals, lam.sum(axis=1))


def test_a_prior_may_differ_from_word_to_word():
    prior = np.random.default_rng(2).gamma(1.0, 1.0, (5, 40))
    block = Block(LDA(40, np.full(5, 0.2), 0.1).blocks()["topics"].family, prior, (5, 40))
    store = ColumnStore(block, np.ones((5, 40)))
    store.view(SsviA(), np.array([3, 9]), 0, Threads())
    store.advance(SsviA(), np.ones((2, 5)), 1.0, 0.5, CLOCK, Threads())
    expected = 0.5 + 0.5 * prior
    expected[:, [3, 9]] += 0.5
    np.testing.assert_allclose(store.lam(), expected)
    np.testing.assert_allclose(store.totals, expected.sum(axis=1))


def _problem(global_step):
    model = LDA(300, np.full(4, 0.2), 0.05)
    _, documents = model.simulate(np.random.default_rng(3), 60, length=8.0)  # few words in a minibatch of ten
    return Problem(model, Gibbs(), global_step, PowerSchedule(), len(documents)), documents


@pytest.mark.parametrize("global_step", [SsviA(), Ssvi(), MeanField()], ids=lambda step: step.name)
def test_a_state_that_was_saved_and_loaded_goes_on_bit_for_bit(global_step, tmp_path):
    problem, documents = _problem(global_step)
    kept = {}

    def keep(state, info):
        if info.step == 7:
            kept["state"] = state  # its arrays are made when the fit goes on

    start = engine.init(problem.model, 0)
    whole = engine.run(problem, start, documents, sweeps=3, batch_size=10, callbacks=[keep])
    files.save_state(kept["state"], tmp_path / "state.npz")
    resumed = engine.run(problem, files.load_state(tmp_path / "state.npz"), documents, sweeps=3, batch_size=10)
    assert_array_equal(resumed.parameters["topics"], whole.parameters["topics"])
    assert_array_equal(resumed.totals["topics"], whole.totals["topics"])


def test_states_that_callbacks_keep_stay_as_they_were():
    problem, documents = _problem(SsviA())
    kept, copies = [], []

    def keep(state, info):
        kept.append(state)
        if info.step % 2:
            copies.append((state.step, state.parameters["topics"].copy()))

    engine.run(problem, engine.init(problem.model, 0), documents, sweeps=1, batch_size=10, callbacks=[keep])
    assert [state.step for state in kept] == [1, 2, 3, 4, 5, 6]
    for number, lam in copies:
        assert_array_equal(kept[number - 1].parameters["topics"], lam)
    one = engine.init(problem.model, 0)
    for rows, state in zip(engine.minibatches(60, 10, 0, 0), kept, strict=True):
        one, _ = engine.step(problem, one, documents.take(rows))
        assert_array_equal(one.parameters["topics"], state.parameters["topics"])
        assert list(state.parameters) == ["topics"]
        assert len(state.parameters) == 1
