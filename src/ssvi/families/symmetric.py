"""Symmetric matrices as vectors: the upper triangle, row by row, on the last axis.

Natural parameters hold the entries as they are (`pack`). Statistics, and gradients with respect to natural parameters,
hold entries off the diagonal twice (`pack_dual`), so that the inner product of the two vectors is the trace of the
product of the two matrices. Each number of a matrix is there once, and so Fisher matrices are invertible.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.typing import Array


def packed_size(order: int) -> int:
    """Return how many numbers a symmetric matrix of this order has."""
    return order * (order + 1) // 2


def pack(matrix: Array) -> Array:
    """Return the upper triangle.

    >>> pack(np.array([[1.0, 2.0], [2.0, 3.0]]))
    array([1., 2., 3.])
    """
    rows, columns, _, _ = _layout(matrix.shape[-1])
    result: Array = matrix[..., rows, columns]
    return result


def unpack(packed: Array, order: int) -> Array:
    """Return the matrix that `pack` packed."""
    result: Array = packed[..., _layout(order)[2]]
    return result


def pack_dual(matrix: Array) -> Array:
    """Return the upper triangle with the entries off the diagonal doubled.

    >>> pack_dual(np.array([[1.0, 2.0], [2.0, 3.0]]))
    array([1., 4., 3.])
    """
    return pack(matrix) * _layout(matrix.shape[-1])[3]


def unpack_dual(packed: Array, order: int) -> Array:
    """Return the matrix that `pack_dual` packed."""
    return unpack(packed / _layout(order)[3], order)


@cache
def _layout(order: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any], Array]:
    """Return rows and columns of the packed entries, the place of each entry of the matrix, and 1 or 2 for each."""
    rows, columns = np.triu_indices(order)
    places = np.empty((order, order), dtype=np.int64)
    places[rows, columns] = places[columns, rows] = np.arange(len(rows))
    return rows, columns, places, np.where(rows == columns, 1.0, 2.0)
