"""The rule for natural parameters that must all be positive, in the families that have it."""

import numpy as np
import pytest

from ssvi.families.beta import Beta
from ssvi.families.dirichlet import Dirichlet
from ssvi.families.gamma import Gamma
from ssvi.numerics.random import derive_keys

FAMILIES = [Beta(), Dirichlet(), Gamma()]


@pytest.fixture(params=FAMILIES, ids=repr)
def setting(request):
    """A family and some lambda of it."""
    return request.param, request.param.examples(np.random.default_rng(0))


def test_a_coordinate_falls_to_half_its_value_or_its_prior_and_is_counted(setting):
    family, lam = setting
    projected, guarded = family.project(-3.0 * lam, lam, np.full_like(lam, 0.06))
    assert guarded == lam.size
    np.testing.assert_array_equal(projected, np.maximum(lam / 2, 0.06))


def test_what_is_under_its_prior_already_is_not_lifted(setting):
    family, lam = setting
    projected, _ = family.project(0.999 * lam, lam, 10 + lam)
    np.testing.assert_array_equal(projected, lam)


def test_good_proposals_are_left_alone(setting):
    family, lam = setting
    projected, guarded = family.project(1.1 * lam, lam, 0.5 * lam)
    np.testing.assert_array_equal(projected, 1.1 * lam)
    assert guarded == 0


def test_each_coordinate_is_a_boundary(setting):
    family, lam = setting
    for column in range(lam.shape[1]):
        moved = lam.copy()
        for value in (0.0, -1e-300, -1.0):
            moved[:, column] = value
            assert not family.in_domain(moved).any()
        moved[:, column] = 1e-300
        assert family.in_domain(moved).all()


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_draws_are_finite_where_all_coordinates_are_small_or_large(setting, scale):
    family, lam = setting
    draw = family.draw(lam * scale, derive_keys(9, len(lam)))
    assert np.isfinite(draw.stats).all()
    assert np.isfinite(family.natural_correction(lam * scale, draw, np.ones_like(lam))).all()
