"""Sequences of any lengths: rows in order, cut into runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ssvi.batches.runs import cuts_of, group_rows, take_runs
from ssvi.typing import Array


@dataclass(frozen=True)
class Sequences:
    """Some sequences of vectors, one after another.

    Attributes
    ----------
    indptr : (sequences + 1,) integers
        Sequence n has the time points indptr[n], ..., indptr[n + 1] - 1. It need not start at 0.
    values : (time points, columns)
        What was observed; NaN where nothing was.

    """

    indptr: npt.NDArray[np.int64]
    values: Array

    @classmethod
    def from_lengths(cls, values: Any, lengths: npt.ArrayLike | None = None) -> Self:
        """Take rows in order and the length of each sequence; all rows are one sequence if no lengths are given."""
        rows = _table(values)
        return cls(cuts_of([len(rows)] if lengths is None else lengths, len(rows), "sequences"), rows)

    @classmethod
    def from_keys(cls, values: Any, keys: npt.ArrayLike) -> tuple[npt.NDArray[np.generic], Self]:
        """Take rows and the name of each one's sequence; return the names in their order, and the sequences."""
        names, order, indptr = _grouped(values, keys)
        return names, cls(indptr, _table(values)[order])

    @classmethod
    def from_keys_in_order(cls, values: Any, keys: npt.ArrayLike) -> tuple[Self, npt.NDArray[np.int64]]:
        """Take rows and the name of each one's sequence; return the sequences, and which row each of theirs was."""
        _, order, indptr = _grouped(values, keys)
        return cls(indptr, _table(values)[order]), order

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return int(self.values.shape[1])

    @property
    def bounds(self) -> npt.NDArray[np.int64]:
        """Where each sequence begins and ends, as `Subchains` has it for their parts: it is its own core."""
        starts, stops = self.indptr[:-1], self.indptr[1:]
        return np.stack([starts, starts, stops, stops], axis=1)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __iter__(self) -> Iterator[Array]:
        """Go over the sequences, each as time points x columns."""
        return (self.group(n) for n in range(len(self)))

    def group(self, n: int) -> Array:
        """Return sequence n, time points x columns."""
        return self.values[self.indptr[n] : self.indptr[n + 1]]

    def slice(self, start: int, stop: int) -> Self:
        """Return sequences start, ..., stop - 1; they share the array."""
        return type(self)(self.indptr[start : stop + 1], self.values)

    def take(self, chosen: npt.NDArray[np.int64]) -> Self:
        """Return the given sequences in the given order, copied."""
        indptr, rows = take_runs(self.indptr, chosen)
        return type(self)(indptr, self.values[rows])

    def costs(self) -> npt.NDArray[np.int64]:
        """Return the length of each sequence."""
        return np.diff(self.indptr)


def _grouped(values: Any, keys: npt.ArrayLike) -> tuple[npt.NDArray[np.generic], Any, Any]:
    """Return the names of sequences, the rows in their order, and the cuts between them."""
    names, order, indptr = group_rows(keys)
    if len(order) != len(values):
        raise ValueError(f"there are {len(values):,} rows and {len(order):,} keys: each row needs one.")
    return names, order, indptr


def _table(values: Any) -> Array:
    """Return rows x columns; a plain list of numbers is one column."""
    rows: Array = np.asarray(values, dtype=np.float64)
    return rows[:, None] if rows.ndim == 1 else rows
