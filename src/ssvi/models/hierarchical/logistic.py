"""Multilevel logistic regression: successes out of trials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import special

from ssvi.models.hierarchical.counts import HierarchicalCounts
from ssvi.typing import Array


@dataclass(frozen=True)
class HierarchicalLogistic(HierarchicalCounts):
    """y_i ~ Binomial(w_i, 1 / (1 + exp(-eta_i))); see `HierarchicalRegression` for eta."""

    name = "hierarchical_logistic"
    _slope = 0.25

    def probability(self, eta: Array) -> Array:
        """Return the probability of a success."""
        return np.asarray(special.expit(eta))

    @classmethod
    def example(cls) -> Self:
        """Return a regression on three columns of which two vary."""
        return cls(
            3,
            varying=(0, 1),
            coefficient_scale=1.0,
            deviation_prior="wishart",
            deviation_degrees=8.0,
            deviation_scale=1.0,
        )
