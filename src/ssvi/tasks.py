"""How work on an array is cut: by the array alone, so that results do not depend on the number of workers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ssvi.typing import Array

Each = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]
"""Runs a function on several tasks, in any order, and yields results in theirs: Python's `map`, or a backend's."""

_ELEMENTS_A_TASK = 1 << 16


def row_tasks(shape: tuple[int, ...]) -> list[slice]:
    """Cut an array into runs of rows: about equal ones, and where rows allow an even number, so that two share them.

    >>> row_tasks((5, 30_000))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    >>> len(row_tasks((5_000, 50)))
    4
    >>> len(row_tasks((6_600, 50)))
    6
    """
    count = -(-math.prod(shape) // _ELEMENTS_A_TASK)
    size = max(1, -(-shape[0] // max(1, count + count % 2 if count > 1 else count)))
    return [slice(start, min(start + size, shape[0])) for start in range(0, shape[0], size)]


def run_all(each: Each, function: Callable[[Any], Any], tasks: Sequence[Any]) -> None:
    """Run a function on all tasks for what it does."""
    for _ in each(function, tasks):
        pass


def column_sums(array: Array, each: Each) -> Array:
    """Return the sums of columns, added up task by task."""
    parts = each(lambda rows: array[rows].sum(axis=0), row_tasks(array.shape))
    return sum(parts, np.zeros(array.shape[1]))
