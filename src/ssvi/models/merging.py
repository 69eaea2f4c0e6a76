"""Components that are near-copies of each other: which of them are to be one, and what is a copy's own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from ssvi.typing import Array

ALIKE = 0.9
"""The cosine of two components from which on they are copies."""

_TIMES = 2.0  # as many counts as of what is shared, from which on a word may be a component's own
_SURE = 2.0  # standard deviations beyond that, without which it may be chance
_OWN = 0.15  # of a component's counts: less of its own may be noise, as words come in bursts


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


def distinct_shares(copy: Array, other: Array) -> Array:
    """Return the share of each of a component's counts that is its own, and no part of what another has as well.

    What they share is the multiple of the other's counts that is nearest to the component's. Its own is what goes
    beyond that where it has at least twice as much, and more than chance brings. If all that is less than 15% of
    its counts, it has nothing of its own.

    >>> distinct_shares(np.array([600.0, 300.0, 200.0, 1.0]), np.array([1200.0, 600.0, 0.0, 9.0])).round(2)
    array([0., 0., 1., 0.])
    """
    norm = float(other @ other)
    if norm == 0.0:
        return np.zeros_like(copy)
    times = float(copy @ other) / norm
    shared = times * other
    # Both are counts with noise, and so many times those of the other have so many times its variance.
    is_distinct = copy > _TIMES * shared + _SURE * np.sqrt((1.0 + times) * (shared + np.maximum(times, 1.0)))
    shares = np.where(is_distinct, 1.0 - shared / np.where(is_distinct, copy, 1.0), 0.0)
    result: Array = shares if shares @ copy >= _OWN * copy.sum() else np.zeros_like(copy)
    return result


def cosines(rows: Array) -> Array:
    """Return the cosines between rows of numbers that are not negative.

    By one thread: two that wait for each other take many times as long where others use the machine.
    """
    units = rows / np.maximum(np.sqrt((rows**2).sum(axis=1, keepdims=True)), 1e-300)
    with threadpool_limits(1, user_api="blas"):
        result: Array = units @ units.T
    return result
