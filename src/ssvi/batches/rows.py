"""Rows of real numbers, some of which may be missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ssvi.numerics.random import Keys, scramble_array
from ssvi.typing import Array


@dataclass(frozen=True)
class DenseRows:
    """Some rows of numbers; NaN stands for one that nobody knows.

    Attributes
    ----------
    values : (rows, columns)
        The numbers.

    """

    values: Array

    @classmethod
    def from_matrix(cls, matrix: Any, mask: Any = None) -> Self:
        """Take a table; `mask` is true where an entry is missing, whatever stands there."""
        values = np.array(matrix, dtype=np.float64, order="C", ndmin=2, copy=mask is not None or None)
        if mask is not None:
            values[np.asarray(mask, dtype=bool)] = np.nan
        return cls(values)

    @property
    def n_columns(self) -> int:
        """The number of columns."""
        return int(self.values.shape[1])

    @property
    def missing(self) -> npt.NDArray[np.bool_]:
        """Where entries are missing."""
        return np.isnan(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def slice(self, start: int, stop: int) -> Self:
        """Return rows start, ..., stop - 1; they share the array."""
        return type(self)(self.values[start:stop])

    def take(self, rows: npt.NDArray[np.int64]) -> Self:
        """Return the given rows in the given order, copied."""
        return type(self)(self.values[rows])

    def costs(self) -> npt.NDArray[np.int64]:
        """Return the number of columns, for each row."""
        return np.full(len(self), self.n_columns, dtype=np.int64)

    def patterns(self) -> list[tuple[npt.NDArray[np.bool_], npt.NDArray[np.int64]]]:
        """Return each pattern of known columns that occurs, with its rows; complete rows come first."""
        missing = self.missing
        if not missing.any():
            return [(np.ones(self.n_columns, dtype=np.bool_), np.arange(len(self)))]
        found, own = np.unique(missing, axis=0, return_inverse=True)
        order = np.argsort(own.reshape(-1), kind="stable")
        cuts = np.cumsum(np.bincount(own.reshape(-1)))[:-1]
        return [(~pattern, rows) for pattern, rows in zip(found, np.split(order, cuts), strict=True)]

    def content_keys(self, key: int) -> Keys:
        """Return one random stream a row that depends on its numbers, not on its place in the batch."""
        bits = (self.values + 0.0).view(np.uint64)  # -0 is 0
        places = scramble_array(np.arange(1, self.n_columns + 1, dtype=np.uint64))
        keys: Keys = scramble_array(scramble_array(bits ^ places).sum(axis=1, dtype=np.uint64) + np.uint64(key))
        return keys
