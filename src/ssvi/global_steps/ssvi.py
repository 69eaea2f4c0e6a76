"""Full SSVI, option 1 of the paper's algorithm 1: the stochastic natural gradient of the structured ELBO."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.families.base import ExponentialFamily
from ssvi.global_steps.base import Clock, GlobalStep, View
from ssvi.numerics.random import Keys
from ssvi.typing import Array


@dataclass(frozen=True)
class Ssvi(GlobalStep):
    """lambda' = (1 - rho) lambda + rho (eta + V eta-hat), V = V(beta, lambda) of the draw that eta-hat was formed at.

    (The paper writes V(beta, lambda^(t)) inside the update of lambda^(t); the lambda meant is the one beta was drawn
    from.)

    Parameters
    ----------
    control_variate : bool
        E[V] = I, so V (eta-hat - c) + c has the same mean for any c that does not depend on the draw. With
        c = lambda - eta the target is lambda + V (eta + eta-hat - lambda).
    correction_sweeps : float
        V's effect is brought in over this many sweeps of the data, its share growing linearly with the documents seen:
        the target begins close to SSVI-A's and ends as SSVI's. While lambda is small and noisy, V gives words with
        little weight almost no pull, and the fit settles on its first guess. 0 applies V from the start. A stream of
        unknown length counts as one sweep, so that there the share is 1 / correction_sweeps throughout.

    """

    control_variate: bool = False
    correction_sweeps: float = 2.0

    name = "ssvi"
    stochastic = True
    leaves_domain = True

    def __post_init__(self) -> None:
        if not self.correction_sweeps >= 0:
            raise ValueError(f"correction_sweeps must be 0 or more, not {self.correction_sweeps!r}.")

    def view(self, family: ExponentialFamily, lam: Array, keys: Keys) -> View:
        """Return t(beta) of one draw."""
        draw = family.draw(lam, keys)
        return View(draw.stats, draw)

    def target(
        self, family: ExponentialFamily, prior: Array, lam: Array, view: View, eta_hat: Array, clock: Clock
    ) -> Array:
        """Return eta + (1 - k) eta-hat + k V eta-hat, k growing to 1."""
        assert view.draw is not None, "SSVI's target needs the draw that its view came from"
        share = 1.0 if self.correction_sweeps == 0 else min(1.0, clock.sweeps / self.correction_sweeps)
        centre = lam - prior if self.control_variate else 0.0
        surplus = eta_hat - centre
        corrected = family.natural_correction(lam, view.draw, surplus)
        return prior + centre + (1.0 - share) * surplus + share * corrected
