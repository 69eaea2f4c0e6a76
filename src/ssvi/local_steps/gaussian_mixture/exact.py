"""The exact local step of the Gaussian mixture: expected components and missing entries."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.local_steps.gaussian_mixture.rows import MixtureStep
from ssvi.typing import Array


@dataclass(frozen=True)
class Exact(MixtureStep):
    """p(z_n = k | x_n, beta) and moments of missing entries, in closed form. Its local ELBO is log p(x_n | beta)."""

    name = "exact"
    sampled = False

    def _bound(self, log_probability: Array) -> float:
        return float(log_probability.sum())
