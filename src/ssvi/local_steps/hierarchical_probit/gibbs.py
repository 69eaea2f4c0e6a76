"""The Gibbs local step of multilevel probit regression."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.local_steps.hierarchical.links import PROBIT
from ssvi.local_steps.hierarchical.sampled import SampledStep


@dataclass(frozen=True)
class Gibbs(SampledStep):
    """Draws from p(b_n | y_n, beta, Q) by Albert and Chib's normal variables; see `SampledStep`."""

    model = "hierarchical_probit"
    link = PROBIT
