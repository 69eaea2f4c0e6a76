"""One suite for every local step of every model: found by being there, fed by the model's own simulation."""

import numpy as np
import pytest

from ssvi import engine
from ssvi.backends import Threads
from ssvi.global_steps.base import GlobalStep
from ssvi.local_steps.base import LocalStep
from ssvi.models.base import Model
from ssvi.numerics.random import derive_keys
from ssvi.registry import discover
from ssvi.schedules import PowerSchedule

GLOBAL_STEPS = discover("ssvi.global_steps", GlobalStep)
MODELS = discover("ssvi.models", Model)
LOCAL_STEPS = [(model, step) for model in MODELS for step in discover(f"ssvi.local_steps.{model}", LocalStep).values()]


@pytest.fixture(params=LOCAL_STEPS, ids=lambda pair: f"{pair[0]}-{pair[1].name}")
def setting(request):
    name, step = request.param
    model = MODELS[name].example()
    _, documents = model.simulate(np.random.default_rng(0), 300)
    start = model.init(np.random.default_rng(1))
    views = {block: spec.family.mean_stats(start[block]) for block, spec in model.blocks().items()}
    return model, step(), views, documents


def _assert_local(compare, first, second, **tolerances):
    assert first.keys() == second.keys()
    assert first
    for name in first:
        compare(first[name], second[name], **tolerances)


def test_the_step_knows_its_model(setting):
    model, step, _, _ = setting
    assert step.model == model.name


def test_the_result_does_not_depend_on_the_number_of_threads(setting):
    model, step, views, documents = setting
    keys = derive_keys(1, len(documents))
    results = []
    for n_jobs in (1, 2, 4):
        with Threads(n_jobs) as backend:
            results.append(backend.map_reduce(step, model, views, documents, keys))
    for other in results[1:]:
        for block in model.blocks():
            np.testing.assert_array_equal(results[0].eta_hat[block], other.eta_hat[block])
        _assert_local(np.testing.assert_array_equal, results[0].local, other.local)
        assert results[0].bound == other.bound


def test_statistics_are_additive_over_documents(setting):
    model, step, views, documents = setting
    keys = derive_keys(1, len(documents))
    backend = Threads()
    whole = backend.map_reduce(step, model, views, documents, keys)
    parts = [
        backend.map_reduce(step, model, views, documents.slice(a, b), keys[a:b])
        for a, b in ((0, 1), (1, 140), (140, 300))
    ]
    for block, spec in model.blocks().items():
        assert whole.eta_hat[block].shape == spec.shape
        total = sum(part.eta_hat[block] for part in parts)
        np.testing.assert_allclose(whole.eta_hat[block], total, rtol=1e-4, atol=1e-5)
    together = {name: np.concatenate([part.local[name] for part in parts]) for name in whole.local}
    _assert_local(np.testing.assert_allclose, whole.local, together, rtol=1e-5, atol=1e-7)


def test_map_local_is_map_reduce_without_the_sum(setting):
    model, step, views, documents = setting
    keys = derive_keys(1, len(documents))
    result = Threads().map_reduce(step, model, views, documents, keys)
    alone = Threads().map_local(step, model, views, documents, keys)
    _assert_local(np.testing.assert_array_equal, alone, result.local)


def test_statistics_are_the_same_whether_or_not_anything_else_is_wanted(setting):
    model, step, views, documents = setting
    keys = derive_keys(1, len(documents))
    whole = Threads().map_reduce(step, model, views, documents, keys)
    for n_jobs in (1, 2):
        with Threads(n_jobs) as backend:
            alone = backend.map_reduce(step, model, views, documents, keys, want_local=False)
        for block in model.blocks():
            np.testing.assert_array_equal(alone.eta_hat[block], whole.eta_hat[block])


@pytest.mark.parametrize("global_step", sorted(GLOBAL_STEPS))
def test_every_global_step_drives_it(setting, global_step):
    """All pairs run on one code path, move, and stay inside the domain."""
    model, step, _, documents = setting
    problem = engine.Problem(
        model, step, GLOBAL_STEPS[global_step](), PowerSchedule(0.6, 1.0), population=len(documents)
    )
    start = engine.init(model, seed=0)
    end = engine.run(problem, start, documents, sweeps=5, batch_size=50)
    assert end.step == 30
    for name, block in model.blocks().items():
        assert block.family.in_domain(end.parameters[name]).all()
        assert not np.allclose(end.parameters[name], start.parameters[name])
