"""Groups of a regression: rows of a table that share coefficients of their own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ssvi.batches.moments import Moments
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
    weights : (rows,)
        What each row counts: 1, trials of a count, or a factor of the noise's precision.

    """

    indptr: npt.NDArray[np.int64]
    inputs: Array
    outputs: Array
    weights: Array

    @classmethod
    def from_table(
        cls, inputs: Any, outputs: Any, groups: npt.ArrayLike, weights: Any = None
    ) -> tuple[npt.NDArray[np.generic], Self]:
        """Take x, y and the name of each row's group; return the names, in the order they occur in, and the groups.

        `weights` are 1 unless they are given.
        """
        x, y = np.asarray(inputs, dtype=np.float64), np.asarray(outputs, dtype=np.float64)
        names, order, indptr = group_rows(groups)
        w = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=np.float64)
        if not len(x) == len(y) == len(order) == len(w):
            raise ValueError(
                f"inputs, outputs and groups must have a row each for the same rows, not {len(x):,}, {len(y):,} and "
                f"{len(order):,}."
            )
        return names, cls(indptr, x[order], y[order], w[order])

    @classmethod
    def from_rows(cls, inputs: Any, outputs: Any, weights: Any = None) -> Self:
        """Take rows that belong to no group: each is one of its own."""
        x, y = np.ascontiguousarray(inputs, dtype=np.float64), np.ascontiguousarray(outputs, dtype=np.float64)
        w = np.ones(len(y)) if weights is None else np.ascontiguousarray(weights, dtype=np.float64)
        return cls(np.arange(len(y) + 1), x, y, w)

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __iter__(self) -> Iterator[tuple[Array, Array, Array]]:
        """Go over the groups, each as its x, its y and its weights."""
        return (self.group(n) for n in range(len(self)))

    def group(self, n: int) -> tuple[Array, Array, Array]:
        """Return x, y and weights of group n."""
        own = slice(self.indptr[n], self.indptr[n + 1])
        return self.inputs[own], self.outputs[own], self.weights[own]

    def slice(self, start: int, stop: int) -> Self:
        """Return groups start, ..., stop - 1; they share the arrays."""
        found = type(self)(self.indptr[start : stop + 1], self.inputs, self.outputs, self.weights)
        return self._with_moments(found, slice(start, stop))

    def take(self, chosen: npt.NDArray[np.int64]) -> Self:
        """Return the given groups in the given order, copied."""
        indptr, rows = take_runs(self.indptr, chosen)
        found = type(self)(indptr, self.inputs[rows], self.outputs[rows], self.weights[rows])
        return self._with_moments(found, chosen)

    @cached_property
    def moments(self) -> Moments:
        """Sums over each group's rows; where they were asked for, parts of the groups have them too."""
        return Moments.of(self.indptr, self.inputs, self.outputs, self.weights)

    def _with_moments(self, part: Self, chosen: Any) -> Self:
        if "moments" in self.__dict__:
            part.__dict__["moments"] = self.moments.some(chosen)
        return part

    def costs(self) -> npt.NDArray[np.int64]:
        """Return the number of rows of each group."""
        return np.diff(self.indptr)
