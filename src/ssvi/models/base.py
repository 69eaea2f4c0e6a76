"""What a conditionally conjugate model is: named blocks of global parameters, a start, and a way to simulate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ssvi.families.base import ExponentialFamily
from ssvi.families.learned import Usual
from ssvi.local_steps.base import LocalResult, Part
from ssvi.models.learning import likeliest_priors, numbers_of, with_numbers
from ssvi.models.quantities import Quantities, plain_quantities
from ssvi.models.rearranging import Look, Rearrangement
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


def check_learned(model: Model) -> None:
    """Raise one clear sentence unless a model can learn what it is to learn."""
    usual = model.usual_numbers() if model.learned else {}
    known = list(dict.fromkeys([*model.learnable, *usual]))
    for name in model.learned:
        if name not in known:
            of = f"only {', '.join(map(repr, known))}" if known else "nor anything else"
            raise ValueError(f"{model.name} cannot learn {name!r}, {of}.")
        least, values = usual.get(name, Usual()).least, numbers_of(model, (name,))[name]
        if not ((values > least) & (values < np.inf)).all():
            raise ValueError(f"{name} of {model.name} is to be learned, and must start at a number above {least:g}.")


class Model(ABC):
    """A model p(beta) prod_n p(y_n, z_n | beta); all its mathematics that is not a local step's."""

    name: ClassVar[str]
    learned: tuple[str, ...] = ()
    """The names of those attributes, numbers or tuples of them, that a fit learns: a field, where there can be any.

    "prior.scale" is an attribute of an attribute."""
    learnable: ClassVar[tuple[str, ...]] = ()
    """The names that `learned` may have, besides those of `usual_numbers`."""

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
        """Return the start of what a fit learns; nothing, for a model that learns nothing."""
        return numbers_of(self, self.learned)

    def usual_numbers(self) -> Mapping[str, Usual]:
        """Return the names of the positive numbers that blocks' priors follow from, and what is known of each.

        A fit can learn them by `learn_priors` as it stands.
        """
        return {}

    def at(self, hyperparameters: Mapping[str, Array]) -> Model:
        """Return this model with the given hyperparameters: its blocks' priors, and what local steps ask it, follow."""
        return with_numbers(self, hyperparameters)

    def settled(self) -> Model:
        """Return this model with its hyperparameters as they are, so that nothing is learned of them any more."""
        own: Any = self
        result: Model = replace(own, learned=()) if self.learned else self
        return result

    def learn(
        self, views: Mapping[str, Array | Part], result: LocalResult, step_size: float, sweeps: float
    ) -> Mapping[str, Array]:
        """Return those hyperparameters that a minibatch changes, as they are in the next step.

        `result` is the local step's on the minibatch; times its `scale`, its statistics are those of all data. It may
        hold statistics that are of no block, for this purpose. `sweeps` is how often the data has been seen,
        and infinity in a stream of unknown length, in which nothing can be waited for.
        """
        return {}

    def learn_priors(self, lam: Callable[[str], Array], renewed: float) -> Mapping[str, Array]:
        """Return those hyperparameters that all of a block tells, as they are in the next step.

        `lam` gives lambda of a block by its name. This is asked for after each sweep, not after each step: lambda may
        be large, and has seen all data then. `renewed` is the share of lambda that the sweep has made anew. The rest is
        still of earlier priors, so that hyperparameters should go no further than by that share. As it stands, those of
        `usual_numbers` are learned, by maximum likelihood (`ssvi.families.learned`).
        """
        usual = self.usual_numbers() if self.learned else {}
        return likeliest_priors(self, {name: usual[name] for name in self.learned if name in usual}, lam, renewed)

    def rearrangement(self, lam: Callable[[str], Array], look: Look) -> Rearrangement | None:
        """Return what becomes of components that are copies of others: merged, parted or begun anew after a sweep.

        `lam` gives lambda of a block by its name, `look` some of the data.
        """
        return None

    @classmethod
    @abstractmethod
    def example(cls) -> Model:
        """Return a small instance, which the contract suites run."""

    @classmethod
    def identifiable(cls) -> Model:
        """Return a small instance of which data can tell the parameters, which calibration runs: the example, if so."""
        return cls.example()

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

    def quantities(self, values: Mapping[str, Array]) -> Quantities:
        """Return draws of the global parameters in the form that people know; they come as `simulate` has them.

        Each block has an axis more in front, of draws. A model that says nothing has what its families say.
        """
        return plain_quantities(self.blocks(), values)
