"""Multilevel logistic regression: successes out of trials."""

from __future__ import annotations

from dataclasses import dataclass

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
