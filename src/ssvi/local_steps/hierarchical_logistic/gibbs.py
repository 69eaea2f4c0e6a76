"""The Gibbs local step of multilevel logistic regression."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.local_steps.hierarchical.links import LOGIT
from ssvi.local_steps.hierarchical.sampled import SampledStep


@dataclass(frozen=True)
class Gibbs(SampledStep):
    """Draws from p(b_n | y_n, beta, Q) by Polya-Gamma variables; see `SampledStep`."""

    model = "hierarchical_logistic"
    link = LOGIT
