"""Some coordinates of the distributions of a block, and all others as one.

A topic model's block is words x topics, and a minibatch has few of the words. A family whose distributions, looked at
in some coordinates and the sum of the rest, are of the family again can be held so: then nothing that a step does is
proportional to the size of the vocabulary, but for SSVI's correction of draws as they are. Arrays here are chosen
coordinates x distributions: what belongs to one coordinate lies together.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy.typing as npt

from ssvi.families.draws import Draw
from ssvi.numerics.random import Keys
from ssvi.typing import Array


class ViewFormulas(Protocol):
    """What a global step may ask for its view: of a family, or of some coordinates of one."""

    def mean_stats(self, lam: Array) -> Array:
        """Return E_q[t(beta)]."""
        ...

    def mode_stats(self, lam: Array) -> Array:
        """Return t at the mode."""
        ...

    def draw(self, lam: Array, keys: Keys) -> Draw:
        """Draw beta ~ q."""
        ...

    def softened_draw(self, lam: Array, keys: Keys, softening: float) -> tuple[Array, Draw]:
        """Return t of a draw that is drawn in to the mode where shapes are small, and the draw itself."""
        ...


class TargetFormulas(Protocol):
    """What a global step may ask for its target: of a family, or of some coordinates of one."""

    has_location: ClassVar[bool]
    """See `ExponentialFamily.has_location`."""

    def corrected(self, lam: Array, draw: Draw, x: Array, ramp: float = 1.0, softening: float = 0.0) -> Array:
        """Return x + k (V x - x), k = ramp s / (s + softening) for the gamma shape s behind each coordinate."""
        ...


@dataclass(frozen=True)
class Statistics:
    """eta-hat, as counts times a scale."""

    counts: npt.NDArray[Any]
    scale: float = 1.0

    def of(self, task: slice) -> Array:
        """Return eta-hat of some rows."""
        eta_hat: Array = self.counts[task] * self.scale
        return eta_hat


@dataclass(frozen=True)
class Others:
    """The coordinates that were not chosen: how many, and a way to lambda of some of them, a row each."""

    count: int
    lam: Callable[[slice], Array]


class Correction(ABC):
    """V x of all coordinates, once what they share is known."""

    @abstractmethod
    def of(self, task: slice) -> TargetFormulas:
        """Return the formulas for some of the chosen coordinates."""

    @abstractmethod
    def of_others(self) -> TargetFormulas:
        """Return the formulas for coordinates that were not chosen, where x is 0."""


class Restricted(ABC):
    """Some coordinates of the distributions of a block, and all others as one."""

    @abstractmethod
    def streams(self, shape: tuple[int, ...]) -> int:
        """Return how many random streams a draw of so many coordinates takes."""

    @abstractmethod
    def mean_stats(self, lam: Array) -> Array:
        """Return E_q[t(beta)]."""

    @abstractmethod
    def mode_stats(self, lam: Array) -> Array:
        """Return t at the mode."""

    @abstractmethod
    def draw(self, lam: Array, keys: Keys) -> Draw:
        """Draw beta ~ q."""

    @abstractmethod
    def softened_draw(self, lam: Array, keys: Keys, softening: float) -> tuple[Array, Draw]:
        """Return t of a draw that is drawn in to the mode where shapes are small, and the draw itself.

        See `ExponentialFamily.softened_draw`.
        """

    @abstractmethod
    def correction(self, lam: Array, draw: Draw, x: Statistics, others: Others) -> Correction:
        """Return V x; x is 0 in the coordinates that were not chosen."""

    @abstractmethod
    def project(self, candidate: Array, current: Array, prior: Array) -> int:
        """Bring proposed coordinates back into the domain, in place; return how many were moved."""
