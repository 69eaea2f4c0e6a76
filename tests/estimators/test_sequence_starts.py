import numpy as np
import pytest

from ssvi import FactorialHMM, HiddenMarkovModel, LinearDynamicalSystem
from ssvi.backends import Threads
from ssvi.batches import Sequences
from ssvi.estimators.lds_starts import settled_dynamics
from ssvi.estimators.sequence_starts import some_of
from ssvi.evaluation.lds import log_probabilities
from ssvi.global_steps.ssvi import Ssvi
from ssvi.models.lds import LDS

ESTIMATORS = (HiddenMarkovModel, FactorialHMM, LinearDynamicalSystem)


@pytest.fixture(scope="module")
def turns():
    t, rng = np.arange(120), np.random.default_rng(0)
    rows = np.stack([np.sin(t / 5), np.cos(t / 5), np.sin(t / 5 + 1)], axis=1) + rng.normal(size=(120, 3))
    return Sequences.from_lengths(rows / rows.std(axis=0), [50, 40, 30])


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_steps_that_draw_and_see_all_data_average_over_the_path(kind, turns):
    model = kind(2, max_iter=4, random_state=0, verbose=0).fit(turns.values, turns.costs())
    assert set(model._state.averages) == set(model._state.parameters)
    assert any(not np.array_equal(model._state.averages[name], lam) for name, lam in model._state.parameters.items())
    for other in ("mean_field", Ssvi()):
        model.set_params(global_step=other).fit(turns.values, turns.costs())
        assert not model._state.averages


def test_some_sequences_have_no_more_time_points_than_asked_for(turns):
    assert some_of(turns, 0, 90).costs().sum() <= 90
    assert len(some_of(turns, 0, 5)) == 1
    np.testing.assert_array_equal(some_of(turns, 0, 1_000).values, turns.values)


def test_settled_dynamics_explain_more_than_their_start(turns):
    model, backend = LDS(3, 2), Threads()
    start = model.start(turns, np.random.default_rng(0))
    found = settled_dynamics(model, turns, 0, start, backend)

    def log_probability(lam):
        views = {name: block.family.mode_stats(lam[name]) for name, block in model.blocks().items()}
        return log_probabilities(model, views, turns, backend).sum()

    assert log_probability(found) > log_probability(start) + 1.0
