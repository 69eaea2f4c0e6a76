"""Natural parameters that must be positive: their domain, and how far they may fall in one step."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ssvi.numerics.compile import kernel
from ssvi.typing import Array

Coordinates = bool | tuple[bool, ...]
"""Which natural parameters must be positive: all (or none), or by their place on the last axis."""


@kernel
def floor(current: float, prior: float) -> float:
    """Return how far a coordinate that must be positive may fall in one step; see `raise_to_floor`."""
    return min(current, max(0.5 * current, prior))


@kernel
def _raise_rows(candidate: Array, current: Array, prior: Array, positive: npt.NDArray[np.bool_]) -> int:
    """Keep the coordinates that must be positive above their floor; return how many were below it."""
    guarded = 0
    for row in range(candidate.shape[0]):
        for column in range(candidate.shape[1]):
            lowest = floor(current[row, column], prior[row, column])
            if positive[column] and candidate[row, column] < lowest:
                candidate[row, column] = lowest
                guarded += 1
    return guarded


def raise_to_floor(candidate: Array, current: Array, prior: Array, positive: Coordinates) -> tuple[Array, int]:
    """Keep the coordinates that must be positive above their floor; return them with the number that were below it.

    A coordinate that must be positive may fall to the larger of half its present value and its prior's value, no
    further. (Statistics of conjugate models only add to such a coordinate, so a value under the prior's is noise.)
    One that is under its prior already may stay where it is.
    """
    must_be_positive = np.broadcast_to(np.asarray(positive), candidate.shape[-1:])
    result = np.array(candidate, order="C")
    shape = (-1, candidate.shape[-1])
    prior = np.broadcast_to(prior, candidate.shape)
    guarded = _raise_rows(result.reshape(shape), current.reshape(shape), prior.reshape(shape), must_be_positive)
    return result, guarded


def rows_are_positive(lam: Array, positive: Coordinates) -> npt.NDArray[np.bool_]:
    """Tell for each row whether it is finite and, in the coordinates where it must be, positive."""
    inside: npt.NDArray[np.bool_] = (np.isfinite(lam) & ((lam > 0) | ~np.asarray(positive))).all(axis=-1)
    return inside
