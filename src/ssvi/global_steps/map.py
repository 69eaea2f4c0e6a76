"""Variational MAP estimation: the local step sees t at the mode."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.families.base import ExponentialFamily
from ssvi.families.dirichlet_columns import Columns
from ssvi.global_steps.base import GlobalStep, View
from ssvi.numerics.random import Keys
from ssvi.tasks import Each
from ssvi.typing import Array


@dataclass(frozen=True)
class Map(GlobalStep):
    """lambda' = (1 - rho) lambda + rho (eta + eta-hat), with eta-hat formed at t(mode of q)."""

    name = "map"
    stochastic = False

    def view(self, family: ExponentialFamily, lam: Array, keys: Keys) -> View:
        """Return t(mode)."""
        return View(family.mode_stats(lam))

    def view_columns(self, family: ExponentialFamily, chosen: Columns, keys: Keys, each: Each) -> View:
        """Return t(mode) of some columns."""
        return View(family.columns.mode_stats(chosen.lam, chosen.rest, each))
