"""One draw of each Gibbs kernel in plain Python, for when nothing is compiled: the same topics, but for rounding.

Arguments are those of the intrinsics that they stand in for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.numerics.simd import WIDTH, unpack
from ssvi.typing import Array


def _draw(masses: Array, level: float) -> tuple[int, float]:
    """Return where a level falls among masses, of which there are whole vectors, and by how much it lies beyond all.

    Sums go down the columns of vectors, as they do in compiled code.
    """
    columns = masses.reshape(-1, WIDTH).T
    sums = np.cumsum(columns)
    column, vector = divmod(int(np.searchsorted(sums, level, side="right")), columns.shape[1])
    return vector * WIDTH + column, level - sums[-1]


def resample_dense(
    tally: npt.NDArray[Any],
    places: npt.NDArray[np.uint64],
    weights: npt.NDArray[Any],
    rows: npt.NDArray[np.uint64],
    alpha: npt.NDArray[Any],
    running: npt.NDArray[Any],
    blocks: int,
    old: npt.NDArray[np.uint64],
    removed: npt.NDArray[Any],
    uniforms: npt.NDArray[Any],
    last: int,
    new: npt.NDArray[np.uint64],
) -> None:
    """Do what `gibbs_dense._resample` does."""
    for d in range(len(new)):
        place, row = int(places[d]), int(rows[d])
        own = tally[place : place + alpha.size]
        own[old[d]] -= removed[d]
        masses = ((own + alpha) * weights[row : row + alpha.size]).astype(float)
        topic, _ = _draw(masses, float(uniforms[d]) * masses.sum())
        new[d] = min(topic, int(last))
        own[new[d]] += 1


def resample_sparse(
    tally: npt.NDArray[Any],
    slots: npt.NDArray[np.uint32],
    place: npt.NDArray[np.uint32],
    used: npt.NDArray[np.uint64],
    lists: npt.NDArray[np.uint64],
    weights: npt.NDArray[Any],
    alpha: npt.NDArray[Any],
    prior: npt.NDArray[Any],
    words: npt.NDArray[np.uint64],
    running: npt.NDArray[Any],
    blocks: int,
    old: npt.NDArray[np.uint64],
    removed: float,
    uniforms: npt.NDArray[Any],
    new: npt.NDArray[np.uint64],
) -> None:
    """Do what `gibbs_sparse._resample` does."""
    for d in range(len(new)):
        own, row = int(lists[d]), weights[words[d]]
        if own == len(lists):  # it has ended
            continue
        row = row if row.dtype == tally.dtype else unpack(row)
        tally[own, place[own, old[d]]] -= removed
        size = int(blocks) * WIDTH
        masses = (tally[own, :size] * row[slots[own, :size]]).astype(float)
        sums = np.cumsum((alpha * row).astype(float))
        level = float(uniforms[d]) * (masses.sum() + sums[-1])
        slot, beyond = _draw(masses, level) if size else (0, level)
        if beyond >= 0.0:
            topic = min(int(np.searchsorted(sums, beyond, side="right")), place.shape[1] - 2)
            slot = int(place[own, topic])
            if slot == tally.shape[1] - 1:
                slot = int(used[own])
                slots[own, slot], place[own, topic], used[own] = topic, slot, slot + 1
        slot = min(slot, int(used[own]) - 1)
        new[d] = slots[own, slot]
        tally[own, slot] += 1
