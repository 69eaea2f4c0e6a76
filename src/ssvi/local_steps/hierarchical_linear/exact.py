"""The exact local step of multilevel linear regression."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.local_steps.hierarchical_linear.gaussian import GaussianStep


@dataclass(frozen=True)
class Exact(GaussianStep):
    """p(b_n | y_n, beta, Q, tau), a Gaussian; what it says of beta has b_n integrated out."""

    name = "exact"
    sampled = False
