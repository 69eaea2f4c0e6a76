"""Families whose natural parameters must all be positive: their domain, and how far they may fall in one step."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ssvi.numerics.compile import kernel
from ssvi.typing import Array


@kernel
def raise_rows(candidate: Array, current: Array, prior: Array) -> int:
    """Keep coordinates above their floor, in place; return how many were below it.

    A coordinate may fall to the larger of half its present value and its prior's value, no further. (Statistics of
    conjugate models only add to such a coordinate, so a value under the prior's is noise.) One that is under its prior
    already may stay where it is.
    """
    guarded = 0
    for row in range(candidate.shape[0]):
        for column in range(candidate.shape[1]):
            present = current[row, column]
            lowest = min(present, max(0.5 * present, prior[row, column]))
            if candidate[row, column] < lowest:  # not so for NaN, which the engine looks for
                candidate[row, column] = lowest
                guarded += 1
    return guarded


def raise_to_floor(candidate: Array, current: Array, prior: Array) -> tuple[Array, int]:
    """Return a proposed lambda kept above its floors, and how many coordinates were below; see `raise_rows`."""
    result, shape = np.array(candidate, order="C"), (-1, candidate.shape[-1])
    prior = np.broadcast_to(prior, candidate.shape)
    guarded = raise_rows(result.reshape(shape), current.reshape(shape), prior.reshape(shape))
    return result, guarded


def rows_are_positive(lam: Array) -> npt.NDArray[np.bool_]:
    """Tell for each row whether it is finite and positive."""
    positive: npt.NDArray[np.bool_] = np.isfinite(lam) & (lam > 0)
    return np.asarray(positive.all(axis=-1))
