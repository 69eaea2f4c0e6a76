"""SSVI-A, option 2 of the paper's algorithm 1: the local step sees t of a draw."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.families.base import ExponentialFamily
from ssvi.families.dirichlet_columns import Columns
from ssvi.global_steps.base import GlobalStep, View
from ssvi.numerics.random import Keys
from ssvi.tasks import Each
from ssvi.typing import Array


@dataclass(frozen=True)
class SsviA(GlobalStep):
    """lambda' = (1 - rho) lambda + rho (eta + eta-hat), with eta-hat formed at t(beta), beta ~ q.

    It neglects the covariance of V and eta-hat that full SSVI accounts for.
    """

    name = "ssvi_a"
    stochastic = True

    def view(self, family: ExponentialFamily, lam: Array, keys: Keys) -> View:
        """Return t(beta) of one draw."""
        draw = family.draw(lam, keys)
        return View(draw.stats, draw)

    def view_columns(self, family: ExponentialFamily, chosen: Columns, keys: Keys, each: Each) -> View:
        """Return t(beta) of one draw of some columns."""
        draw = family.columns.draw(chosen.lam, chosen.rest, keys, each)
        return View(draw.stats, draw)
