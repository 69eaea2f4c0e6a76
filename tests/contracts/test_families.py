"""One suite for every family: it is found by being there."""

import pytest

from ssvi.families.base import ExponentialFamily
from ssvi.registry import discover
from ssvi.testing.families import CHECKS

FAMILIES = discover("ssvi.families", ExponentialFamily)
INSTANCES = [family for name in sorted(FAMILIES) for family in FAMILIES[name].instances()]


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__.lstrip("_").removeprefix("check_"))
@pytest.mark.parametrize("family", INSTANCES, ids=repr)
def test_family(family, check):
    """The seed is fixed; `ssvi.testing.family_formulas` says how likely a sound family would fail with another."""
    check(family, 0)
