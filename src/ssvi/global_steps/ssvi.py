"""Full SSVI, option 1 of the paper's algorithm 1: the stochastic natural gradient of the structured ELBO."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from ssvi.checks import require_flag, require_not_negative
from ssvi.families.restricted import TargetFormulas
from ssvi.global_steps.base import Clock, View
from ssvi.global_steps.drawn import DrawnStep
from ssvi.typing import Array


@dataclass(frozen=True)
class Ssvi(DrawnStep):
    """lambda' = (1 - rho) lambda + rho (eta + V eta-hat), V = V(beta, lambda) of the draw that eta-hat was formed at.

    (The paper writes V(beta, lambda^(t)) inside the update of lambda^(t); the lambda meant is the one beta was drawn
    from.)

    The correction is brought in with care. A coordinate with a gamma shape s moves towards
    eta-hat + k (V eta-hat - eta-hat), k = r s / (s + softening), where r grows from 0 to 1 over the first sweep, while
    lambda is noise. The reason for the rest: for small s, log beta' is about log(u) / s and V about
    -log(u) = -s log(beta'). A word gets counts to speak of only when its draw is not tiny, -log(beta') below some L of
    a few nats, and then V is below s L. So the gradient lets go of all but a share s L of what speaks for a word that
    is not yet in a topic, and the fit stays where its first minibatches put it.

    Parameters
    ----------
    softening : float
        The shape at which half of the correction is taken; 0 treats all shapes alike. With `correction_sweeps=0` as
        well the step is the paper's, and its mean the natural gradient.
    correction_sweeps : float
        The sweeps after which r is 1; 0 for r = 1 throughout. A stream of unknown length counts as one sweep.
    control_variate : bool
        E[V] = I, so V (eta-hat - c) + c has the same mean for any c that does not depend on the draw. With
        c = lambda - eta the plain target is lambda + V (eta + eta-hat - lambda). Families with a location (means of
        Gaussian data) always have it: without it their noise would grow with the distance of the data from 0.
    averaging, warm_sweeps, draw_softening : float
        See `DrawnStep`.

    """

    softening: float = 0.3
    correction_sweeps: float = 1.0
    control_variate: bool = False

    name = "ssvi"
    corrects = True

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("softening", "correction_sweeps"):
            require_not_negative(name, getattr(self, name))
        require_flag("control_variate", self.control_variate)

    def target(
        self, family: TargetFormulas, prior: Array, lam: Array, view: View, eta_hat: Array, clock: Clock
    ) -> Array:
        """Return eta + (1 - k) eta-hat + k V eta-hat, or the same with eta-hat - c for eta-hat, and c added."""
        assert view.draw is not None, "SSVI's target needs the draw that its view came from"
        ramp = 1.0 if self.correction_sweeps == 0 else min(1.0, clock.sweeps / self.correction_sweeps)
        if not (self.control_variate or family.has_location):
            return prior + family.corrected(lam, view.draw, eta_hat, ramp, self.softening)
        return lam + family.corrected(lam, view.draw, prior + eta_hat - lam, ramp, self.softening)

    @property
    def sees_everything(self) -> bool:
        """With the control variate, every coordinate has something to be corrected."""
        return self.control_variate

    def for_whole_data(self, n_steps: int) -> Self:
        """Return SSVI with its control variate, its correction brought in over all steps.

        Full steps would scatter lambda by the correction's noise.
        """
        return replace(self, correction_sweeps=n_steps, control_variate=True, warm_sweeps=0.0)
