"""Groups of a regression: rows of a table that share coefficients of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ssvi.batches.runs import group_rows, take_runs
from ssvi.typing import Array


@dataclass(frozen=True)
class Groups:
    """The rows of some groups, one group after another.

    Attributes
    ----------
    indptr : (groups + 1,) integers
        Group n has rows indptr[n], ..., indptr[n + 1] - 1. It need not start at 0.
    inputs : (rows, columns)
        x of each row.
    outputs : (rows,)
        y of each row.

    """

    indptr: npt.NDArray[np.int64]
    inputs: Array
    outputs: Array

    @classmethod
    def from_table(cls, inputs: Any, outputs: Any, groups: npt.ArrayLike) -> tuple[npt.NDArray[np.generic], Self]:
        """Take x, y and the name of each row's group; return the names, in the order they occur in, and the groups."""
        x, y = np.asarray(inputs, dtype=np.float64), np.asarray(outputs, dtype=np.float64)
        names, order, indptr = group_rows(groups)
        if not len(x) == len(y) == len(order):
            raise ValueError(
                f"inputs, outputs and groups must have a row each for the same rows, not {len(x):,}, {len(y):,} and "
                f"{len(order):,}."
            )
        return names, cls(indptr, x[order], y[order])

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __iter__(self) -> Iterator[tuple[Array, Array]]:
        """Go over the groups, each as its x and its y."""
        pairs = zip(self.indptr[:-1], self.indptr[1:], strict=True)
        return ((self.inputs[start:stop], self.outputs[start:stop]) for start, stop in pairs)

    def slice(self, start: int, stop: int) -> Self:
        """Return groups start, ..., stop - 1; they share the arrays."""
        return type(self)(self.indptr[start : stop + 1], self.inputs, self.outputs)

    def take(self, chosen: npt.NDArray[np.int64]) -> Self:
        """Return the given groups in the given order, copied."""
        indptr, rows = take_runs(self.indptr, chosen)
        return type(self)(indptr, self.inputs[rows], self.outputs[rows])

    def costs(self) -> npt.NDArray[np.int64]:
        """Return the number of rows of each group."""
        return np.diff(self.indptr)
