"""What a store is: one block of a fit, asked for its view, then told eta-hat."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ssvi.families.base import ExponentialFamily
from ssvi.families.restricted import Statistics
from ssvi.global_steps.base import Clock, GlobalStep, View
from ssvi.local_steps.base import Part
from ssvi.tasks import Each
from ssvi.typing import Array

Chosen = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Update:
    """What every block of a fit is told in one step: the rule, rho, where the fit stands, and who runs tasks.

    `weight` is what this step's lambda counts in the average over the path, where there is one.
    """

    global_step: GlobalStep
    step_size: float
    clock: Clock
    each: Each
    weight: float = 0.0


class Store(ABC):
    """One block of a fit: asked for its view, then told eta-hat."""

    @property
    def totals(self) -> Array | None:
        """Sums of lambda that are kept up to date and belong to a fit's state; None if there are none."""
        return None

    @abstractmethod
    def view(self, global_step: GlobalStep, touched: Chosen | None, key: int, each: Each) -> Array | Part:
        """Return what the local step sees, for all of the block or for what is touched."""

    @abstractmethod
    def advance(self, update: Update, eta_hat: Statistics) -> int:
        """Move lambda to (1 - rho) lambda + rho target, kept in the domain; return how many coordinates that moved.

        eta_hat is of what the last view was of.
        """

    @abstractmethod
    def set_prior(self, prior: Array) -> None:
        """Take another eta, of any shape that broadcasts to the block's, from now on."""

    @abstractmethod
    def is_finite(self) -> bool:
        """Tell whether the last step left nothing but finite numbers."""

    @abstractmethod
    def lam(self) -> Array:
        """Return lambda, as an array that later steps leave alone."""

    @abstractmethod
    def average(self) -> Array | None:
        """Return the average of lambda over the path, which later steps leave alone; None if there is none."""


def moved_rows(
    family: ExponentialFamily, update: Update, prior: Array, lam: Array, view: View, eta_hat: Array
) -> tuple[Array, int]:
    """Return where whole rows of a block move, and how many coordinates had to be kept in the domain."""
    target = update.global_step.target(family, prior, lam, view, eta_hat, update.clock)
    candidate = (1.0 - update.step_size) * lam + update.step_size * target
    return family.project(candidate, lam, prior) if update.global_step.corrects else (candidate, 0)
