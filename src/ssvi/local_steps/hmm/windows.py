"""What a local step looks at of some sequences: their rows, one after another, and where the core of each is."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ssvi.batches import Sequences, Subchains
from ssvi.numerics.random import Keys, keys_below
from ssvi.typing import Array

FIRST_REACH = 32
"""How far a subchain looks beyond its core at first, in time points."""
LONGEST_REACH = 2_048
"""How far it looks at most: what is farther away than that and still matters is left out."""


class Windows(NamedTuple):
    """Rows of some sequences or subchains.

    Attributes
    ----------
    values : (time points, columns)
        All rows, window after window.
    places : (windows, 4) integers
        Where each window begins, where its core begins and ends, and where the window ends, in these rows.
    ends : (windows, 2) truths
        Whether a sequence begins where its window does, and whether it ends there.

    """

    values: Array
    places: npt.NDArray[np.int64]
    ends: npt.NDArray[np.bool_]

    def informed(self) -> Windows:
        """Return the same without what is missing at the end of sequences, which says nothing of any parameter."""
        if not np.isnan(self.values[:, 0]).any():  # as it mostly is
            return self
        unknown: npt.NDArray[np.bool_] = np.asarray(np.isnan(self.values).all(axis=1))
        if not unknown.any():
            return self
        last_known = np.maximum.accumulate(np.where(unknown, -1, np.arange(len(unknown)))) + 1
        places = self.places.copy()
        for place, (_, closes) in zip(places, self.ends, strict=True):
            if closes and place[3] > place[0]:
                place[3] = max(int(last_known[place[3] - 1]), int(place[0]))
                place[2] = min(int(place[2]), int(place[3]))
                place[1] = min(int(place[1]), int(place[2]))
        return Windows(self.values, places, self.ends)


def windows_of(batch: Sequences | Subchains, start: int, stop: int, reach: int = FIRST_REACH) -> Windows:
    """Return the windows of sequences or subchains start, ..., stop - 1."""
    return windows_at(batch, np.arange(start, stop), reach)


def windows_at(batch: Sequences | Subchains, chosen: npt.NDArray[np.int64], reach: int) -> Windows:
    """Return the windows of some sequences or subchains, which look so far beyond their cores."""
    if isinstance(batch, Sequences) and len(chosen) == chosen[-1] - chosen[0] + 1:
        cuts = batch.indptr[chosen[0] : chosen[-1] + 2]
        values = np.ascontiguousarray(batch.values[cuts[0] : cuts[-1]])
        starts, stops = cuts[:-1] - cuts[0], cuts[1:] - cuts[0]
        return Windows(values, np.stack([starts, starts, stops, stops], axis=1), np.ones((len(chosen), 2), np.bool_))
    bounds = batch.bounds[chosen]
    begins, ends = np.maximum(bounds[:, 0], bounds[:, 1] - reach), np.minimum(bounds[:, 3], bounds[:, 2] + reach)
    sizes = ends - begins
    cuts = np.concatenate([[0], np.cumsum(sizes)])
    rows = np.arange(cuts[-1]) + np.repeat(begins - cuts[:-1], sizes)
    places = np.stack([begins, bounds[:, 1], bounds[:, 2], ends], axis=1) + (cuts[:-1] - begins)[:, None]
    reaches = np.stack([begins == bounds[:, 0], ends == bounds[:, 3]], axis=1)
    return Windows(np.ascontiguousarray(batch.values[rows]), places, reaches)


def keys_of_rows(windows: Windows, keys: Keys) -> Keys:
    """Return a random stream for each row, from that of its window."""
    sizes = windows.places[:, 3] - windows.places[:, 0]
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    rows = np.zeros(len(windows.values), np.uint64)
    places = np.repeat(windows.places[:, 0], sizes) + within
    rows[places] = keys_below(np.repeat(keys, sizes), within)
    return rows
