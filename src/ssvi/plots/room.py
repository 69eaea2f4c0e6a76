"""Room on a map: texts that cover neither circles nor each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ssvi.typing import Array

_LETTER = (4.2, 9.0)  # the width and the height of a letter, in points: a little more than small letters have
_GAP = 2.0
_DIRECTIONS = ((0, -1), (0, 1), (1, 0), (-1, 0), (1, -1), (1, 1), (-1, -1), (-1, 1))
_ACROSS, _UP = {-1: "right", 0: "center", 1: "left"}, {-1: "top", 0: "center", 1: "bottom"}


class Place(NamedTuple):
    """Where a text goes: whose it is, how far from that point, and how it is aligned there."""

    number: int
    offset: tuple[float, float]
    across: str
    up: str


def place_texts(points: Array, radii: Array, texts: Sequence[str]) -> list[Place]:
    """Return places beside their circles where texts cover neither circles nor each other.

    The first texts choose first; one that finds no room has no place.
    """
    taken = [np.concatenate([point - radius, point + radius]) for point, radius in zip(points, radii, strict=True)]
    placed = []
    for k, text in enumerate(texts):
        size = np.array([_LETTER[0] * len(text), _LETTER[1]])
        for x, y in _DIRECTIONS if text else ():
            offset = (radii[k] + _GAP) * np.array([x, y]) / np.hypot(x, y)
            # Aligned so that it goes on from the circle: to the right of it, it begins at the offset.
            low = points[k] + offset + np.array([x - 1, y - 1]) / 2 * size
            box = np.concatenate([low, low + size])
            if not any(_meet(box, other) for other in taken):
                taken.append(box)
                placed.append(Place(k, (offset[0], offset[1]), _ACROSS[x], _UP[y]))
                break
    return placed


def _meet(one: Array, other: Array) -> bool:
    """Tell whether two boxes (left, low, right, high) have a part in common."""
    return bool(np.all(one[:2] < other[2:]) and np.all(other[:2] < one[2:]))
