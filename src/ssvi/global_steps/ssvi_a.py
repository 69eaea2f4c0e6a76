"""SSVI-A, option 2 of the paper's algorithm 1: the local step sees t of a draw."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.families.restricted import ViewFormulas
from ssvi.global_steps.base import GlobalStep, View
from ssvi.numerics.random import Keys
from ssvi.typing import Array


@dataclass(frozen=True)
class SsviA(GlobalStep):
    """lambda' = (1 - rho) lambda + rho (eta + eta-hat), with eta-hat formed at t(beta), beta ~ q.

    It neglects the covariance of V and eta-hat that full SSVI accounts for.
    """

    name = "ssvi_a"
    stochastic = True

    def view(self, family: ViewFormulas, lam: Array, keys: Keys) -> View:
        """Return t(beta) of one draw."""
        draw = family.draw(lam, keys)
        return View(draw.stats, draw)
