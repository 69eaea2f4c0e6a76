"""What families have from their base: the projection along the step, and being compared."""

import numpy as np
import pytest

from ssvi.families.base import ExponentialFamily, project_along_step
from ssvi.families.beta import Beta
from ssvi.families.dirichlet import Dirichlet
from ssvi.families.gamma import Gamma
from ssvi.testing.families import _check_projection


class AlongStep(Dirichlet):
    name = "dirichlet along the step"
    project = ExponentialFamily.project


class GammaAlongStep(Gamma):
    name = "gamma along the step"
    project = ExponentialFamily.project


@pytest.mark.parametrize("family", [AlongStep(), GammaAlongStep()], ids=repr)
def test_going_back_along_the_step_serves_families_that_have_another_way(family):
    _check_projection(family, 0)


def test_a_row_goes_at_most_half_the_way_to_the_boundary():
    """From 1 the boundary is at distance 1 downwards: a step of 0.4 may stay, one of 0.6 or 5 is halved to fit."""
    current = np.ones((4, 2))
    candidate = np.array([[0.6, 1.0], [0.4, 1.0], [-4.0, 11.0], [1e6, 2.0]])
    projected, moved = project_along_step(Gamma(), candidate, current)
    np.testing.assert_array_equal(projected, [[0.6, 1.0], [0.7, 1.0], [1 - 5 / 16, 1 + 10 / 16], [1e6, 2.0]])
    assert moved == 2


def test_a_row_that_is_not_finite_is_left_for_the_engine_to_find():
    current = np.ones((2, 3, 2))
    candidate = np.full((2, 3, 2), -1.0)
    candidate[0, 1, 0], candidate[1, 2, 1] = np.nan, np.inf
    projected, moved = project_along_step(Gamma(), candidate, current)
    assert moved == 4
    np.testing.assert_array_equal(projected[0, 1], [np.nan, -1.0])
    np.testing.assert_array_equal(projected[1, 2], [-1.0, np.inf])
    np.testing.assert_array_equal(projected[0, 0], [0.75, 0.75])  # a step of 1/8 of -2; twice that of 1/4 ends on 0


def test_where_no_step_is_short_enough_the_row_stays():
    projected, moved = project_along_step(Gamma(), np.array([[-1.0, 1.0]]), np.array([[0.0, 1.0]]))
    np.testing.assert_array_equal(projected, [[0.0, 1.0]])
    assert moved == 1


def test_families_are_compared_by_type_and_parameters():
    assert Gamma() == Gamma()
    assert len({Gamma(), Gamma(), Dirichlet(), Beta()}) == 3
    assert Beta() != Dirichlet()
    assert repr(Gamma()) == "Gamma()"
