"""What a conditionally conjugate model is: named blocks of global parameters, a start, and a way to simulate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ssvi.families.base import ExponentialFamily
from ssvi.typing import Array


@dataclass(frozen=True)
class Block:
    """A named array of global parameters with one family.

    Attributes
    ----------
    family : ExponentialFamily
        The family of its prior and of q.
    prior : array
        eta, of any shape that broadcasts to `shape`.
    shape : tuple of int
        The shape of lambda; one distribution lies on the last axis.

    """

    family: ExponentialFamily
    prior: Array
    shape: tuple[int, ...]

    def prior_rows(self, rows: slice) -> Array:
        """Return eta for some rows."""
        return np.broadcast_to(self.prior, self.shape)[rows]


def is_active(held: Array, share: float) -> Any:
    """Tell which components are active: those that hold a share of the data, and half a row or count at the least."""
    return held >= max(0.5, share * held.sum())


class Model(ABC):
    """A model p(beta) prod_n p(y_n, z_n | beta); all its mathematics that is not a local step's."""

    name: ClassVar[str]

    @abstractmethod
    def blocks(self) -> Mapping[str, Block]:
        """Return the global blocks by name."""

    @abstractmethod
    def init(self, rng: np.random.Generator) -> dict[str, Array]:
        """Return a random lambda^(0) for each block."""

    def start(self, data: Any, rng: np.random.Generator) -> dict[str, Array]:
        """Return a lambda^(0) that fits the scale of some data, for a model that needs one; `init` by default."""
        return self.init(rng)

    @classmethod
    @abstractmethod
    def example(cls) -> Model:
        """Return a small instance, which the contract suites run."""

    @abstractmethod
    def simulate(self, rng: np.random.Generator, n: int) -> tuple[dict[str, Array], Any]:
        """Draw the global parameters from the prior and n documents given them; return both."""
