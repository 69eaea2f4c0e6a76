"""Squared distances of sixteen points against NumPy, compiled and in plain Python."""

import numpy as np
import pytest

from ssvi.numerics import distances
from ssvi.numerics.cholesky import nearly_cholesky
from ssvi.numerics.compile import kernel
from ssvi.numerics.distances import diagonal_squares, pack_factors, pad_centres, triangular_squares


@kernel
def _triangular(points, factor, centre, out):
    triangular_squares(points, factor, centre, out)


@kernel
def _diagonal(points, scales, centre, out):
    diagonal_squares(points, scales, centre, out)


@pytest.mark.parametrize("size", [1, 2, 4, 5, 8, 11, 50])
def test_distances_are_those_of_plain_arithmetic(size):
    rng = np.random.default_rng(size)
    points, out = rng.normal(size=(size, 16)), np.empty(16)
    factor, centre = np.tril(rng.normal(size=(size, size))), rng.normal(size=size)
    expected = ((factor.T @ points - centre[:, None]) ** 2).sum(axis=0)
    packed, padded = pack_factors(factor[None])[0], pad_centres(centre[None])[0]
    for function in (_triangular, distances._triangular_in_python):
        function(points, packed, padded, out)
        np.testing.assert_allclose(out, expected, rtol=1e-12)
    scales = rng.gamma(1.0, size=size)
    expected = ((scales[:, None] * (points - centre[:, None])) ** 2).sum(axis=0)
    for function in (_diagonal, distances._diagonal_in_python):
        function(points, scales, centre, out)
        np.testing.assert_allclose(out, expected, rtol=1e-12)


def test_a_matrix_that_rounding_has_made_indefinite_is_factored_all_the_same():
    good, flat = np.diag([2.0, 3.0]), np.array([[1.0, 1.0], [1.0, 1.0 - 1e-15]])
    matrices, factors = nearly_cholesky(np.stack([good, flat]))
    np.testing.assert_array_equal(matrices[0], good)
    np.testing.assert_allclose(factors @ np.swapaxes(factors, 1, 2), matrices, rtol=1e-12)
    np.testing.assert_allclose(matrices[1], flat, atol=1e-11)
