"""The Laplace local step of multilevel logistic regression."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.local_steps.hierarchical.approximate import LaplaceStep
from ssvi.local_steps.hierarchical.links import LOGIT


@dataclass(frozen=True)
class Laplace(LaplaceStep):
    """A Gaussian at the mode of p(b_n | y_n, beta, Q); see `LaplaceStep`."""

    model = "hierarchical_logistic"
    link = LOGIT
