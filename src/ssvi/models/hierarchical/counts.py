"""What regressions of binary outcomes share: successes out of so many trials."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from ssvi.models.hierarchical.base import HierarchicalRegression, Noise
from ssvi.typing import Array


@dataclass(frozen=True)
class HierarchicalCounts(HierarchicalRegression):
    """y_i successes out of w_i trials, each with a probability that follows from eta_i."""

    simulated_trials: int = 3
    """How many trials a row has at most that `simulate` makes."""

    _slope: ClassVar[float]
    """Of the probability at eta = 0."""

    @abstractmethod
    def probability(self, eta: Array) -> Array:
        """Return the probability of a success."""

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

    @classmethod
    def identifiable(cls) -> Self:
        """Return the example with so many trials that each group tells its own coefficients."""
        return replace(cls.example(), simulated_trials=40)

    def working(self, outputs: Array, weights: Array) -> Noise:
        """Return shares of successes on a line that touches the curve of probabilities at 1/2, drawn in a little."""
        shares = (outputs + 0.5) / (weights + 1.0)
        return Noise((shares - 0.5) / self._slope, weights * 4.0 * self._slope**2)

    def _simulate_outputs(
        self, rng: np.random.Generator, eta: Array, values: Mapping[str, Array]
    ) -> tuple[Array, Array]:
        trials = rng.integers(1, self.simulated_trials + 1, len(eta))
        return rng.binomial(trials, self.probability(eta)).astype(np.float64), trials.astype(np.float64)
