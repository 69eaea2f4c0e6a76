"""A state in the hands of a callback, for every model: it can be kept, copied and pickled while the fit goes on."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest

from ssvi import engine
from ssvi.backends import Threads
from ssvi.files.models import estimators
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.base import LocalStep
from ssvi.models.base import Model
from ssvi.models.lda import LDA
from ssvi.registry import discover

MODELS = {name: kind.example() for name, kind in discover("ssvi.models", Model).items()}
MODELS["lda of one topic"] = LDA(30, np.full(1, 0.3), 0.1)


@pytest.fixture(params=sorted(MODELS))
def model(request):
    return MODELS[request.param]


def _states(model, keep, n_jobs=1):
    """Return what a callback makes of the states of a fit of 24 steps, by minibatches that lack some words."""
    _, data = model.simulate(np.random.default_rng(0), 60)
    kept = []
    with Threads(n_jobs) as backend:
        local_step = discover(f"ssvi.local_steps.{model.name}", LocalStep)["gibbs"]()
        problem = engine.Problem(model, local_step, SsviA(), population=60, backend=backend)
        start = engine.init(model, 1, data)
        engine.run(
            problem, start, data, sweeps=2, batch_size=5, callbacks=[lambda state, info: kept.append(keep(state))]
        )
    return kept


def _arrays(state):
    """Return a state with arrays of its own, each copied here and now."""
    parameters = {name: np.array(lam) for name, lam in state.parameters.items()}
    return replace(state, parameters=parameters, totals={name: np.array(sums) for name, sums in state.totals.items()})


WAYS = {
    "kept": lambda state: state,
    "pickled": pickle.dumps,
    "copied": copy.copy,
    "copied deeply": copy.deepcopy,
    "its parameters copied": lambda state: replace(state, parameters=copy.copy(state.parameters)),
}


@pytest.mark.parametrize("n_jobs", [1, 3])
@pytest.mark.parametrize("way", WAYS)
def test_a_state_stays_what_it_was(model, way, n_jobs, many_tasks):
    found = _states(model, WAYS[way], n_jobs)
    for state, wanted in zip(found, _states(model, _arrays), strict=True):
        state = pickle.loads(state) if isinstance(state, bytes) else state
        assert (state.seed, state.step, state.documents_seen) == (wanted.seed, wanted.step, wanted.documents_seen)
        for got, right in ((state.parameters, wanted.parameters), (state.totals, wanted.totals)):
            assert set(got) == set(right)
            for name in right:
                np.testing.assert_array_equal(got[name], right[name])


def test_what_comes_out_of_a_pickle_is_plain_and_goes_on(model):
    state = pickle.loads(_states(model, pickle.dumps)[3])
    assert type(state.parameters) is dict
    _, data = model.simulate(np.random.default_rng(0), 60)
    local_step = discover(f"ssvi.local_steps.{model.name}", LocalStep)["gibbs"]()
    problem = engine.Problem(model, local_step, SsviA(), population=60)
    end = engine.run(problem, state, data, sweeps=2, batch_size=5)
    for name, lam in _states(model, _arrays)[-1].parameters.items():
        np.testing.assert_array_equal(end.parameters[name], lam)


def test_another_thread_may_pickle_while_the_fit_goes_on(model):
    with ThreadPoolExecutor(3) as pool:
        found = [pickle.loads(job.result()) for job in _states(model, lambda state: pool.submit(pickle.dumps, state))]
    for state, wanted in zip(found, _states(model, _arrays), strict=True):
        for name, lam in wanted.parameters.items():
            np.testing.assert_array_equal(state.parameters[name], lam)


@pytest.mark.parametrize("kind", estimators().values(), ids=lambda kind: kind.__name__)
def test_callbacks_of_estimators_can_pickle(kind):
    pickles = []
    callback = [lambda state, info: pickles.append(pickle.dumps(state))]
    rows = np.random.default_rng(0).integers(0, 2, (40, 6))
    fitted = kind(3, max_iter=3, n_jobs=2, random_state=0, callbacks=callback).fit(rows)
    last = pickle.loads(pickles[-1])
    assert last.step == len(pickles) == fitted.n_batch_iter_
    for name, lam in fitted._state.parameters.items():
        np.testing.assert_array_equal(last.parameters[name], lam)
