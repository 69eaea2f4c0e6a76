"""Stochastic variational inference with a factorised q: the local step sees E_q[t(beta)]."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.families.restricted import ViewFormulas
from ssvi.global_steps.base import GlobalStep, View
from ssvi.numerics.random import Keys
from ssvi.typing import Array


@dataclass(frozen=True)
class MeanField(GlobalStep):
    """lambda' = (1 - rho) lambda + rho (eta + eta-hat), with eta-hat formed at E_q[t(beta)]."""

    name = "mean_field"
    stochastic = False

    def view(self, family: ViewFormulas, lam: Array, keys: Keys) -> View:
        """Return E_q[t(beta)]."""
        return View(family.mean_stats(lam))
