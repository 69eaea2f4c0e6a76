"""One suite for every model: it is found by being there."""

import pytest

from ssvi.models.base import Model
from ssvi.registry import discover
from ssvi.testing.models import CHECKS

MODELS = discover("ssvi.models", Model)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.removeprefix("_check_"))
@pytest.mark.parametrize("name", MODELS)
def test_model(name, check):
    """The seed is fixed; `ssvi.testing.models` says how likely a sound model would fail with another."""
    check(MODELS[name].example(), 0)
