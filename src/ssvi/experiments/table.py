"""Measurements in a CSV file that is never half-written, and what is wanted of them."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ssvi.files.atomic import write_atomically

Row = Mapping[str, Any]


@dataclass
class Table:
    """Rows of one file, in the order they were measured."""

    path: Path
    rows: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def open(cls, path: Path) -> Table:
        """Read what is there, or begin."""
        if not path.exists():
            return cls(path)
        with path.open(newline="") as file:
            return cls(path, [{name: _parse(text) for name, text in row.items()} for row in csv.DictReader(file)])

    def append(self, row: Row) -> None:
        """Add a row, on disk as well."""
        self.rows.append(dict(row))
        write_atomically(self.path, self._write)

    def where(self, **values: Any) -> list[dict[str, Any]]:
        """Return the rows that have these values."""
        return [dict(row) for row in select(self.rows, **values)]

    def _write(self, file: Any) -> None:
        writer = csv.DictWriter(file, list(self.rows[0]))
        writer.writeheader()
        writer.writerows(self.rows)


def select(rows: Iterable[Row], **values: Any) -> list[Row]:
    """Return the rows that have these values."""
    return [row for row in rows if all(row[name] == value for name, value in values.items())]


def distinct(rows: Iterable[Row], name: str) -> list[Any]:
    """Return the values of a column, each once, in the order of their first appearance."""
    return list(dict.fromkeys(row[name] for row in rows))


def mean_and_spread(values: Iterable[float]) -> tuple[float, float]:
    """Return the mean and the standard deviation over runs (NaN for a single one)."""
    numbers = np.array(list(values))
    return float(numbers.mean()), float(numbers.std(ddof=1)) if len(numbers) > 1 else float("nan")


def markdown(headings: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    """Return a table as Markdown.

    >>> print(markdown(["a", "b"], [["1", "2"]]), end="")
    | a | b |
    |---|---|
    | 1 | 2 |
    """
    rows = [headings, ["---"] * len(headings), *lines]
    return "".join("| " + " | ".join(row) + " |\n" for row in rows).replace(" --- ", "---")


def _parse(text: str) -> Any:
    if text in ("True", "False"):
        return text == "True"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
