"""What emissions share whose scores are linear in the entries of a row: zeros and ones, and counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ssvi.models.emissions.base import Tables, filled, products
from ssvi.numerics.compile import kernel, widest_vectors
from ssvi.numerics.random import Keys
from ssvi.typing import Array

Pair = Callable[[Array, Array], dict[str, Array]]


@dataclass(frozen=True)
class LinearTables(Tables):
    """A score is the sum, over known columns, of x times a slope and of a constant, and something of x alone.

    Attributes
    ----------
    slopes, constants : (D, K)
        Of each column in each state.
    own : function of filled values and what is known
        What is added to all states' scores of a time point.
    eta_hat : function
        From sums of x and of what is known, K x D, to eta-hat.

    """

    slopes: Array
    constants: Array
    own: Callable[[Array, Array], Array] | None
    eta_hat: Pair

    def scores(self, values: Array) -> Array:
        """Add up over columns."""
        known, there = filled(values)
        out = np.zeros((len(values), self.slopes.shape[1]))
        linear_scores(known, there, self.slopes, self.constants, out)
        return out if self.own is None else out + self.own(known, there)[:, None]

    def statistics(self, values: Array, shares: Array, keys: Keys, sampled: bool) -> dict[str, Array]:
        """Sum up entries and how many there are."""
        known, there = filled(values)
        return self.eta_hat(products(shares, known), products(shares, there))


@kernel
def linear_scores(values: Array, there: Array, slopes: Array, constants: Array, out: Array) -> None:
    """Add to `out`, time points x K, the scores of all columns."""
    widest_vectors()
    for t in range(values.shape[0]):
        row = out[t]
        for d in range(values.shape[1]):
            value, weight, slope, constant = values[t, d], there[t, d], slopes[d], constants[d]
            for k in range(row.size):
                row[k] += value * slope[k] + weight * constant[k]
