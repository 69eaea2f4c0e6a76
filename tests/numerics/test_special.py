import numpy as np
from scipy import special

from ssvi.numerics.special import (
    digamma,
    digamma_array,
    exp_digamma_array,
    log_gamma,
    tetragamma,
    trigamma,
    trigamma_array,
)

GRID = np.logspace(-8, 8, 2001)


def test_digamma_agrees_with_scipy():
    ours, theirs = digamma_array(GRID), special.digamma(GRID)
    # Absolute near the root at 1.46, relative elsewhere.
    assert np.all(np.abs(ours - theirs) <= 1e-13 * np.maximum(1.0, np.abs(theirs)))


def test_trigamma_agrees_with_scipy():
    np.testing.assert_allclose(trigamma_array(GRID), special.polygamma(1, GRID), rtol=1e-13)


def test_tetragamma_agrees_with_scipy():
    ours = np.array([tetragamma(x) for x in GRID])
    np.testing.assert_allclose(ours, special.polygamma(2, GRID), rtol=1e-12)


def test_log_gamma_agrees_with_scipy():
    ours = np.array([log_gamma(x) for x in GRID])
    theirs = special.gammaln(GRID)
    assert np.all(np.abs(ours - theirs) <= 1e-13 * np.maximum(1.0, np.abs(theirs)))


def test_arrays_of_any_shape_and_layout():
    values = np.asfortranarray(GRID[:2000].reshape(40, 50))
    np.testing.assert_array_equal(digamma_array(values)[3, 7], digamma(values[3, 7]))
    np.testing.assert_array_equal(trigamma_array(values)[39, 0], trigamma(values[39, 0]))


def test_exponential_of_digamma_agrees_with_scipy():
    shift = 3.0
    ours = np.empty(len(GRID))
    exp_digamma_array(GRID, shift, 0.0, ours, np.empty(len(GRID)))
    exponent = special.digamma(GRID) - shift
    # An error of an exponent is one of its size times its relative error.
    expected = np.exp(exponent)
    seen = exponent > -700
    error = np.abs(ours - expected)[seen] / expected[seen]
    assert np.all(error <= 1e-13 * np.maximum(100.0, np.abs(exponent[seen])))
    assert np.all(ours[exponent < -760] == 0.0)
    cut = np.empty(len(GRID))
    exp_digamma_array(GRID, shift, 1e-3, cut, np.empty(len(GRID)))
    np.testing.assert_array_equal(cut, np.where(ours > 1e-3, ours, 0.0))


def test_arguments_that_the_recurrence_cannot_raise_are_nan():
    for function in (digamma, trigamma, tetragamma):
        for x in (-1e-3, -2.5, -1e17, -np.inf, np.nan):
            assert np.isnan(function(x))
