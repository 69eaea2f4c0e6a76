"""What a conditionally conjugate model is: named blocks of global parameters, a start, and a way to simulate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ssvi.families.base import ExponentialFamily
from ssvi.local_steps.base import LocalResult, Part
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

    def priors(self, views: Mapping[str, Array | Part]) -> Mapping[str, Array]:
        """Return eta of this step for the blocks whose prior depends on other blocks, given the views of all.

        What other blocks say of such a block belongs to it as well: it is a sum over blocks, not over the documents of
        a minibatch, so that N_t / S does not scale it. Example: beta_k ~ N(m, 1 / tau) with m ~ N(0, 1 / s), both
        blocks, has priors["beta"] = (tau m, tau) and priors["m"] = (tau sum_k beta_k, s + K tau), with m and beta_k
        from the views.
        """
        return {}

    def hyperparameters(self) -> Mapping[str, Array]:
        """Return the start of what `learn` changes from step to step; nothing, for a model that learns none."""
        return {}

    def at(self, hyperparameters: Mapping[str, Array]) -> Model:
        """Return this model with the given hyperparameters: its blocks' priors, and what local steps ask it, follow."""
        return self

    def learn(
        self, views: Mapping[str, Array | Part], result: LocalResult, step_size: float
    ) -> Mapping[str, Array] | None:
        """Return the hyperparameters of the next step, or None if they stay.

        `result` is the local step's on the minibatch; times its `scale`, its statistics are those of all data. It may
        hold statistics that are of no block, for this purpose.
        """
        return None

    @classmethod
    @abstractmethod
    def example(cls) -> Model:
        """Return a small instance, which the contract suites run."""

    @abstractmethod
    def simulate(
        self, rng: np.random.Generator, n: int, *, values: Mapping[str, Array] | None = None
    ) -> tuple[dict[str, Array], Any]:
        """Draw the global parameters from the prior, or take `values` for them, and n groups given them; return both.

        The parameters of each block are in the form that its family's `statistics` takes.
        """

    def statistics_of(self, values: Mapping[str, Array]) -> dict[str, Array]:
        """Return t of global parameters that `simulate` has drawn."""
        return {name: block.family.statistics(values[name]) for name, block in self.blocks().items()}
