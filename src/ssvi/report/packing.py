"""Numbers for the page: arrays as text, a third as long as their digits would be."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.typing import Array

_KINDS: dict[str, Any] = {"f4": np.float32, "u4": np.uint32, "u2": np.uint16, "u1": np.uint8}


def pack(values: Any, kind: str) -> dict[str, str]:
    """Return an array as JSON: its kind (f4, u4, u2, u1), and its bytes, the lowest first, in base64.

    What is no number becomes 0, and what is too large the largest there is: a page shows something of every model.

    >>> pack([1, 2], "u1")
    {'kind': 'u1', 'bytes': 'AQI='}
    """
    given = np.nan_to_num(np.asarray(values, dtype=float), nan=0.0)
    if kind == "f4":
        largest = float(np.finfo(np.float32).max)
        array = np.clip(given, -largest, largest)
    else:
        array = np.clip(np.rint(given), 0, np.iinfo(_KINDS[kind]).max)
    data = np.ascontiguousarray(array, dtype=np.dtype(_KINDS[kind]).newbyteorder("<")).tobytes()
    return {"kind": kind, "bytes": base64.b64encode(data).decode("ascii")}


def unpack(packed: dict[str, str]) -> npt.NDArray[Any]:
    """Return the array that was packed, as one row."""
    kind = np.dtype(_KINDS[packed["kind"]]).newbyteorder("<")
    return np.frombuffer(base64.b64decode(packed["bytes"]), dtype=kind)


def places(values: Any, count: int) -> dict[str, str]:
    """Return numbers below a count, in as few bytes as it takes."""
    return pack(values, "u1" if count <= 1 << 8 else "u2" if count <= 1 << 16 else "u4")


def shades(values: Array, kind: str = "u1") -> dict[str, Any]:
    """Return values from 0 on as parts of the largest of them: enough for a picture."""
    largest = float(np.max(values, initial=0.0))
    levels = np.iinfo(_KINDS[kind]).max
    scaled = np.zeros_like(values) if largest <= 0 else values / largest * levels
    return {**pack(scaled, kind), "largest": rounded(largest)}


def rounded(value: float, digits: int = 5) -> float:
    """Return a number to five digits: the page need not be larger than what can be seen of it."""
    return float(f"{float(value):.{digits}g}") if np.isfinite(value) else 0.0


def all_rounded(values: Iterable[float], digits: int = 5) -> list[float]:
    """Return numbers to so many digits."""
    return [rounded(value, digits) for value in values]
