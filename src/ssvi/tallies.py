"""What is added up of documents that come part by part: the best of them, and means by date or group."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ssvi.lookup import Found, Trends
from ssvi.periods import Groups, Periods, is_known
from ssvi.typing import Array

Rows = npt.NDArray[np.int64]

_MOST_LABELS = 20_000  # different dates or groups whose means are kept


class Best:
    """The rows with the largest values, for each of some columns; of equal ones the first.

    Parameters
    ----------
    columns : int
        How many rankings there are.
    count : int
        How many rows of each are kept.

    """

    def __init__(self, columns: int, count: int) -> None:
        self.values = np.full((columns, count), -np.inf)
        self.rows = np.full((columns, count), -1, np.int64)

    def see(self, start: int, values: Array) -> None:
        """Take in rows start, start + 1, ... of a table, whose columns are those of the rankings."""
        count = self.values.shape[1]
        for column in range(values.shape[1]):
            order = np.argsort(-values[:, column], kind="stable")[:count]
            every = np.concatenate([self.values[column], values[order, column]])
            rows = np.concatenate([self.rows[column], order + start])
            best = np.lexsort((np.where(rows < 0, np.iinfo(np.int64).max, rows), -every))[:count]
            self.values[column], self.rows[column] = every[best], rows[best]

    def found(self, column: int = 0) -> Found:
        """Return the best rows of a ranking whose values are above 0."""
        there = (self.rows[column] >= 0) & (self.values[column] > 0)
        return Found(self.rows[column][there], self.values[column][there])


class MeansByLabel:
    """Means of rows by dates or groups, of which there are far fewer than rows."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}
        self._sums: list[Array] = []
        self._counts: list[int] = []
        self.left_out = 0
        self.unknown = 0

    def see(self, labels: Sequence[str], values: Array) -> None:
        """Take in rows and the label of each."""
        known = np.array([is_known(label) for label in labels], dtype=bool)
        self.unknown += int((~known).sum())
        if not known.any():
            return
        names, own = np.unique(np.array(labels, dtype=object)[known].astype(str), return_inverse=True)
        sums = np.zeros((len(names), values.shape[1]))
        np.add.at(sums, own.reshape(-1), values[known])
        for name, total, count in zip(names.tolist(), sums, np.bincount(own.reshape(-1)).tolist(), strict=True):
            place = self._places.get(name)
            if place is None and len(self._places) >= _MOST_LABELS:
                self.left_out += count
                continue
            if place is None:
                self._places[name] = len(self._sums)
                self._sums.append(total)
                self._counts.append(count)
            else:
                self._sums[place] = self._sums[place] + total
                self._counts[place] += count

    def trends(self, kind: str, unit: str | None = None) -> Trends | None:
        """Return means by period (kind "date", of a unit or the finest that will do) or by group; None without any."""
        if not self._places:
            return None
        names, counts, sums = list(self._places), np.array(self._counts), np.stack(self._sums)
        if kind == "group":
            order = sorted(range(len(names)), key=lambda place: (-counts[place], names[place]))
            where: Periods | Groups = Groups(tuple(names[place] for place in order), np.argsort(order))
        else:
            where = Periods.of(names, unit)
        places = where.places
        there = places >= 0
        rows = np.bincount(places[there], weights=counts[there], minlength=len(where.names)).astype(np.int64)
        totals = np.zeros((len(where.names), sums.shape[1]))
        np.add.at(totals, places[there], sums[there])
        means = totals / np.maximum(rows, 1)[:, None]
        unit_name = "group" if kind == "group" else getattr(where, "unit", kind)
        unknown = self.unknown + self.left_out + int(counts[~there].sum())
        overall = sums[there].sum(axis=0) / max(1, int(counts[there].sum()))
        return Trends(unit_name, where.names, rows, means, overall, unknown)
