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
        names, order, indptr = group_rows(keys)
        rows = _table(values)
        if len(order) != len(rows):
            raise ValueError(f"there are {len(rows):,} rows and {len(order):,} keys: each row needs one.")
        return names, cls(indptr, rows[order])

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __iter__(self) -> Iterator[Array]:
        """Go over the sequences, each as time points x columns."""
        return (self.values[start:stop] for start, stop in zip(self.indptr[:-1], self.indptr[1:], strict=True))

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


def _table(values: Any) -> Array:
    """Return rows x columns; a plain list of numbers is one column."""
    rows: Array = np.asarray(values, dtype=np.float64)
    return rows[:, None] if rows.ndim == 1 else rows
