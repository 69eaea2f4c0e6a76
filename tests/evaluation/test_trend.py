"""Where scores go, on curves of which that is known."""

import numpy as np
import pytest

from ssvi.evaluation.trend import flattening, trend


def _curve(n, rate, noise=0.0, seed=0):
    return (-8 - 2 * np.exp(-rate * np.arange(n)) + noise * np.random.default_rng(seed).normal(size=n)).tolist()


@pytest.mark.parametrize(
    ("scores", "direction"),
    [
        (_curve(10, 0.1), "climbing"),
        (_curve(10, 0.1, 0.001), "climbing"),
        (_curve(10, 5.0), "settled"),  # all was gained at once
        (_curve(40, 1.0, 0.001), "settled"),
        ([-9.0, -8.0, -8.1, -8.2, -8.3, -8.4, -8.5, -8.6], "falling"),
        ([-7.67, -7.75, -7.84, -7.81, -7.812, -7.808, -7.811, -7.809], "fell"),  # at once, and then no further
        ([-8.0, -7.0, -7.01, -7.012, -7.011, -7.013, -7.012, -7.013], "settled"),  # a hundredth of what was gained
        ([-9.0, -8.0, -7.9, -7.7, -7.95, -7.72, -7.96], "unknown"),  # noise may hide anything
        ([-8.0] * 10, "settled"),
        ([-9.0, -8.0, -7.5], "unknown"),
        ([-9.0], "unknown"),
    ],
)
def test_where_a_score_goes(scores, direction):
    assert trend(scores, 10)["direction"] == direction


def test_a_score_that_fell_is_not_called_settled_whatever_the_fit_has_found():
    scores = [-7.67, -7.75, -7.84, -7.81, -7.812, -7.808, -7.811, -7.809]
    facts = trend(scores, 60, converged=True, asked=60, every=5)
    assert (facts["direction"], facts["best"], facts["best_after"]) == ("fell", -7.67, 5)
    assert trend(scores[::-1], 8)["direction"] != "fell"
    # What more passes would bring back has not fallen: as many again would add 2 / 8, and the best is 0.05 away.
    back = trend([-7.2, *(-7.0 - 2.0 / t for t in range(2, 9))], 8)
    assert back["direction"] == "climbing"


def test_noise_is_seldom_taken_for_a_fall():
    """The best of 40 scores is about 2.2 deviations above their mean, and the last seldom 2.8 below it.

    That is 0.7% of such curves (of 12,000 in a trial): of 500 four, and 14 or more with a chance below 1e-4.
    """
    rng = np.random.default_rng(1)
    found = [trend(np.r_[-8.1, -8.0 + 0.01 * rng.normal(size=39)].tolist(), 40)["direction"] for _ in range(500)]
    assert found.count("fell") < 14


def test_noise_is_seldom_taken_for_a_climb():
    """The slope of noise is over two standard errors, by Student's t with 18 degrees, 3% of the time on either side.

    500 curves: 15 expected, 33 or more with chance below 1e-4. Being worth it asks for more still.
    """
    rng = np.random.default_rng(0)
    found = [trend(np.r_[-9.0, -8.0 + 0.01 * rng.normal(size=39)].tolist(), 40)["direction"] for _ in range(500)]
    assert found.count("climbing") < 33
    assert trend([], 3) is None


def test_the_curve_that_flattens_is_that_of_least_squares():
    scores, passes = np.random.default_rng(0).normal(size=9), np.arange(4, 13)
    slope, noise, error = flattening(scores, 4)
    (wanted, level), covariance = np.polyfit(-1.0 / passes, scores, 1, cov=True)
    assert slope == pytest.approx(wanted)
    assert noise**2 == pytest.approx(((scores - level + wanted / passes) ** 2).sum() / 7)
    assert error**2 == pytest.approx(covariance[0, 0])


def test_what_as_many_passes_would_gain_is_found_on_a_curve_that_flattens():
    scores = [-8.0 - 1.0 / t for t in range(1, 11)]
    facts = trend(scores, 10)
    assert facts["gain_of_as_many_passes"] == pytest.approx(1 / 10 - 1 / 20)
    assert trend(scores, 10, converged=True)["direction"] == "settled"  # as the fit itself has found
    # A fiftieth of what was gained is told, and is nothing to wait as long again for.
    slow = trend([-8.0 - 1.0 / t for t in range(1, 31)], 30)
    assert slow["direction"] == "settled"
    assert slow["gain_of_as_many_passes"] == pytest.approx(1 / 30 - 1 / 60)
