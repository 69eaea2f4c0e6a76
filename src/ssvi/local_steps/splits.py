"""Splitting counts among components in proportion to rows . activity: the inner loop of several local steps."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.numerics.compile import kernel
from ssvi.numerics.vectors import dot


@kernel
def pull_towards(
    rows: npt.NDArray[Any], counts: npt.NDArray[Any], activity: npt.NDArray[Any], pull: npt.NDArray[Any]
) -> None:
    """Set pull_k = sum_i n_i rows_ik / (rows_i . activity), so that activity_k pull_k is k's expected count.

    Four rows at a time: each pass over `pull` costs a load and a store, and most of the time goes there.
    """
    pull[:] = 0
    whole = counts.size - counts.size % 4
    for i in range(0, whole, 4):
        first, second, third, fourth = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
        a = counts[i] / dot(first, activity)
        b = counts[i + 1] / dot(second, activity)
        c = counts[i + 2] / dot(third, activity)
        d = counts[i + 3] / dot(fourth, activity)
        for k in range(activity.size):
            pull[k] += (a * first[k] + b * second[k]) + (c * third[k] + d * fourth[k])
    for i in range(whole, counts.size):
        share = counts[i] / dot(rows[i], activity)
        for k in range(activity.size):
            pull[k] += share * rows[i, k]


@kernel
def add_shares(
    rows: npt.NDArray[Any],
    columns: npt.NDArray[Any],
    counts: npt.NDArray[Any],
    activity: npt.NDArray[Any],
    shares: npt.NDArray[Any],
) -> float:
    """Add n_i activity_k / (rows_i . activity) to row `columns[i]` of `shares`; return sum n_i log(rows_i . activity).

    Times rows_ik these are expected counts. That factor is the same for all documents: it is left for the end.
    """
    total = 0.0
    for i in range(counts.size):
        norm = dot(rows[i], activity)
        total += counts[i] * math.log(norm)
        share, own = counts[i] / norm, shares[columns[i]]
        for k in range(activity.size):
            own[k] += share * activity[k]
    return total


@kernel
def gather(columns: npt.NDArray[Any], weights: npt.NDArray[Any], buffer: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Copy the weights of some entries' columns into consecutive rows of the buffer."""
    rows = buffer[: columns.size]
    for i in range(columns.size):
        rows[i] = weights[columns[i]]
    return rows


@kernel
def most_entries(indptr: npt.NDArray[np.int64]) -> int:
    """Return the largest number of entries of a document or frame."""
    largest = 0
    for n in range(indptr.size - 1):
        largest = max(largest, indptr[n + 1] - indptr[n])
    return largest
