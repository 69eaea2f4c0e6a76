"""Cholesky factors of many small matrices, their inverses, and derivatives through them.

Arrays are (matrices, n, n). A matrix that is not positive definite has a factor of NaN, where LAPACK would give up all.
"""

from __future__ import annotations

import math

import numpy as np

from ssvi.numerics.compile import kernel
from ssvi.typing import Array

_RIDGES = (1e-14, 1e-12, 1e-10, 1e-8, 1e-6)


@kernel
def factor_into(matrix: Array, out: Array) -> bool:
    """Fill the lower triangle of `out` with L, matrix = L L^T; return whether there is one."""
    for i in range(matrix.shape[0]):
        for j in range(i + 1):
            total = matrix[i, j]
            for k in range(j):
                total -= out[i, k] * out[j, k]
            if j < i:
                out[i, j] = total / out[j, j]
            elif total > 0.0 and total < np.inf:
                out[i, i] = math.sqrt(total)
            else:
                return False
    return True


@kernel
def _factor_all(matrices: Array, out: Array) -> None:
    for m in range(matrices.shape[0]):
        if not factor_into(matrices[m], out[m]):
            out[m] = np.nan


@kernel
def _invert_all(factors: Array, out: Array) -> None:
    """Fill the lower triangles of `out` with L^-1."""
    for m in range(factors.shape[0]):
        lower, inverse = factors[m], out[m]
        for j in range(lower.shape[0]):
            inverse[j, j] = 1.0 / lower[j, j]
            for i in range(j + 1, lower.shape[0]):
                total = 0.0
                for k in range(j, i):
                    total -= lower[i, k] * inverse[k, j]
                inverse[i, j] = total / lower[i, i]


def cholesky(matrices: Array) -> Array:
    """Return the lower triangular L with L L^T = matrix; only the lower triangles of the matrices are read."""
    out = np.zeros(matrices.shape)
    _factor_all(matrices, out)
    return out


def nearly_cholesky(matrices: Array) -> tuple[Array, Array]:
    """Return matrices and their factors; one that rounding has made indefinite is a little rounder for it.

    What is added to its diagonal is the first of 1e-14, 1e-12, ..., 1e-6 of its largest number that is enough.
    """
    factors = cholesky(matrices)
    for ridge in _RIDGES:
        failed = np.isnan(factors[:, 0, 0])
        if not failed.any():
            break
        largest = np.abs(matrices[failed]).max(axis=(1, 2))
        matrices = matrices.copy()
        matrices[failed] += (ridge * largest)[:, None, None] * np.eye(matrices.shape[-1])
        factors = cholesky(matrices)
    return matrices, factors


def invert_lower(factors: Array) -> Array:
    """Return the inverses of lower triangular matrices."""
    out = np.zeros(factors.shape)
    _invert_all(factors, out)
    return out


def cholesky_pullback(factors: Array, inverses: Array, gradient: Array) -> Array:
    """Return the gradient with respect to the matrices from that with respect to their factors L.

    The result is symmetric: a change dP of a matrix is worth tr(result dP). Of `gradient` the lower triangles are read.
    It is (X + X^T) / 2 with X = L^-T F(L^T gradient) L^-1, where F keeps the lower triangle and half of the diagonal.
    """
    inner = np.tril(np.swapaxes(factors, -1, -2) @ np.tril(gradient))
    places = np.arange(factors.shape[-1])
    inner[..., places, places] *= 0.5
    half: Array = np.swapaxes(inverses, -1, -2) @ inner @ inverses
    result: Array = 0.5 * (half + np.swapaxes(half, -1, -2))
    return result
