"""What SSVI and SSVI-A share: the local step sees a draw of beta, as it is or drawn in."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.checks import require_not_negative
from ssvi.families.restricted import ViewFormulas
from ssvi.global_steps.base import Clock, GlobalStep, View
from ssvi.global_steps.map import Map
from ssvi.numerics.random import Keys
from ssvi.typing import Array


@dataclass(frozen=True, kw_only=True)
class DrawnStep(GlobalStep):
    """A global step whose view is t(beta) of one draw from q.

    Parameters
    ----------
    averaging : float
        Also keep the average of lambda over the path, in which step t counts in proportion to t^averaging: it has
        less of the draws' noise, and predicts better. 0 for none.
    warm_sweeps : float
        Take MAP's steps for so many sweeps first. Where words are rare, a draw from a lambda that has seen little ties
        each of them to the topic that it fell to first; the mean does not. A stream of unknown length has no such
        beginning.
    draw_softening : float
        The shape s at which the local step sees log beta half way between the mean and the draw (k = s / (s +
        draw_softening)); below half of it nothing is drawn or corrected. The logarithm of a gamma variable of small
        shape is hundreds of nats wide, so that a draw takes away a rare word from nearly all topics that might have it.
        0 sees draws as they are, as the paper has it.

    """

    averaging: float = 0.0
    warm_sweeps: float = 0.0
    draw_softening: float = 0.0

    stochastic = True

    def __post_init__(self) -> None:
        for name in ("averaging", "warm_sweeps", "draw_softening"):
            require_not_negative(name, getattr(self, name))

    def at(self, clock: Clock) -> GlobalStep:
        """Return MAP's step for the first `warm_sweeps` sweeps."""
        return Map() if clock.population is not None and clock.sweeps <= self.warm_sweeps else self

    def view(self, family: ViewFormulas, lam: Array, keys: Keys) -> View:
        """Return t(beta) of one draw, drawn in to the mode where shapes are small if it is to be."""
        if self.draw_softening:
            return View(*family.softened_draw(lam, keys, self.draw_softening))
        draw = family.draw(lam, keys)
        return View(draw.stats, draw)
