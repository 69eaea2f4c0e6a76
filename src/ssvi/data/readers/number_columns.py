"""Columns of numbers in tables: what a cell stands for, and columns that only count the rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ssvi.typing import Array

MISSING = frozenset(("", "na", "nan", "null", "none", "?", "n/a", "#n/a", "<na>"))
"""What stands in a cell of which nothing is known, in lower case."""

_ROW_NUMBERS = ("", "rownames", "row", "unnamed: 0")


def is_missing(cell: Any) -> bool:
    """Tell whether nothing is known of a cell."""
    return cell is None or (isinstance(cell, str) and cell.strip().lower() in MISSING)


def to_number(cell: Any, *, decimal_comma: bool = False) -> float | None:
    """Return the number that a cell stands for, NaN where it is missing; None if it is something else.

    >>> to_number("3.5"), to_number("NA"), to_number("setosa"), to_number("3,5", decimal_comma=True)
    (3.5, nan, None, 3.5)
    """
    if is_missing(cell):
        return np.nan
    if isinstance(cell, str) and ("_" in cell or not cell.isascii()):
        return None  # which Python would take for numbers: 1_000
    try:
        return float(cell.replace(",", ".", 1) if decimal_comma and isinstance(cell, str) else cell)
    except (TypeError, ValueError):
        return None


def to_numbers(cells: Sequence[Any], *, decimal_comma: bool = False) -> tuple[Array, list[int]]:
    """Return cells as numbers, NaN where one is missing or no number, and the places of those that are no numbers."""
    found = [to_number(cell, decimal_comma=decimal_comma) for cell in cells]
    strange = [place for place, number in enumerate(found) if number is None]
    for place in strange:
        found[place] = np.nan
    return np.array(found, dtype=np.float64), strange


def may_count_rows(name: str) -> bool:
    """Tell whether a column is called as those that R and pandas number rows by."""
    return name.strip().lower() in _ROW_NUMBERS


def counts_rows(name: str, cells: Sequence[Any]) -> bool:
    """Tell whether a column only numbers the rows, as those that R and pandas write do."""
    if not may_count_rows(name) or not cells:
        return False
    return any([str(cell) for cell in cells] == [str(row + first) for row in range(len(cells))] for first in (0, 1))
