"""Full SSVI, option 1 of the paper's algorithm 1: the stochastic natural gradient of the structured ELBO."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.checks import require_flag, require_not_negative
from ssvi.families.base import ExponentialFamily
from ssvi.families.dirichlet_columns import Columns, Statistics
from ssvi.families.dirichlet_correction import natural_correction
from ssvi.global_steps.base import Clock, ColumnTargets, GlobalStep, View
from ssvi.numerics.random import Keys
from ssvi.tasks import Each
from ssvi.typing import Array


@dataclass(frozen=True)
class Ssvi(GlobalStep):
    """lambda' = (1 - rho) lambda + rho (eta + V eta-hat), V = V(beta, lambda) of the draw that eta-hat was formed at.

    (The paper writes V(beta, lambda^(t)) inside the update of lambda^(t); the lambda meant is the one beta was drawn
    from.)

    The correction is brought in with care. A coordinate with a gamma shape s moves towards
    eta-hat + k (V eta-hat - eta-hat), k = r s / (s + softening), where r grows from 0 to 1 over the first sweep, while
    lambda is noise. The reason for the rest: for small s, log beta' is about log(u) / s and V about
    -log(u) = -s log(beta'). A word gets counts only when its draw is not tiny, -log(beta') below some L of a few nats,
    and then V is below s L. So the gradient lets go of all but a share s L of what speaks for a word that is not yet in
    a topic, and the fit stays where its first minibatches put it.

    Parameters
    ----------
    softening : float
        The shape at which half of the correction is taken; 0 treats all shapes alike. With `correction_sweeps=0` as
        well the step is the paper's, and its mean the natural gradient.
    correction_sweeps : float
        The sweeps after which r is 1; 0 for r = 1 throughout. A stream of unknown length counts as one sweep.
    control_variate : bool
        E[V] = I, so V (eta-hat - c) + c has the same mean for any c that does not depend on the draw. With
        c = lambda - eta the plain target is lambda + V (eta + eta-hat - lambda).

    """

    softening: float = 0.3
    correction_sweeps: float = 1.0
    control_variate: bool = False

    name = "ssvi"
    stochastic = True
    leaves_domain = True

    def __post_init__(self) -> None:
        for name in ("softening", "correction_sweeps"):
            require_not_negative(name, getattr(self, name))
        require_flag("control_variate", self.control_variate)

    def view(self, family: ExponentialFamily, lam: Array, keys: Keys) -> View:
        """Return t(beta) of one draw."""
        draw = family.draw(lam, keys)
        return View(draw.stats, draw)

    def view_columns(self, family: ExponentialFamily, chosen: Columns, keys: Keys, each: Each) -> View:
        """Return t(beta) of one draw of some columns."""
        draw = family.columns.draw(chosen.lam, chosen.rest, keys, each)
        return View(draw.stats, draw)

    def target(
        self, family: ExponentialFamily, prior: Array, lam: Array, view: View, eta_hat: Array, clock: Clock
    ) -> Array:
        """Return eta + (1 - k) eta-hat + k V eta-hat."""
        assert view.draw is not None, "SSVI's target needs the draw that its view came from"
        surplus = eta_hat - (lam - prior) if self.control_variate else eta_hat
        correction = family.natural_correction(lam, view.draw, surplus) - surplus
        correction *= self._share(family, lam, clock)
        return prior + eta_hat + correction

    def _share(self, family: ExponentialFamily, lam: Array, clock: Clock) -> Array | float:
        """Return k."""
        return self._ramp(clock) / (1.0 + self.softening / family.shapes(lam))

    def _ramp(self, clock: Clock) -> float:
        """Return r."""
        return 1.0 if self.correction_sweeps == 0 else min(1.0, clock.sweeps / self.correction_sweeps)

    @property
    def sees_everything(self) -> bool:
        """With the control variate, every coordinate has something to be corrected."""
        return self.control_variate

    def target_columns(
        self,
        family: ExponentialFamily,
        chosen: Columns,
        view: View,
        eta_hat: Statistics,
        clock: Clock,
        each: Each,
    ) -> ColumnTargets:
        """Return eta + (1 - k) eta-hat + k V eta-hat, task by task.

        The local step sees the words of a minibatch only, and of the others what they add up to. So the gradient with
        respect to their lambda is the same for all of them, and V eta-hat of each is that, times its own 1 / psi'.
        """
        if self.control_variate:
            return super().target_columns(family, chosen, view, eta_hat, clock, each)
        assert view.draw is not None, "SSVI's target needs the draw that its view came from"
        correction = natural_correction(chosen, view.draw, eta_hat, each)
        ramp = self._ramp(clock)

        def target(task: slice) -> Array:
            result: Array = chosen.prior_of(task) + correction.chosen(task, ramp, self.softening)
            return result

        def others(lam: Array, prior: Array) -> Array:
            return prior + self._share(family, lam, clock) * correction.others(lam)

        return ColumnTargets(target, others)
