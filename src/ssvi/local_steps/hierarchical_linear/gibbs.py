"""The Gibbs local step of multilevel linear regression."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.local_steps.hierarchical_linear.gaussian import GaussianStep


@dataclass(frozen=True)
class Gibbs(GaussianStep):
    """A draw of b_n from p(b_n | y_n, beta, Q, tau), in the place of its mean and covariance."""

    name = "gibbs"
    sampled = True
