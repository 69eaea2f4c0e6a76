"""What a draw from a family is."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ssvi.typing import Array

SELDOM = 0.5
"""The share of a softening below which gamma variables are not drawn."""


def drawn_share(shapes: Array | float, softening: float) -> Array:
    """Return how much of a draw is taken where gamma variables have these shapes: see `softened_draw`."""
    share = 1.0 / (1.0 + softening / np.asarray(shapes, dtype=float))
    return np.where(np.asarray(shapes) >= SELDOM * softening, share, 0.0)


@dataclass(frozen=True)
class Draw:
    """A sample beta ~ q, by its statistics and by what else the pullback needs.

    Attributes
    ----------
    stats : array, like lambda
        t(beta).
    hidden : array, rows x anything
        What t(beta) does not tell of the underlying univariate draws R-hat(u), in the family's own form.
    least : float
        Coordinates with gamma shapes below this were not drawn: they stand at their means, and take no correction.

    """

    stats: Array
    hidden: Array
    least: float = 0.0
