"""Blocks held in parts against the same blocks held whole."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from ssvi import engine, files
from ssvi.batches import minibatches
from ssvi.engine import Problem
from ssvi.families.dirichlet import Dirichlet
from ssvi.families.gamma import Gamma
from ssvi.families.gaussian import Gaussian
from ssvi.families.restricted import Statistics
from ssvi.global_steps.base import Clock
from ssvi.global_steps.map import Map
from ssvi.global_steps.mean_field import MeanField
from ssvi.global_steps.ssvi import Ssvi
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.models.base import Block
from ssvi.models.lda import LDA
from ssvi.schedules import PowerSchedule
from ssvi.stores import CoordinateStore, RowStore, Update, WholeStore, make_store

CLOCK = Clock(10, 20)


def _update(step, rho):
    return Update(step, rho, CLOCK, map)


def _stores():
    model = LDA(40, np.full(5, 0.2), 0.1)
    block = model.blocks()["topics"]
    lam = model.init(np.random.default_rng(0))["topics"]
    return CoordinateStore(block, lam), WholeStore(block, lam)


@pytest.mark.parametrize("step", [Map(), MeanField()], ids=lambda step: step.name)
def test_steps_on_few_columns_move_a_block_as_steps_on_all_of_it(step):
    """The same products in the same order: equal to the last bit, whenever the columns left out catch up."""
    by_columns, whole = _stores()
    rng = np.random.default_rng(1)
    for number in range(30):
        columns = np.sort(rng.choice(40, size=rng.integers(1, 7), replace=False))
        part, view = by_columns.view(step, columns, number, map), whole.view(step, None, number, map)
        np.testing.assert_allclose(part.stats.T, view[:, columns], rtol=1e-12)
        eta_hat = rng.poisson(2.0, (len(columns), 5))
        rho = 1.0 / (number + 2)
        by_columns.advance(_update(step, rho), Statistics(eta_hat, 1.5))
        whole.advance(_update(step, rho), Statistics(part.put_back(eta_hat, (5, 40)), 1.5))
        np.testing.assert_allclose(by_columns.totals, whole.lam().sum(axis=1), rtol=1e-12)
        if number % 7 == 0:
            assert_array_equal(by_columns.lam(), whole.lam())
    assert_array_equal(by_columns.lam(), whole.lam())


def test_a_step_of_size_one_forgets_the_columns_left_out():
    store, _ = _stores()
    store.view(Map(), np.array([3]), 0, map)
    store.advance(_update(Map(), 1.0), Statistics(np.full((1, 5), 2.0)))
    lam = store.lam()
    np.testing.assert_allclose(lam[:, 3], 2.1)
    np.testing.assert_allclose(np.delete(lam, 3, axis=1), 0.1)
    np.testing.assert_allclose(store.totals, lam.sum(axis=1))


def test_a_prior_may_differ_from_word_to_word():
    prior = np.random.default_rng(2).gamma(1.0, 1.0, (5, 40))
    store = CoordinateStore(Block(Dirichlet(), prior, (5, 40)), np.ones((5, 40)))
    store.view(SsviA(), np.array([3, 9]), 0, map)
    store.advance(_update(SsviA(), 0.5), Statistics(np.ones((2, 5))))
    expected = 0.5 + 0.5 * prior
    expected[:, [3, 9]] += 0.5
    np.testing.assert_allclose(store.lam(), expected)
    np.testing.assert_allclose(store.totals, expected.sum(axis=1))


GLOBAL_STEPS = [Map(), MeanField(), SsviA(), Ssvi(softening=0.2, correction_sweeps=0)]
ROW_BLOCKS = {
    "gamma": Block(Gamma(), np.array([0.3, 0.7]), (12, 4, 2)),
    "gaussian": Block(Gaussian(), np.random.default_rng(3).gamma(1.0, 1.0, (12, 1, 2)), (12, 3, 2)),
    "dirichlet": Block(Dirichlet(), np.array([0.2]), (12, 5)),
}


# With a location SSVI's noise is not 0 in rows without statistics, unless these are put off: equal on average only.
ROW_PAIRS = [
    (step, name) for step in GLOBAL_STEPS for name in ROW_BLOCKS
    if not (step.corrects and ROW_BLOCKS[name].family.has_location)
]  # fmt: skip


@pytest.mark.parametrize(("step", "name"), ROW_PAIRS, ids=lambda value: getattr(value, "name", value))
def test_steps_on_few_rows_move_a_block_as_steps_on_all_of_it(step, name):
    """Any family, any step: rows that were put off have the bits of rows that moved towards their prior at once.

    (A step that corrects is guarded, and the guard lifts a row that reaches its prior by its last bit.)
    """
    block, rng = ROW_BLOCKS[name], np.random.default_rng(4)
    start = rng.gamma(2.0, 1.0, block.shape) + 0.5
    by_rows, whole = RowStore(block, start), WholeStore(block, start)
    error = 1e-12 if step.corrects else 0.0
    for number in range(25):
        rows = np.sort(rng.choice(12, size=rng.integers(0, 5), replace=False))
        part, view = by_rows.view(step, rows, number, map), whole.view(step, None, number, map)
        np.testing.assert_allclose(part.stats, view[rows], rtol=error)
        eta_hat = rng.gamma(1.0, 1.0, part.stats.shape)
        rho = 1.0 / (number + 2)
        by_rows.advance(_update(step, rho), Statistics(eta_hat, 1.5))
        whole.advance(_update(step, rho), Statistics(part.put_back(eta_hat, block.shape), 1.5))
        assert by_rows.is_finite()
        if number % 7 == 0:
            np.testing.assert_allclose(by_rows.lam(), whole.lam(), rtol=error)
    np.testing.assert_allclose(by_rows.lam(), whole.lam(), rtol=error)


@pytest.mark.parametrize("axis", ["rows", "coordinates"])
@pytest.mark.parametrize("step", [SsviA(averaging=3.0), Ssvi(averaging=1.0)], ids=lambda step: step.name)
def test_averages_over_the_path_follow_what_is_put_off(axis, step):
    """avg_t = sum_s w_s lambda_s with w_s as the rising factorial of s: about in proportion to s^p."""
    block, rng = Block(Dirichlet(), np.array([0.5]), (4, 6)), np.random.default_rng(6)
    store, path = make_store(block, np.ones((4, 6)), None, axis, step), []
    for number in range(1, 9):
        touched = np.sort(rng.choice(4, 2, replace=False))
        part = store.view(step, touched, number, map)
        update = Update(step, 1.0 / (number + 1), CLOCK, map, step.average_weight(number))
        store.advance(update, Statistics(rng.gamma(1.0, 1.0, part.stats.shape)))
        path.append(store.lam() if number % 3 == 0 else None)
    # The same path again, looked at in every step.
    again, rng, lams = make_store(block, np.ones((4, 6)), None, axis, step), np.random.default_rng(6), []
    for number in range(1, 9):
        touched = np.sort(rng.choice(4, 2, replace=False))
        part = again.view(step, touched, number, map)
        update = Update(step, 1.0 / (number + 1), CLOCK, map, step.average_weight(number))
        again.advance(update, Statistics(rng.gamma(1.0, 1.0, part.stats.shape)))
        lams.append(again.lam())
    weights = np.cumprod([1.0, *((s + step.averaging) / s for s in range(1, 8))])
    expected = np.tensordot(weights / weights.sum(), np.array(lams), 1)
    np.testing.assert_allclose(again.average(), expected, rtol=1e-12)
    assert_array_equal(store.average(), again.average())
    assert_array_equal(store.lam(), again.lam())


@pytest.mark.parametrize("axis", ["rows", "coordinates"])
def test_what_was_put_off_catches_up_under_the_prior_of_its_time(axis):
    """eta changes after two steps: the steps before go by the old one."""
    block = Block(Dirichlet(), np.array([0.5]), (4, 6))
    store = make_store(block, np.ones((4, 6)), None, axis, MeanField())
    for prior in (None, None, np.full((1, 6), 2.0), None):
        store.view(MeanField(), np.array([1]), 0, map)
        if prior is not None:
            store.set_prior(prior)
        store.advance(_update(MeanField(), 0.25), Statistics(np.zeros((1, 6 if axis == "rows" else 4))))
    expected = 1.0
    for eta in (0.5, 0.5, 2.0, 2.0):
        expected = 0.75 * expected + 0.25 * eta
    np.testing.assert_allclose(store.lam(), expected)
    if axis == "coordinates":
        np.testing.assert_allclose(store.totals, 6 * expected)


def test_a_family_without_sums_of_its_own_cannot_be_held_by_coordinates():
    with pytest.raises(TypeError, match="cannot be held by coordinates"):
        make_store(Block(Gamma(), np.ones(2), (3, 2)), np.ones((3, 2)), None, "coordinates", SsviA())


def test_a_step_that_has_to_see_everything_does():
    block = Block(Dirichlet(), np.array([0.5]), (4, 6))
    for axis in ("rows", "coordinates"):
        store = make_store(block, np.ones((4, 6)), None, axis, Ssvi(control_variate=True))
        assert isinstance(store, WholeStore)


def test_a_step_with_a_target_of_its_own_sees_everything_unless_it_says_otherwise():
    class Halfway(SsviA):
        def target(self, family, prior, lam, view, eta_hat, clock):
            return 0.5 * (lam + prior + eta_hat)

    assert Halfway().sees_everything
    assert not SsviA().sees_everything
    assert not Ssvi().sees_everything


def _problem(global_step):
    model = LDA(300, np.full(4, 0.2), 0.05)
    _, documents = model.simulate(np.random.default_rng(3), 60, length=8.0)  # few words in a minibatch of ten
    return Problem(model, Gibbs(), global_step, PowerSchedule(), len(documents)), documents


SOFTENED = Ssvi(averaging=7.0, warm_sweeps=1.0, draw_softening=1.0)
STEPS = {"ssvi_a": SsviA(), "ssvi": Ssvi(averaging=7.0), "softened": SOFTENED, "mean_field": MeanField()}


@pytest.mark.parametrize("global_step", STEPS.values(), ids=STEPS)
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
    assert_array_equal(resumed.estimate["topics"], whole.estimate["topics"])
    assert (whole.estimate is whole.averages) == (global_step.averaging > 0)


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
    for rows, state in zip(minibatches(60, 10, 0, 0), kept, strict=True):
        one, _ = engine.step(problem, one, documents.take(rows))
        assert_array_equal(one.parameters["topics"], state.parameters["topics"])
        assert list(state.parameters) == ["topics"]
        assert len(state.parameters) == 1
