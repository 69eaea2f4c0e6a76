"""Units of a table's columns, and priors that say little in any of them.

A fit sees every column divided by its root mean square, and y by its deviation, so that all is near 1. Nothing is
shifted: what varies between groups would be something else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ssvi.typing import Array

WEAK = 10.0  # deviations of y for one of a column, for coefficients of real numbers
WEAK_ODDS = 5.0  # the same in units of eta, for probabilities


@dataclass(frozen=True)
class Units:
    """What columns and y are divided by.

    Attributes
    ----------
    columns : (columns,)
        The root mean square of each column; 1 where there are only zeros.
    output : float
        The deviation of y; 1 for probabilities.

    """

    columns: Array
    output: float

    @classmethod
    def of(cls, inputs: Array, outputs: Array | None) -> Units:
        """Look at some rows; `outputs` are None for probabilities."""
        squares = np.sqrt((inputs**2).mean(axis=0))
        output = 1.0 if outputs is None else float(outputs.std())
        if outputs is not None and not output > 1e-12 * float(np.abs(outputs).max(initial=0.0)):
            output = float(np.abs(outputs).max(initial=0.0)) or 1.0
        return cls(np.where(squares > 0.0, squares, 1.0), output)

    def factors(self, columns: Any) -> Array:
        """Return what coefficients of some columns are multiplied with to be in the data's units."""
        return self.output / self.columns[list(columns)]


def usual_scales(inputs: Array, outputs: Array | None, intercept: int | None) -> Array:
    """Return the scale of a weak prior for the coefficient of each column, in the data's units.

    Ten deviations of y (five of eta, for probabilities) for a deviation of the column. The intercept is where all
    columns are 0, which may be far from the data: its scale reaches there.
    """
    deviations, middles = inputs.std(axis=0), np.abs(inputs.mean(axis=0))
    size = np.sqrt((inputs**2).mean(axis=0))
    widths = np.where(deviations > 1e-9 * size, deviations, np.where(size > 0.0, size, 1.0))
    weak = WEAK_ODDS if outputs is None else WEAK
    spread = 1.0 if outputs is None else Units.of(inputs, outputs).output
    level = 1.0 if outputs is None else max(spread, float(np.sqrt((outputs**2).mean())))
    scales = weak * spread / widths
    if intercept is not None:
        others = np.arange(inputs.shape[1]) != intercept
        scales[intercept] = weak * (level + spread * float((middles / widths)[others].sum()))
    return np.asarray(scales)
