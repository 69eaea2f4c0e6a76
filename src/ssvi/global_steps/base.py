"""What a global step is: the view that local steps see, and the target that lambda moves to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from ssvi.families.draws import Draw
from ssvi.families.restricted import ViewFormulas
from ssvi.numerics.random import Keys
from ssvi.typing import Array


@dataclass(frozen=True)
class View:
    """What a local step sees of a block: some version of t(beta), and the draw behind it if there was one."""

    stats: Array
    draw: Draw | None = None

    def rows(self, rows: slice) -> View:
        """Return the view of some rows of the block."""
        draw = (
            None
            if self.draw is None
            else replace(self.draw, stats=self.draw.stats[rows], hidden=self.draw.hidden[rows])
        )
        return View(self.stats[rows], draw)

    @staticmethod
    def join(parts: Sequence[View]) -> View:
        """Put the views of consecutive rows together."""
        if len(parts) == 1:
            return parts[0]
        stats = np.concatenate([part.stats for part in parts])
        draws = [part.draw for part in parts if part.draw is not None]
        if not draws:
            return View(stats)
        drawn, hidden = (np.concatenate(arrays) for arrays in zip(*((d.stats, d.hidden) for d in draws), strict=True))
        return View(stats, replace(draws[0], stats=drawn, hidden=hidden))


@dataclass(frozen=True)
class Clock:
    """Where a fit stands: how many documents it has seen, out of how many.

    `population` is N, or None for a stream of unknown length.
    """

    documents_seen: int
    population: int | None

    @property
    def sweeps(self) -> float:
        """How often the data has been seen; a stream of unknown length counts as seen once."""
        return 1.0 if self.population is None else self.documents_seen / self.population


def average_weight(power: float, step: int) -> float:
    """Return what the value of a step counts in the average up to there, step t in proportion to about t^power."""
    return (power + 1.0) / (step + power)


class GlobalStep(ABC):
    """A rule for lambda: it knows families, not models, and works on any rows of a block.

    How a block is held, whole or in parts, is no matter of a step's; see `ssvi.stores`.
    """

    name: ClassVar[str]
    stochastic: ClassVar[bool]
    """Whether the view is random. If not, and if every step sees all data, rho = 1 is coordinate ascent."""
    corrects: ClassVar[bool] = False
    """Whether the target is `family.corrected`. Then it can lie outside lambda's domain, so that steps towards it are
    guarded, and unless draws are softened it also moves coordinates without statistics."""

    averaging: float = 0.0
    """p of the average of lambda over the path, in which step t counts in proportion to t^p; 0 for no average."""

    def average_weight(self, step: int) -> float:
        """Return what the lambda of a step counts in the average up to there."""
        return average_weight(self.averaging, step)

    @property
    def sees_everything(self) -> bool:
        """Whether a part of a block is not enough for the target, and a step has to be given all of it.

        So it is unless a step is known to get by with a part: one with a target of its own may look at anything.
        """
        return type(self).target is not GlobalStep.target

    @abstractmethod
    def view(self, family: ViewFormulas, lam: Array, keys: Keys) -> View:
        """Return the view of t(beta), with randomness (if any) from one stream a row."""

    def target(self, family: Any, prior: Array, lam: Array, view: View, eta_hat: Array, clock: Clock) -> Array:
        """Return what lambda moves towards: eta + eta-hat, unless a step corrects it.

        `family` is the block's; for a step that does not see everything it may be the `TargetFormulas` of a part.
        """
        return prior + eta_hat

    def at(self, clock: Clock) -> GlobalStep:
        """Return the step to take at a moment of a fit; the step itself, for most."""
        return self

    def for_whole_data(self, n_steps: int) -> Self:
        """Return the form of this step for a fit of so many steps that see all data; the step itself, for most."""
        return self
