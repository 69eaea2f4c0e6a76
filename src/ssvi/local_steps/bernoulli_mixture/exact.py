"""The exact local step of the Bernoulli mixture: expected components."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.local_steps.bernoulli_mixture.responsibilities import MixtureStep
from ssvi.typing import Array


@dataclass(frozen=True)
class Exact(MixtureStep):
    """p(z_n = k | y_n, beta), in closed form. Its local ELBO is log p(y_n | beta) itself."""

    name = "exact"
    sampled = False

    def _bound(self, log_probability: Array) -> float:
        return float(log_probability.sum())
