"""Dates of documents and the periods they fall into, and groups: what was when and where, for tables and plots."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.typing import Array

Dates = npt.NDArray[np.datetime64]
Places = npt.NDArray[np.int64]

UNITS = ("day", "week", "month", "year", "decade")
_MOST = {"day": 62, "week": 62, "month": 120, "year": 120}  # periods that can be told apart in a row
_ENOUGH = 50  # rows of a place whose mean is believed, however many others have
_TOO_FEW = 0.2  # of what is believed: what has fewer rows says nothing
_MONDAY = 4  # days from the first of 1970 to the first Monday
_FORMS = ("%d.%m.%Y", "%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y", "%B %Y", "%b %Y")
_ISO = re.compile(r"(\d{4})(?:[-/.]?(\d{2})(?:[-/.]?(\d{2}))?)?(?:[T ].*)?")


@dataclass(frozen=True)
class Periods:
    """The periods of some rows, from the first to the last, also those between in which nothing is.

    Attributes
    ----------
    unit : str
        day, week, month, year or decade.
    names : tuple of str
        What each is called: a week by its Monday.
    places : (rows,) integers
        The period of each row, -1 where its date is not known.

    """

    unit: str
    names: tuple[str, ...]
    places: Places

    @classmethod
    def of(cls, given: Sequence[Any], unit: str | None = None) -> Periods:
        """Return the periods of dates: of a unit, or of the finest of which there are not too many."""
        if unit is not None and unit not in UNITS:
            raise ValueError(f"a period is one of {', '.join(UNITS)}, not {unit!r}.")
        dates = as_dates(given)
        known = ~np.isnat(dates)
        if not known.any():
            return cls(unit or "year", (), np.full(len(dates), -1))
        unit, periods = (unit, _numbers(dates[known], unit)) if unit else _finest(dates[known])
        first = int(periods.min())
        places = np.full(len(dates), -1, dtype=np.int64)
        places[known] = periods - first
        return cls(unit, tuple(_name(unit, period) for period in range(first, int(periods.max()) + 1)), places)

    def counts(self) -> Places:
        """Return how many rows each period has."""
        return np.bincount(self.places[self.places >= 0], minlength=len(self.names)).astype(np.int64)

    def means(self, values: Array) -> Array:
        """Return the means of the rows of each period: periods x columns; 0 where there are none."""
        known = self.places >= 0
        return group_means(np.asarray(values)[known], self.places[known], len(self.names))


@dataclass(frozen=True)
class Groups:
    """The groups of some rows, the largest first; of two of one size, the first by name.

    Attributes
    ----------
    names : tuple of str
        What each is called.
    places : (rows,) integers
        The group of each row, -1 where it is not known.

    """

    names: tuple[str, ...]
    places: Places

    @classmethod
    def of(cls, given: Sequence[Any]) -> Groups:
        """Return the groups of names.

        >>> Groups.of(["news", "sport", "", "sport"])
        Groups(names=('sport', 'news'), places=array([ 1,  0, -1,  0]))
        """
        known = np.array([is_known(group) for group in given], dtype=bool)
        places = np.full(len(given), -1, dtype=np.int64)
        if not known.any():
            return cls((), places)
        called, own = np.unique(np.array([str(group) for group in given])[known], return_inverse=True)
        order = np.argsort(-np.bincount(own), kind="stable")
        places[known] = np.argsort(order)[own]
        return cls(tuple(str(name) for name in called[order]), places)

    def counts(self) -> Places:
        """Return how many rows each group has."""
        return np.bincount(self.places[self.places >= 0], minlength=len(self.names)).astype(np.int64)

    def means(self, values: Array) -> Array:
        """Return the means of the rows of each group: groups x columns."""
        known = self.places >= 0
        return group_means(np.asarray(values)[known], self.places[known], len(self.names))


def group_means(values: Array, places: Places, count: int) -> Array:
    """Return the mean of the rows of each place: places x columns; 0 where there are none."""
    from scipy import sparse

    chosen = sparse.csr_array((np.ones(len(places)), (places, np.arange(len(places)))), shape=(count, len(places)))
    result: Array = (chosen @ values) / np.maximum(np.bincount(places, minlength=count), 1)[:, None]
    return result


def trust(counts: Any) -> Array:
    """Return how far the mean of each place is to be believed, by its number of rows: from 0 to 1.

    It is 1 for a place with as many rows as that of a typical row has, or with fifty, and less in proportion for
    smaller ones.

    >>> trust([1, 30, 30, 0, 60])
    array([0.03333333, 1.        , 1.        , 0.        , 1.        ])
    """
    sizes = np.asarray(counts, dtype=float)
    ordered = np.sort(sizes)
    half = np.searchsorted(np.cumsum(ordered), ordered.sum() / 2.0)
    usual = min(_ENOUGH, ordered[half]) if sizes.any() else 1.0
    result: Array = np.minimum(sizes / usual, 1.0)
    return result


def has_enough(counts: Any) -> npt.NDArray[np.bool_]:
    """Tell which places have enough rows to say anything of them: a fifth of what it takes to be believed.

    >>> has_enough([1, 30, 30, 0, 60])
    array([False,  True,  True, False,  True])
    """
    result: npt.NDArray[np.bool_] = trust(counts) >= _TOO_FEW
    return result


def steadied(means: Array, counts: Any) -> Array:
    """Return means of places, drawn in to that of all rows as far as they are not to be believed; 0 without rows.

    So a week with a single document does not stand out among weeks of hundreds.

    >>> steadied(np.array([0.9, 0.2, 0.4]), [1, 50, 50]).round(3)
    array([0.318, 0.2  , 0.4  ])
    """
    sizes, values = np.asarray(counts, dtype=float), np.nan_to_num(means)
    overall = sizes @ values / max(float(sizes.sum()), 1.0)
    weights = trust(sizes).reshape(-1, *[1] * (values.ndim - 1))
    there = (sizes > 0).reshape(weights.shape)
    result: Array = np.where(there, overall + weights * (values - overall), 0.0)
    return result


def is_known(value: Any) -> bool:
    """Tell whether something is said: not None, empty, or no number or time.

    >>> [is_known(value) for value in ("2024", "", None, float("nan"), np.datetime64("NaT"))]
    [True, False, False, False, False]
    """
    return value is not None and str(value).strip().lower() not in ("", "nan", "nat", "none", "null", "<na>")


def as_dates(given: Sequence[Any]) -> Dates:
    """Return days; what is empty or cannot be read is not known (NaT), unless that holds for all that is said.

    Dates are read as ISO has them (2024, 2024-05, 2024-05-31, 20240531, with a time or not), as e-mail has them, and as
    31.05.2024, 31 May 2024, May 31, 2024 or May 2024; 5/6/2024 could be two days, and is not read.

    >>> as_dates(["2024-05", "", "1999-12-31T23:59", "6 May 2024"])
    array(['2024-05-01',        'NaT', '1999-12-31', '2024-05-06'],
          dtype='datetime64[D]')
    """
    result = np.full(len(given), "NaT", dtype="datetime64[D]")
    unread = None
    for row, date in enumerate(given):
        if not is_known(date):
            continue
        found = _read(str(date).strip())
        if found is None:
            unread = unread or (row, date)
        else:
            result[row] = found
    if unread is not None and np.isnat(result).all():
        row, date = unread
        raise ValueError(f"row {row + 1} has the date {str(date)!r}: dates are written as 2024, 2024-05 or 2024-05-31.")
    return result


def _read(text: str) -> np.datetime64 | None:
    """Return the day that a text is, or None."""
    iso = _ISO.fullmatch(text)
    if iso:
        try:
            year, month, day = (int(part) if part else 1 for part in iso.groups())
            return np.datetime64(datetime.date(year, month, day), "D")
        except ValueError:
            return None
    for form in _FORMS:
        try:
            return np.datetime64(datetime.datetime.strptime(text, form).date(), "D")
        except ValueError:
            continue
    try:
        return np.datetime64(parsedate_to_datetime(text).date(), "D")
    except (TypeError, ValueError, IndexError):
        return None


def _finest(dates: Dates) -> tuple[str, Places]:
    for unit, most in _MOST.items():
        periods = _numbers(dates, unit)
        if periods.max() - periods.min() < most:
            return unit, periods
    return "decade", _numbers(dates, "decade")


def _numbers(dates: Dates, unit: str) -> Places:
    """Return each date's period as a number: of days, weeks or months since 1970, or of the year or decade."""
    days, months = dates.astype("datetime64[D]").astype(np.int64), dates.astype("datetime64[M]").astype(np.int64)
    years = months // 12 + 1970
    return {"day": days, "week": (days - _MONDAY) // 7, "month": months, "year": years, "decade": years // 10}[unit]


def _name(unit: str, period: int) -> str:
    if unit == "year":
        return str(period)
    if unit == "decade":
        return f"{10 * period}s"
    if unit == "month":
        return f"{1970 + period // 12}-{period % 12 + 1:02d}"
    return str(np.datetime64(7 * period + _MONDAY if unit == "week" else period, "D"))
