"""Variational MAP estimation: the local step sees t at the mode."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.checks import require_not_negative
from ssvi.families.restricted import ViewFormulas
from ssvi.global_steps.base import GlobalStep, View
from ssvi.numerics.random import Keys
from ssvi.typing import Array


@dataclass(frozen=True)
class Map(GlobalStep):
    """lambda' = (1 - rho) lambda + rho (eta + eta-hat), with eta-hat formed at t(mode of q).

    Parameters
    ----------
    averaging : float
        Also keep the average of lambda over the path, in which step t counts in proportion to t^averaging. 0 for none.

    """

    averaging: float = 0.0

    name = "map"
    stochastic = False

    def __post_init__(self) -> None:
        require_not_negative("averaging", self.averaging)

    def view(self, family: ViewFormulas, lam: Array, keys: Keys) -> View:
        """Return t(mode)."""
        return View(family.mode_stats(lam))
