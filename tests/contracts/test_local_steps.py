"""One suite for every local step of every model: found by being there, fed by the model's own simulation."""

import pytest

from ssvi.local_steps.base import LocalStep
from ssvi.models.base import Model
from ssvi.registry import discover
from ssvi.testing.local_steps import CHECKS
from ssvi.testing.settings import Setting

MODELS = discover("ssvi.models", Model)
STEPS = [(model, step) for model in MODELS for step in discover(f"ssvi.local_steps.{model}", LocalStep).values()]


@pytest.fixture(scope="module", params=STEPS, ids=lambda pair: f"{pair[0]}-{pair[1].name}")
def setting(request):
    model, step = request.param
    return Setting(step(), MODELS[model].example(), seed=0)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("_check_"))
def test_local_step(setting, check):
    """The seed is fixed; `ssvi.testing.statistics` says how likely a sound step would fail with another."""
    check(setting)
