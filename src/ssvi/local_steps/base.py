"""What a local step is: from a view of t(beta) and a minibatch to eta-hat, a sum over the minibatch's documents."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt

from ssvi.numerics.random import Keys
from ssvi.tasks import Each
from ssvi.typing import Array

PRECISIONS = ("float32", "float64")
"""The arithmetic that the inner loops of a local step may have."""


class Batch(Protocol):
    """A minibatch of documents (or frames, or rows): anything that can be counted and cut."""

    def __len__(self) -> int:
        """Return the number of documents."""
        ...

    def slice(self, start: int, stop: int) -> Self:
        """Return documents start, ..., stop - 1, without copying their data."""
        ...

    def costs(self) -> npt.NDArray[np.integer]:
        """Return a number for each document that grows with the time its local step takes."""
        ...


@dataclass(frozen=True)
class Part:
    """Some of a block's view: the rows or the coordinates that a minibatch has to do with.

    Attributes
    ----------
    chosen : (C,) integers
        Which, in ascending order.
    stats : (C, ...)
        t(beta) of these. Coordinates have a row each, with one number for each distribution of the block: what belongs
        to one coordinate (a word of the topics) lies together.
    axis : {"rows", "coordinates"}
        What was chosen: whole distributions, along the block's first axis, or coordinates of all of its distributions.

    """

    chosen: npt.NDArray[np.int64]
    stats: Array
    axis: str = "coordinates"

    @classmethod
    def of(cls, view: Array, chosen: npt.NDArray[np.int64], axis: str = "coordinates") -> Part:
        """Return some of a whole view."""
        stats = np.ascontiguousarray(view[:, chosen].T) if axis == "coordinates" else view[chosen]
        return cls(chosen, stats, axis)

    def put_back(self, values: Array, shape: tuple[int, ...]) -> Array:
        """Return an array of the block's shape that holds `values` for what was chosen, and zeros elsewhere."""
        whole = np.zeros(shape)
        if self.axis == "coordinates":
            whole[:, self.chosen] = values.T
        else:
            whole[self.chosen] = values
        return whole


@dataclass(frozen=True)
class LocalResult:
    """What a local step found on some documents.

    Attributes
    ----------
    eta_hat : arrays by block
        The estimate of sum_n E[eta_n(y_n, z_n)], additive over documents, but for the factor `scale`.
    local : arrays by name, each documents x anything
        What the model's users call the result for each document (for LDA, its topic `weights`); empty where nobody
        asked.
    bound : float or None
        The sum of the local ELBOs, where the step optimises one.
    scale : float
        What eta_hat is to be multiplied with. (A sampler adds up several sweeps.)

    """

    eta_hat: Mapping[str, npt.NDArray[Any]]
    local: Mapping[str, Array] = field(default_factory=dict)
    bound: float | None = None
    scale: float = 1.0


class LocalStep(ABC):
    """A way to approximate p(z_n | y_n, beta). It does not know which global step is running.

    A backend calls `prepare` once a minibatch, `run` on each shard of it, in any order and on any worker, and
    `finish` on the sum. One that has several machines calls `prepare` on each of them, with the views of the whole
    minibatch and those of its groups that the machine has; what `run` finds of a group must be the same bits (or see
    `prepares_whole`).
    """

    name: ClassVar[str]
    model: ClassVar[str]
    """The name of the model whose documents it understands."""
    partial_blocks: ClassVar[Mapping[str, str]] = {}
    """The blocks of which a minibatch touches some "rows" or "coordinates" only. Their views and statistics are those
    of a `Part`, and what is not touched is put off; see `ssvi.stores`."""
    counts: ClassVar[bool] = False
    """Whether sums of its statistics are exact, and so the same in any order: whole numbers, or multiples of a power of
    2 that doubles hold. Then there is `count`."""
    prepares_whole: ClassVar[bool] = False
    """Whether `prepare` must see the whole minibatch: for instance because it has matrix products over all groups,
    whose last bits depend on how many there are. Then every machine is sent all of it, which takes longer."""
    unit_cost: ClassVar[int] = 1
    """How many times as long a unit of a group's cost takes as a token of a document, about: it decides how a minibatch
    is cut into shards, so that sequences which are few and short still keep several threads busy."""
    together: ClassVar[int] = 1
    """How many groups it has in hand at a time, so that one that is much longer than others leaves the rest idle."""
    shares_memory: ClassVar[bool] = False
    """Whether it writes into arrays of its own that later steps look at. Then it must run in this process."""

    def expected(self) -> LocalStep:
        """Return the step that finds probabilities where this one draws; the step itself, for most."""
        return self

    def sampler(self, model: Any) -> LocalStep | None:
        """Return the step that draws a group's local variables once from their conditional distribution, if it can.

        Then SSVI-A with rho = 1 and all data in every step is a Gibbs sampler of the posterior, if blocks are
        independent given local variables: a step of a model for which they are not says nothing.
        """
        return None

    def check(self, batch: Any) -> None:
        """Raise a `ValueError` if there is something in these documents that the step cannot handle."""
        return

    def touched(self, batch: Any) -> Mapping[str, npt.NDArray[np.int64]]:
        """Return which rows or coordinates of its partial blocks these documents touch, in ascending order."""
        return {}

    @abstractmethod
    def prepare(self, model: Any, views: Mapping[str, Any], batch: Any, each: Each = map) -> Any:
        """Return what all shards share: the views in the form the kernel wants.

        `batch` is the minibatch, or consecutive groups of it; the views are those of the whole minibatch.
        """

    @abstractmethod
    def run(self, model: Any, prepared: Any, start: int, stop: int, keys: Keys) -> LocalResult:
        """Handle documents start, ..., stop - 1 of the prepared minibatch, one random stream for each."""

    def local(self, model: Any, prepared: Any, start: int, stop: int, keys: Keys) -> Mapping[str, Array]:
        """Return what `run` finds on each document, for those who want no statistics."""
        return self.run(model, prepared, start, stop, keys).local

    def zeros(self, model: Any, prepared: Any) -> dict[str, npt.NDArray[Any]]:
        """Return statistics of no documents, for a step that counts."""
        raise NotImplementedError

    def count(
        self, model: Any, prepared: Any, start: int, stop: int, keys: Keys, into: Mapping[str, npt.NDArray[Any]]
    ) -> None:
        """Add the statistics that `run` would return to some that are there already, for those who want no more."""
        raise NotImplementedError

    def finish(self, model: Any, prepared: Any, result: LocalResult) -> LocalResult:
        """Bring the sum of all shards into the blocks' own shapes (or a part's).

        `prepared` may be of some groups of the minibatch only.
        """
        return result
