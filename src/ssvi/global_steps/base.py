"""What a global step is: the view that local steps see, and the target that lambda moves to."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ssvi.families.base import ExponentialFamily
from ssvi.families.dirichlet_columns import Columns, Statistics
from ssvi.families.draws import Draw
from ssvi.numerics.random import Keys
from ssvi.tasks import Each
from ssvi.typing import Array


@dataclass(frozen=True)
class View:
    """What a local step sees of a block: some version of t(beta), and the draw behind it if there was one."""

    stats: Array
    draw: Draw | None = None

    def rows(self, rows: slice) -> View:
        """Return the view of some rows of the block."""
        draw = None if self.draw is None else Draw(self.draw.stats[rows], self.draw.hidden[rows])
        return View(self.stats[rows], draw)

    @staticmethod
    def join(parts: Sequence[View]) -> View:
        """Put the views of consecutive rows together."""
        if len(parts) == 1:
            return parts[0]
        stats = np.concatenate([part.stats for part in parts])
        draws = [part.draw for part in parts if part.draw is not None]
        draw = Draw(stats, np.concatenate([draw.hidden for draw in draws])) if draws else None
        return View(stats, draw)


@dataclass(frozen=True)
class ColumnTargets:
    """Where columns move.

    Attributes
    ----------
    chosen : function of a task
        The target of some of the chosen columns.
    others : function of lambda and eta, or None
        The target of other columns, which are given a row each; None if they move towards eta.

    """

    chosen: Callable[[slice], Array]
    others: Callable[[Array, Array], Array] | None = None


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


class GlobalStep(ABC):
    """A rule for lambda: it knows families, not models, and works on any rows of a block."""

    name: ClassVar[str]
    stochastic: ClassVar[bool]
    """Whether the view is random. If not, and if every step sees all data, rho = 1 is coordinate ascent."""
    leaves_domain: ClassVar[bool] = False
    """Whether the target can lie outside lambda's domain, so that steps towards it must be guarded."""

    @property
    def sees_everything(self) -> bool:
        """Whether a minibatch's own columns of a block are not enough, and it has to be given all of them."""
        return False

    @abstractmethod
    def view(self, family: ExponentialFamily, lam: Array, keys: Keys) -> View:
        """Return the view of t(beta), with randomness (if any) from one stream a row."""

    def target(
        self, family: ExponentialFamily, prior: Array, lam: Array, view: View, eta_hat: Array, clock: Clock
    ) -> Array:
        """Return what lambda moves towards: eta + eta-hat, unless a step corrects it."""
        return prior + eta_hat

    @abstractmethod
    def view_columns(self, family: ExponentialFamily, chosen: Columns, keys: Keys, each: Each) -> View:
        """Return the view of some columns, with randomness from one stream a task of rows and one for the rest."""

    def target_columns(
        self,
        family: ExponentialFamily,
        chosen: Columns,
        view: View,
        eta_hat: Statistics,
        clock: Clock,
        each: Each,
    ) -> ColumnTargets:
        """Return the targets of some columns, of which eta-hat is given, and of all others.

        For a step that sees everything the columns are all there are, and this is `target`, turned round.
        """
        if not self.sees_everything:
            return ColumnTargets(lambda task: chosen.prior_of(task) + eta_hat.of(task))
        everything = slice(0, len(chosen.columns))
        draw = None if view.draw is None else Draw(view.draw.stats.T, view.draw.hidden[0])
        rows = View(view.stats.T, draw)
        prior, lam = chosen.prior_of(everything).T, chosen.lam.T
        whole = self.target(family, prior, lam, rows, eta_hat.of(everything).T, clock).T
        return ColumnTargets(lambda task: whole[task])
