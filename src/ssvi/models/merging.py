"""Components that are near-copies of each other: which of them are to be one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from ssvi.typing import Array

ALIKE = 0.9
"""The cosine of two components from which on they are copies."""


def near_copies(likeness: Array, order: Sequence[int] | npt.NDArray[np.int64], alike: float) -> list[tuple[int, int]]:
    """Return pairs (component, near-copy of it): each joins the first before it in `order` that it is so much alike to.

    A component that joins another takes none itself.

    >>> near_copies(np.array([[1.0, 0.2, 0.9], [0.2, 1.0, 0.3], [0.9, 0.3, 1.0]]), [2, 1, 0], 0.8)
    [(2, 0)]
    """
    kept: list[int] = []
    pairs = []
    for k in order:
        into = next((other for other in kept if likeness[other, k] >= alike), None)
        if into is None:
            kept.append(int(k))
        else:
            pairs.append((into, int(k)))
    return pairs


def cosines(rows: Array) -> Array:
    """Return the cosines between rows of numbers that are not negative.

    By one thread: two that wait for each other take many times as long where others use the machine.
    """
    units = rows / np.maximum(np.sqrt((rows**2).sum(axis=1, keepdims=True)), 1e-300)
    with threadpool_limits(1, user_api="blas"):
        result: Array = units @ units.T
    return result
