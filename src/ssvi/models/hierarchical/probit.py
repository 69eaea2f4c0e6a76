"""Multilevel probit regression: successes out of trials."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from ssvi.models.hierarchical.counts import HierarchicalCounts
from ssvi.typing import Array


@dataclass(frozen=True)
class HierarchicalProbit(HierarchicalCounts):
    """y_i ~ Binomial(w_i, Phi(eta_i)); see `HierarchicalRegression` for eta."""

    name = "hierarchical_probit"
    _slope = 0.3989422804014327

    def probability(self, eta: Array) -> Array:
        """Return the probability of a success."""
        return np.asarray(special.ndtr(eta))
