"""The Gaussian variational local step of multilevel logistic regression."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.local_steps.hierarchical.approximate import VariationalStep
from ssvi.local_steps.hierarchical.links import LOGIT


@dataclass(frozen=True)
class Variational(VariationalStep):
    """The Gaussian q(b_n) with the largest local ELBO; see `VariationalStep`."""

    model = "hierarchical_logistic"
    link = LOGIT
