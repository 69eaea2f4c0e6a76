"""Lines of numbers, parsed by NumPy a chunk at a time."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

LARGEST = 1 << 53  # beyond it, doubles skip whole numbers
_LINE_FEED, _SPACE = ord("\n"), ord(" ")


@dataclass(frozen=True)
class Pairs:
    """Lines of a first number and pairs `word:value`."""

    heads: npt.NDArray[Any]
    lengths: npt.NDArray[np.int64]
    words: npt.NDArray[Any]
    values: npt.NDArray[Any]


def parse_rows(chunk: bytes, columns: int, dtype: type[np.number[Any]]) -> npt.NDArray[Any] | None:
    """Return lines of `columns` numbers as an array, blank lines left out; None if any line is something else."""
    starts = _token_starts(chunk)
    values = _parse(chunk, dtype)
    if values is None or len(values) != len(starts):
        return None
    per_line = np.diff(np.searchsorted(starts, _line_ends(chunk)), prepend=0)
    if np.any((per_line != columns) & (per_line != 0)):
        return None
    return values.reshape(-1, columns)


def parse_pairs(chunk: bytes, dtype: type[np.number[Any]]) -> Pairs | None:
    """Return lines `number word:value word:value ...` as arrays; None if any line is something else."""
    plain = chunk.replace(b":", b" ")
    starts = _token_starts(plain)
    values = _parse(plain, dtype)
    if values is None or len(values) != len(starts):
        return None
    stops = np.searchsorted(starts, _line_ends(chunk))
    firsts = np.concatenate([[0], stops[:-1]])
    if np.any((stops - firsts) % 2 == 0):
        return None
    # Every second gap between numbers must be one colon and nothing else, every other one none.
    is_pair = np.ones(len(starts), bool)
    is_pair[firsts] = False
    order = np.arange(len(starts)) - np.repeat(firsts, stops - firsts)
    first_of_pair = is_pair & (order % 2 == 1)
    colons = np.flatnonzero(np.frombuffer(chunk, np.uint8) == ord(":"))
    if not np.array_equal(colons + 1, starts[np.flatnonzero(first_of_pair) + 1]):
        return None
    if np.any(np.frombuffer(plain, np.uint8)[colons - 1] <= _SPACE):
        return None
    second_of_pair = is_pair & ~first_of_pair
    return Pairs(values[firsts], (stops - firsts) // 2, values[first_of_pair], values[second_of_pair])


def nth_line(chunk: bytes, row: int) -> int:
    """Return where in the chunk the line of a row stands, both from 0; blank lines are no rows."""
    for place, line in enumerate(chunk.split(b"\n")):
        if line.strip():
            if row == 0:
                return place
            row -= 1
    raise IndexError(row)


def first_fault(lines: Sequence[bytes], is_faulty: Callable[[Sequence[bytes]], bool]) -> int:
    """Return where the first faulty line stands, given that there is one: halving is quicker than line by line."""
    start, stop = 0, len(lines)
    while stop - start > 1:
        middle = (start + stop) // 2
        if is_faulty(lines[start:middle]):
            stop = middle
        else:
            start = middle
    return start


def shown(text: bytes) -> str:
    """Return a piece of a file as it may stand in a message."""
    return repr(text[:40].decode("ascii", "backslashreplace")) + ("..." if len(text) > 40 else "")


def _parse(text: bytes, dtype: type[np.number[Any]]) -> npt.NDArray[Any] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # NumPy warns where it stops early
        try:
            return np.fromstring(text, dtype=dtype, sep=" ")
        except (Warning, ValueError):
            return None


def _token_starts(text: bytes) -> npt.NDArray[np.int64]:
    solid = np.frombuffer(text, np.uint8) > _SPACE
    starts = solid.copy()
    starts[1:] &= ~solid[:-1]
    return np.flatnonzero(starts)


def _line_ends(chunk: bytes) -> npt.NDArray[np.int64]:
    ends = np.flatnonzero(np.frombuffer(chunk, np.uint8) == _LINE_FEED)
    return ends if chunk.endswith(b"\n") else np.append(ends, len(chunk))
