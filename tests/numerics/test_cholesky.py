"""Cholesky factors against LAPACK, and their derivative against differences."""

import numpy as np

from ssvi.numerics.cholesky import cholesky, cholesky_pullback, invert_lower


def _matrices(count, order, seed=0):
    factors = np.random.default_rng(seed).normal(size=(count, order, order + 2))
    return factors @ np.swapaxes(factors, -1, -2)


def test_factors_and_inverses_are_those_of_lapack():
    for order in (1, 2, 7):
        matrices = _matrices(4, order)
        lower = cholesky(matrices)
        np.testing.assert_allclose(lower, np.linalg.cholesky(matrices), rtol=1e-12)
        np.testing.assert_allclose(invert_lower(lower), np.linalg.inv(lower), rtol=1e-9, atol=1e-12)


def test_only_lower_triangles_are_read():
    matrices = _matrices(2, 4)
    np.testing.assert_array_equal(cholesky(np.tril(matrices)), cholesky(matrices))


def test_a_matrix_that_is_not_positive_definite_is_nan_and_its_neighbours_are_not():
    bad = [
        np.diag([1.0, 0.0]),
        np.diag([1.0, -1.0]),
        [[1.0, 2.0], [2.0, 1.0]],
        np.diag([np.inf, 1.0]),
        [[1, np.nan]] * 2,
    ]
    matrices = np.array([matrix for one in bad for matrix in (np.eye(2), one)], dtype=float)
    lower = cholesky(matrices)
    np.testing.assert_array_equal(lower[::2], np.broadcast_to(np.eye(2), (len(bad), 2, 2)))
    assert np.isnan(lower[1::2]).all()


def test_pullback_is_the_slope():
    """Differences of <gradient, L> along random symmetric directions; central, so good to the square of the step."""
    rng = np.random.default_rng(1)
    for order in (1, 3, 6):
        matrix = _matrices(1, order)
        gradient = np.tril(rng.normal(size=matrix.shape))
        lower = cholesky(matrix)
        found = cholesky_pullback(lower, invert_lower(lower), gradient)
        np.testing.assert_array_equal(found, np.swapaxes(found, -1, -2))
        for _ in range(3):
            way = rng.normal(size=matrix.shape)
            way += np.swapaxes(way, -1, -2)
            slope = ((cholesky(matrix + 1e-6 * way) - cholesky(matrix - 1e-6 * way)) * gradient).sum() / 2e-6
            np.testing.assert_allclose((found * way).sum(), slope, rtol=1e-6, atol=1e-8)
