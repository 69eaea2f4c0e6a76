"""Scores at a moment and moments of a score, on a curve whose lines are known."""

import math

import numpy as np
import pytest

from ssvi.experiments.curves import score_at, seconds_to

CURVE = [(2.0, -8.0), (8.0, -7.6), (16.0, -7.7), (32.0, -7.5)]


@pytest.mark.parametrize(
    ("seconds", "score"), [(2.0, -8.0), (4.0, -7.8), (8.0, -7.6), (8.0 * 2**0.5, -7.65), (32.0, -7.5), (1e6, -7.5)]
)
def test_scores_lie_on_lines_over_the_logarithm_of_time(seconds, score):
    assert score_at(CURVE, seconds) == pytest.approx(score, abs=1e-12)


def test_before_its_first_point_a_fit_has_no_score():
    assert math.isnan(score_at(CURVE, 1.99))
    assert math.isnan(score_at([], 5.0))


@pytest.mark.parametrize(
    ("score", "seconds"),
    [(-9.0, 2.0), (-8.0, 2.0), (-7.8, 4.0), (-7.65, 2.0 * 4**0.875), (-7.6, 8.0), (-7.55, 16.0 * 2**0.75)],
)
def test_a_score_is_reached_when_the_curve_first_has_it(score, seconds):
    assert seconds_to(CURVE, score) == pytest.approx(seconds)
    if score > -8.0:
        assert score_at(CURVE, seconds) == pytest.approx(score)


def test_a_score_above_the_curve_is_never_reached():
    assert seconds_to(CURVE, -7.49) == np.inf
    assert seconds_to([], -7.49) == np.inf
