"""Variational MAP estimation: the local step sees t at the mode."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.families.restricted import ViewFormulas
from ssvi.global_steps.base import GlobalStep, View
from ssvi.numerics.random import Keys
from ssvi.typing import Array


@dataclass(frozen=True)
class Map(GlobalStep):
    """lambda' = (1 - rho) lambda + rho (eta + eta-hat), with eta-hat formed at t(mode of q)."""

    name = "map"
    stochastic = False

    def view(self, family: ViewFormulas, lam: Array, keys: Keys) -> View:
        """Return t(mode)."""
        return View(family.mode_stats(lam))
