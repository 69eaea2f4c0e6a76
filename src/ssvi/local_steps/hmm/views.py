"""Views of a chain's start and transitions, in the form that recursions want."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ssvi.typing import Array

_LEAST = -460.0  # the logarithm of 1e-200: a transition that is rarer than that counts as so rare


@dataclass(frozen=True)
class ChainView:
    """exp of a view, over its largest number; recursions need numbers that a computer has.

    Attributes
    ----------
    start : (K,)
        Of first states, over exp(start_shift).
    transitions, transposed : (K, K)
        From row to column, over exp(shift), and the same with rows and columns exchanged.

    """

    start: Array
    transitions: Array
    transposed: Array
    start_shift: float
    shift: float

    @classmethod
    def of(cls, views: Mapping[str, Array]) -> ChainView:
        """Return the view of the blocks `start` and `transitions`."""
        start, start_shift = _exponentials(views["start"][0])
        transitions, shift = _exponentials(views["transitions"])
        return cls(start, transitions, np.ascontiguousarray(transitions.T), start_shift, shift)

    def logs(self) -> tuple[Array, Array]:
        """Return the logarithms of the view, none of them infinite."""
        return np.log(self.start) + self.start_shift, np.log(self.transitions) + self.shift


def _exponentials(view: Array) -> tuple[Array, float]:
    top = float(view.max())
    return np.ascontiguousarray(np.exp(np.maximum(view - top, _LEAST))), top
