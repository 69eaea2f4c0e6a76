"""Ratings: some cells of a table that is mostly unknown. A rating of 0 is a rating."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ssvi.batches.runs import take_runs
from ssvi.typing import Array


@dataclass(frozen=True)
class Ratings:
    """What some users have said of some items.

    Attributes
    ----------
    indptr : (users + 1,) integers
        User n has entries indptr[n], ..., indptr[n + 1] - 1. It need not start at 0.
    items : integers
        The item of each entry.
    values : numbers
        Its rating, which may be 0: what has no entry is unknown.
    n_items : int
        How many items there are.

    """

    indptr: npt.NDArray[np.int64]
    items: npt.NDArray[np.int64]
    values: Array
    n_items: int

    @classmethod
    def from_triples(
        cls, users: npt.ArrayLike, items: npt.ArrayLike, values: npt.ArrayLike, shape: tuple[int, int] | None = None
    ) -> Self:
        """Take a user's number, an item's number and a rating for each entry, in any order; no cell may occur twice."""
        rows, columns = np.asarray(users, dtype=np.int64), np.asarray(items, dtype=np.int64)
        numbers = np.asarray(values, dtype=np.float64)
        if not rows.shape == columns.shape == numbers.shape or rows.ndim != 1:
            raise ValueError(
                f"users, items and values must be lists of one length, not of shapes {rows.shape}, {columns.shape} and "
                f"{numbers.shape}."
            )
        n_users, n_items = shape or (int(rows.max(initial=-1)) + 1, int(columns.max(initial=-1)) + 1)
        if rows.size and (min(rows.min(), columns.min()) < 0 or rows.max() >= n_users or columns.max() >= n_items):
            raise ValueError(f"users must be from 0 to {n_users - 1} and items from 0 to {n_items - 1}.")
        order = np.lexsort((columns, rows))
        rows, columns, numbers = rows[order], columns[order], numbers[order]
        twice = np.flatnonzero((np.diff(rows) == 0) & (np.diff(columns) == 0))
        if twice.size:
            raise ValueError(
                f"user {rows[twice[0]]} has rated item {columns[twice[0]]} twice: keep one of the ratings."
            )
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n_users))])
        return cls(indptr, columns, numbers, n_items)

    @classmethod
    def from_matrix(cls, matrix: Any) -> Self:
        """Take users x items: what a sparse matrix stores, zeros too, or what is not NaN in a dense one."""
        if hasattr(matrix, "tocoo"):
            cells = matrix.tocoo()
            users, items = cells.coords if hasattr(cells, "coords") else (cells.row, cells.col)
            return cls.from_triples(users, items, cells.data, cells.shape)
        table = np.asarray(matrix, dtype=np.float64)
        users, items = np.nonzero(~np.isnan(table))
        return cls.from_triples(users, items, table[users, items], table.shape)

    def touched(self) -> npt.NDArray[np.int64]:
        """Return the items that somebody here has rated, in ascending order."""
        return np.unique(self.items[self.indptr[0] : self.indptr[-1]])

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def slice(self, start: int, stop: int) -> Self:
        """Return users start, ..., stop - 1; they share the entries' arrays."""
        return type(self)(self.indptr[start : stop + 1], self.items, self.values, self.n_items)

    def take(self, chosen: npt.NDArray[np.int64]) -> Self:
        """Return the given users in the given order, copied."""
        indptr, entries = take_runs(self.indptr, chosen)
        return type(self)(indptr, self.items[entries], self.values[entries], self.n_items)

    def costs(self) -> npt.NDArray[np.int64]:
        """Return the number of ratings of each user."""
        return np.diff(self.indptr)
