"""What a local step is: from a view of t(beta) and a minibatch to eta-hat, a sum over the minibatch's documents."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol, Self

import numpy as np
import numpy.typing as npt

from ssvi.numerics.random import Keys
from ssvi.typing import Array


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
class LocalResult:
    """What a local step found on some documents.

    Attributes
    ----------
    eta_hat : arrays by block
        The estimate of sum_n E[eta_n(y_n, z_n)], additive over documents.
    local : array, documents x anything
        What the model's users call the result for each document (for LDA, its topic weights).
    bound : float or None
        The sum of the local ELBOs, where the step optimises one.

    """

    eta_hat: Mapping[str, npt.NDArray[Any]]
    local: Array
    bound: float | None = None


class LocalStep(ABC):
    """A way to approximate p(z_n | y_n, beta). It does not know which global step is running.

    A backend calls `prepare` once a minibatch, `run` on each shard of it, in any order and on any worker, and
    `finish` on the sum.
    """

    name: ClassVar[str]
    model: ClassVar[str]
    """The name of the model whose documents it understands."""

    def check(self, batch: Any) -> None:
        """Raise a `ValueError` if there is something in these documents that the step cannot handle."""
        return

    @abstractmethod
    def prepare(self, model: Any, views: Mapping[str, Array], batch: Any) -> Any:
        """Return what all shards share: the views in the form the kernel wants."""

    @abstractmethod
    def run(self, model: Any, prepared: Any, start: int, stop: int, keys: Keys) -> LocalResult:
        """Handle documents start, ..., stop - 1 of the prepared minibatch, one random stream for each."""

    @abstractmethod
    def finish(self, model: Any, prepared: Any, result: LocalResult) -> LocalResult:
        """Bring the sum of all shards into the blocks' own shapes."""
