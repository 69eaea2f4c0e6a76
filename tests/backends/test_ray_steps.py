"""Every local step through the tasks of the Ray backend, which run in this process: what is sent is really packed."""

from types import SimpleNamespace

import pytest
from tests.backends.bits import assert_bits_of_threads

from ssvi.backends import ray_tasks
from ssvi.local_steps.base import LocalStep
from ssvi.models.base import Model
from ssvi.registry import discover
from ssvi.testing.settings import Setting

ray = pytest.importorskip("ray")

MODELS = discover("ssvi.models", Model)
STEPS = [(name, step) for name in MODELS for step in discover(f"ssvi.local_steps.{name}", LocalStep).values()]


@pytest.fixture
def backend(monkeypatch):
    """The backend with a Ray of two processors that does at once, here, what it is told to do elsewhere."""
    from ray import cloudpickle

    from ssvi.backends.on_ray import Ray

    def sent(value):
        return cloudpickle.loads(cloudpickle.dumps(value))

    stand_in = SimpleNamespace(
        exceptions=ray.exceptions, put=sent, get=list, wait=lambda references, **_: (references, []),
        cluster_resources=lambda: {"CPU": 2.0},
    )  # fmt: skip
    monkeypatch.setattr("ssvi.backends.on_ray.connect", lambda *_: stand_in)
    for name in ("block", "merge"):
        function = getattr(ray_tasks, f"_{name}")
        where = f"ssvi.backends.on_ray.{'run' if name == 'block' else 'merge'}_remotely"
        monkeypatch.setattr(where, lambda *given, function=function: sent(function(*sent(given))))
    monkeypatch.setattr(ray_tasks, "threadpool_limits", lambda _: None)  # this process is no worker
    monkeypatch.setattr(ray_tasks, "_unpacked", [])
    return Ray(1)


@pytest.mark.parametrize("pair", STEPS, ids=lambda pair: f"{pair[0]}-{pair[1].name}")
def test_tasks_find_the_bits_of_threads(backend, pair, many_tasks, monkeypatch):
    name, step = pair
    assert_bits_of_threads(backend, Setting(step(), MODELS[name].example(), seed=0), monkeypatch)
