"""The rule for natural parameters that must be positive, in the families that have it."""

import numpy as np
import pytest

from ssvi.families.beta import Beta
from ssvi.families.dirichlet import Dirichlet
from ssvi.families.gamma import Gamma
from ssvi.families.gaussian import Gaussian
from ssvi.numerics.random import derive_keys

POSITIVE = [(Beta(), True), (Dirichlet(), True), (Gamma(), True), (Gaussian(), (False, True))]


@pytest.fixture(params=POSITIVE, ids=lambda pair: repr(pair[0]))
def setting(request):
    """A family, some lambda of it, and which of its coordinates must be positive."""
    family, positive = request.param
    lam = family.examples(np.random.default_rng(0))
    return family, lam, np.broadcast_to(positive, lam.shape)


def test_a_coordinate_falls_to_half_its_value_or_its_prior_and_is_counted(setting):
    family, lam, positive = setting
    proposal = -3.0 * np.abs(lam)
    projected, guarded = family.project(proposal, lam, np.full_like(lam, 0.06))
    assert guarded == positive.sum()
    np.testing.assert_array_equal(projected[~positive], proposal[~positive])
    np.testing.assert_array_equal(projected[positive], np.maximum(lam / 2, 0.06)[positive])


def test_what_is_under_its_prior_already_is_not_lifted(setting):
    family, lam, positive = setting
    projected, _ = family.project(lam - 1e-3 * np.abs(lam), lam, 10 + np.abs(lam))
    np.testing.assert_array_equal(projected[positive], lam[positive])


def test_good_proposals_are_left_alone(setting):
    family, lam, _ = setting
    projected, guarded = family.project(1.1 * lam, lam, 0.5 * np.abs(lam))
    np.testing.assert_array_equal(projected, 1.1 * lam)
    assert guarded == 0


def test_each_coordinate_that_must_be_positive_is_a_boundary(setting):
    family, lam, positive = setting
    for column in range(lam.shape[1]):
        for value in (0.0, -1e-300, -1.0):
            moved = lam.copy()
            moved[:, column] = value
            assert (family.in_domain(moved) != positive[:, column]).all()
        moved[:, column] = 1e-300
        assert family.in_domain(moved).all()


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_draws_are_finite_where_all_coordinates_are_small_or_large(setting, scale):
    family, lam, positive = setting
    extreme = np.where(positive, lam * scale, lam)
    draw = family.draw(extreme, derive_keys(9, len(lam)))
    assert np.isfinite(draw.stats).all()
    assert np.isfinite(family.natural_correction(extreme, draw, np.ones_like(lam))).all()
