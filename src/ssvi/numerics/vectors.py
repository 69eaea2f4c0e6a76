"""Sums over short vectors, reordered so that the processor adds several numbers at once.

They stand apart because of a trap. A loop that both sums and stores is compiled twice, in vectors and one by one, and
which of the two runs depends on how close the arrays happen to lie in memory: the same data could then give different
last bits. A loop that only reads has one form, so its order of addition is fixed.
"""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from ssvi.numerics.compile import vector_kernel


@vector_kernel
def dot(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> Any:
    """Return the inner product of two vectors of one length and type."""
    total = first.dtype.type(0)
    for i in range(first.size):
        total += first[i] * second[i]
    return total


@vector_kernel
def total(values: npt.NDArray[Any]) -> Any:
    """Return the sum of a vector."""
    result = values.dtype.type(0)
    for i in range(values.size):
        result += values[i]
    return result


@vector_kernel
def total_distance(first: npt.NDArray[Any], second: npt.NDArray[Any]) -> Any:
    """Return the sum of absolute differences of two vectors."""
    result = first.dtype.type(0)
    for i in range(first.size):
        result += abs(first[i] - second[i])
    return result
