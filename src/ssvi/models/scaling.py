"""Columns of numbers in units of their own: centred, and divided by their deviations.

A model of rows far from 0, or of columns in very different units, would lose digits; in units of their own it does not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ssvi.models.quantities import Quantities, Quantity, counted
from ssvi.typing import Array

_SMALLEST = 1e-150
_NARROW = 1e-3  # of its size, the deviation of a column that does not vary


@dataclass(frozen=True)
class Scaling:
    """The centre and the unit of each column.

    Attributes
    ----------
    centre, unit : (D,)
        A value x becomes (x - centre) / unit.

    """

    centre: Array
    unit: Array

    @classmethod
    def of(cls, values: Array, *, alike: bool = False) -> Scaling:
        """Return the means and standard deviations of the known entries of each column.

        A column that does not vary has a thousandth of its value for a deviation (of 1 if it is 0), and one of which
        nothing is known has mean 0 and deviation 1. If columns are to stay `alike`, all have the root of the mean
        variance for a unit.
        """
        missing = np.isnan(values)
        counts = np.maximum((~missing).sum(axis=0), 1)
        low = np.where(missing, np.inf, values).min(axis=0)
        high = np.where(missing, -np.inf, values).max(axis=0)
        unknown = missing.all(axis=0)
        low, high = np.where(unknown, 0.0, low), np.where(unknown, 0.0, high)
        with np.errstate(over="ignore"):
            width = high - low
        if not np.isfinite(width).all():
            column = int(np.argmin(np.isfinite(width)))
            raise ValueError(
                f"the numbers of column {column} are too far apart, from {low[column]:.3g} to {high[column]:.3g}: "
                "divide them by something."
            )
        inner = np.where(missing, 0.0, (values - low) / np.where(width > 0, width, 1.0))
        centre = inner.sum(axis=0) / counts
        spread = np.sqrt(np.where(missing, 0.0, (inner - centre) ** 2).sum(axis=0) / counts)
        centre, deviations = low + width * centre, width * spread
        if alike and deviations.any():
            units = np.full(len(centre), _root_mean_square(deviations))
            _check_units(units)
            return cls(centre, units)
        size = np.where(centre == 0.0, 1.0, np.abs(centre))
        units = np.where(unknown, 1.0, np.where(deviations > 0, deviations, _NARROW * size))
        _check_units(units)
        return cls(centre, np.full(len(centre), units.max()) if alike else units)

    def __post_init__(self) -> None:
        if self.centre.ndim != 1 or self.centre.shape != self.unit.shape or not (self.unit > 0).all():
            raise ValueError("a scaling needs a centre and a positive unit for each column.")

    def apply(self, values: Array) -> Array:
        """Return values in these units."""
        result: Array = (values - self.centre) / self.unit
        return result

    def undo(self, values: Array) -> Array:
        """Return values in the units that they came in."""
        result: Array = self.centre + self.unit * values
        return result

    def squares(self, axes: int) -> Array:
        """Return the units of covariances (2 axes), of a variance for each column (1) or of one variance (0)."""
        if axes == 2:
            return self.unit[:, None] * self.unit
        return self.unit**2 if axes else np.asarray(self.unit[0] ** 2)

    def log_volume(self, values: Array) -> Array:
        """Return, for each row, what the logarithm of a density of its known entries loses in their own units."""
        result: Array = np.where(np.isnan(values), 0.0, np.log(self.unit)).sum(axis=1)
        return result


def in_units(
    quantities: Quantities,
    scaling: Scaling,
    *,
    places: tuple[str, ...] = (),
    lengths: tuple[str, ...] = (),
    squares: tuple[str, ...] = (),
) -> Quantities:
    """Return quantities in the units that the data came in: places of columns, lengths along them, or covariances."""
    ways: dict[str, Callable[[Quantity], Array]] = {
        **dict.fromkeys(places, lambda own: scaling.undo(own.draws)),
        **dict.fromkeys(lengths, lambda own: own.draws * scaling.unit),
        **dict.fromkeys(squares, lambda own: own.draws * scaling.squares(_columns_of(own))),
    }
    return {name: own._replace(draws=ways[name](own)) if name in ways else own for name, own in quantities.items()}


def _columns_of(quantity: Quantity) -> int:
    """Return how many axes of a quantity are of columns."""
    return sum(counted(dim) == "feature" for dim in quantity.dims)


def _check_units(units: Array) -> None:
    """Raise unless variances in these units are numbers that a computer has."""
    wrong = (units < _SMALLEST) | (units > 1.0 / _SMALLEST)
    if wrong.any():
        column = int(np.argmax(wrong))
        raise ValueError(
            f"the numbers of column {column} have a deviation of {units[column]:.3g}, whose square no computer can "
            "hold: take other units."
        )


def _root_mean_square(values: Array) -> float:
    largest = values.max()
    return float(largest * np.sqrt(((values / largest) ** 2).mean()))
