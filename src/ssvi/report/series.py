"""Sequences as a page shows them: those of many time points thinned, with nothing hidden that stands out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.report.packing import pack, rounded
from ssvi.typing import Array

MOST_SEQUENCES = 24  # that a page has, the first ones
MOST_COLUMNS = 6  # of which a page has the series
_MOST_PLACES = 6_000  # of a sequence: several for each pixel of a screen
_MOST_BYTES = 420_000  # of all sequences together
_FEWEST_PLACES = 200
_LEVELS = 65_534  # between the least and the largest value of a column; 0 stands for what is missing


@dataclass(frozen=True)
class Shown:
    """The sequences that a page has.

    Attributes
    ----------
    values : list of (time points, columns)
        Each sequence.
    names : list of str
        What each is called.
    times : list, each a sequence of str or None
        When each time point was, where that is known.
    left_out : int
        How many further sequences there are.

    """

    values: list[Array]
    names: list[str]
    times: list[Sequence[Any] | None]
    left_out: int

    @classmethod
    def first(cls, data: Any, lengths: Any, names: Sequence[str] | None, times: Sequence[Any] | None) -> Shown:
        """Take the first sequences of rows in sequences of some lengths."""
        rows = np.asarray(data.toarray() if hasattr(data, "toarray") else data, dtype=float)
        rows = rows[:, None] if rows.ndim == 1 else rows
        sizes = np.array([len(rows)]) if lengths is None else np.asarray(lengths, dtype=np.int64)
        cuts = np.append(0, np.cumsum(sizes))
        if cuts[-1] != len(rows):
            raise ValueError(f"lengths add up to {cuts[-1]:,}, and there are {len(rows):,} time points.")
        several = range(min(len(sizes), MOST_SEQUENCES))
        called = [f"sequence {n + 1}" for n in several] if names is None else [str(names[n]) for n in several]
        return cls(
            [rows[cuts[n] : cuts[n + 1]] for n in several],
            called,
            [None if times is None else list(times[cuts[n] : cuts[n + 1]]) for n in several],
            len(sizes) - len(several),
        )

    def places(self, bytes_each: int) -> int:
        """Return how many places a sequence has on the page at most, if each takes so many bytes."""
        return min(_MOST_PLACES, max(_FEWEST_PLACES, _MOST_BYTES // (len(self.values) * bytes_each)))


def stretch_of(length: int, most: int) -> int:
    """Return how many time points each place stands for.

    >>> stretch_of(100, 200), stretch_of(1_000, 300)
    (1, 4)
    """
    return -(-length // most)


def in_stretches(values: Array, stretch: int, take: Any) -> Array:
    """Return one value for each stretch of time points, by a function of stretches x time points that may have NaN.

    The last stretch may be shorter. A stretch of which nothing is known has NaN.
    """
    if stretch == 1:
        return values
    count = -(-len(values) // stretch)
    padded = np.full((count * stretch, *values.shape[1:]), np.nan)
    padded[: len(values)] = values
    cut = padded.reshape(count, stretch, *values.shape[1:])
    known = np.asarray(~np.isnan(cut).all(axis=1))
    result: Array = np.where(known, take(np.where(known[:, None], cut, 0.0), axis=1), np.nan)
    return result


def commonest(path: npt.NDArray[np.int64], stretch: int, count: int) -> npt.NDArray[np.int64]:
    """Return the state that most time points of each stretch are in."""
    if stretch == 1:
        return path
    starts = np.arange(len(path)) // stretch
    tally = np.zeros((int(starts[-1]) + 1, count))
    np.add.at(tally, (starts, path), 1.0)
    return np.asarray(np.argmax(tally, axis=1), dtype=np.int64)


@dataclass(frozen=True)
class Scale:
    """The range of a column, in which its values are packed in two bytes each."""

    low: float
    high: float

    @classmethod
    def of(cls, *parts: Array) -> Scale:
        """Take the range of all that is to be shown of a column."""
        known = np.concatenate([np.ravel(part)[np.isfinite(np.ravel(part))] for part in parts])
        if not len(known):
            return cls(0.0, 1.0)
        low, high = float(known.min()), float(known.max())
        return cls(low, high) if high > low else cls(low - 0.5, high + 0.5)

    def packed(self, values: Array) -> dict[str, str]:
        """Return values for the page: 0 for what is missing, else 1 and more."""
        places = 1.0 + _LEVELS * (values - self.low) / (self.high - self.low)
        return pack(np.where(np.isnan(values), 0.0, places), "u2")

    def told(self, name: str) -> dict[str, Any]:
        """Return the column for the page."""
        return {"name": name, "low": rounded(self.low, 9), "high": rounded(self.high, 9)}
