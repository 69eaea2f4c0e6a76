"""Parts of long sequences: each has a core that is its own, and may look at what stands before and after it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np
import numpy.typing as npt

from ssvi.batches.sequences import Sequences
from ssvi.typing import Array

Bounds = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Subchains:
    """Some stretches of sequences, of which every time point is in one core.

    Nothing is copied: a minibatch of them is a few integers, and the rows stay where they are.

    Attributes
    ----------
    bounds : (subchains, 4) integers
        Where the whole sequence begins, where the core begins and ends, and where the sequence ends, in rows.
    values : (time points, columns)
        What was observed; NaN where nothing was.

    """

    bounds: Bounds
    values: Array

    @classmethod
    def cut(cls, sequences: Sequences, length: int) -> Self:
        """Cut sequences into as few cores as have `length` time points each at most, those of a sequence alike."""
        starts, stops = sequences.indptr[:-1], sequences.indptr[1:]
        counts = np.maximum(-(-(stops - starts) // length), 1)
        own = np.repeat(np.arange(len(starts)), counts)
        number = np.arange(len(own)) - np.repeat(np.cumsum(counts) - counts, counts)
        sizes = (stops - starts)[own]
        firsts = starts[own] + number * sizes // counts[own]
        lasts = starts[own] + (number + 1) * sizes // counts[own]
        return cls(np.stack([starts[own], firsts, lasts, stops[own]], axis=1), sequences.values)

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return int(self.values.shape[1])

    def __len__(self) -> int:
        return len(self.bounds)

    def __iter__(self) -> Iterator[Array]:
        """Go over the cores, each as time points x columns."""
        return (self.group(n) for n in range(len(self)))

    def group(self, n: int) -> Array:
        """Return the core of subchain n, time points x columns."""
        return self.values[self.bounds[n, 1] : self.bounds[n, 2]]

    def slice(self, start: int, stop: int) -> Self:
        """Return subchains start, ..., stop - 1."""
        return type(self)(self.bounds[start:stop], self.values)

    def take(self, chosen: npt.NDArray[np.int64]) -> Self:
        """Return the given subchains in the given order; they share the rows."""
        return type(self)(self.bounds[chosen], self.values)

    def costs(self) -> npt.NDArray[np.int64]:
        """Return the length of each core."""
        result: npt.NDArray[np.int64] = self.bounds[:, 2] - self.bounds[:, 1]
        return result
