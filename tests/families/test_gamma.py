"""Gamma's Fisher solve where its determinant is small."""

import mpmath
import numpy as np
import pytest

from ssvi.families.gamma import Gamma


@pytest.mark.parametrize("shape", [0.3, 50.0, 299.0, 301.0, 1e5, 1e9, 1e13])
def test_fisher_solve_at_any_shape(shape):
    """Against the two equations solved with 60 digits."""
    rate, x = 2.5, np.array([[0.7, -1.3]])
    with mpmath.workdps(60):
        s, r = mpmath.mpf(shape), mpmath.mpf(rate)
        matrix = mpmath.matrix([[mpmath.psi(1, s), -1 / r], [-1 / r, s / r**2]])
        expected = [
            float(value) for value in mpmath.lu_solve(matrix, mpmath.matrix([mpmath.mpf(0.7), mpmath.mpf(-1.3)]))
        ]
    np.testing.assert_allclose(Gamma().fisher_solve(np.array([[shape, rate]]), x)[0], expected, rtol=1e-9)
