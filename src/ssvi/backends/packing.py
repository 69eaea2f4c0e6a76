"""Statistics in few bytes: only the rows that hold something, and whole numbers in the narrowest type that holds them.

Rows of the topics' statistics are words. Most words of a shard are rare and have counts of one byte, and the words that
a shard does not have are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

_WIDTHS = (np.uint8, np.uint16, np.uint32)
_WORTHWHILE = 0.75  # rows are taken out if no more than this share of them is left


@dataclass(frozen=True)
class Rows:
    """Some rows of an array; None for all of them, in their order."""

    chosen: npt.NDArray[np.int64] | None
    values: npt.NDArray[Any]


@dataclass(frozen=True)
class Packed:
    """An array, but for rows of zeros."""

    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    parts: tuple[Rows, ...]

    @property
    def size(self) -> int:
        """The number of bytes."""
        return sum(part.values.nbytes + (0 if part.chosen is None else part.chosen.nbytes) for part in self.parts)

    def unpack(self) -> npt.NDArray[Any]:
        """Return the array."""
        if len(self.parts) == 1 and self.parts[0].chosen is None:
            return self.parts[0].values.astype(self.dtype)
        whole = np.zeros(self.shape, self.dtype)
        for part in self.parts:
            whole[part.chosen] = part.values
        return whole

    def add_to(self, total: npt.NDArray[Any]) -> None:
        """Add the array to another."""
        for part in self.parts:
            if part.chosen is None:
                total += part.values
            else:
                total[part.chosen] += part.values

    def largest(self) -> int:
        """Return the largest of some whole numbers."""
        return max((int(part.values.max(initial=0)) for part in self.parts), default=0)


def add_counts(packed: Sequence[Packed]) -> npt.NDArray[Any]:
    """Return a sum that is exact: of whole numbers, in their own type if it holds it or else in 64 bits; of doubles."""
    kind = packed[0].dtype
    whole = kind.kind in "iu"
    fits = not whole or sum(own.largest() for own in packed) <= np.iinfo(kind).max
    total = np.zeros(packed[0].shape, kind if fits else np.int64)
    for own in packed:
        own.add_to(total)
    return total


def pack(array: npt.NDArray[Any]) -> Packed:
    """Return an array in few bytes.

    >>> packed = pack(np.array([[0, 0], [1, 2], [0, 300]]))
    >>> [part.values.dtype.name for part in packed.parts], packed.unpack().tolist()
    (['uint8', 'uint16'], [[0, 0], [1, 2], [0, 300]])
    """
    array = np.asarray(array)
    if array.ndim < 2 or array.size == 0:
        return Packed(array.shape, array.dtype, (Rows(None, array),))
    rows = array.reshape(len(array), -1)
    parts = _whole_numbers(rows) if array.dtype.kind in "iu" and rows.min() >= 0 else (_filled(rows),)
    shaped = tuple(Rows(part.chosen, part.values.reshape(-1, *array.shape[1:])) for part in parts)
    return Packed(array.shape, array.dtype, shaped)


def _whole_numbers(rows: npt.NDArray[Any]) -> tuple[Rows, ...]:
    """Return rows of numbers by the width that each wants."""
    largest, parts, below = rows.max(axis=1), [], 0
    for width in _WIDTHS:
        most = np.iinfo(width).max
        parts.append((np.flatnonzero((largest > below) & (largest <= most)), width))
        below = most
    parts.append((np.flatnonzero(largest > below), rows.dtype.type))
    return tuple(
        Rows(None if len(chosen) == len(rows) else chosen, rows[chosen].astype(width))
        for chosen, width in parts
        if len(chosen)
    )


def _filled(rows: npt.NDArray[Any]) -> Rows:
    """Return the rows that are not all zeros, or all rows where most are."""
    chosen = np.flatnonzero(rows.any(axis=1))
    return Rows(chosen, rows[chosen]) if len(chosen) <= _WORTHWHILE * len(rows) else Rows(None, rows)
