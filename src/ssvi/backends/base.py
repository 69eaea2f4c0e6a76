"""What a backend does: it runs the local step of a minibatch, shard by shard, wherever that is.

Work that shares this process's memory (draws, updates of lambda) is not a backend's but its `workers`'.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from types import TracebackType
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from ssvi.backends.workers import Workers
from ssvi.batches.places import Place
from ssvi.batches.sources import Source
from ssvi.local_steps.base import Batch, LocalResult, LocalStep
from ssvi.numerics.random import Keys
from ssvi.typing import Array


class Backend(ABC):
    """A place where local steps run. Results are the same to the last bit on each; see `ssvi.backends.shards`."""

    name: ClassVar[str]
    remote: ClassVar[bool] = False
    """Whether it may be on other machines, and takes an address."""
    workers: Workers
    """Threads of this process, for what is done to lambda."""

    @abstractmethod
    def map_reduce(
        self,
        local_step: LocalStep,
        model: Any,
        views: Mapping[str, Any],
        batch: Batch,
        keys: Keys,
        *,
        want_local: bool = True,
    ) -> LocalResult:
        """Run a local step on a minibatch: prepare, run every shard, add up, finish.

        Without `want_local` the result's `local` may be empty, which saves a step that counts some work. A block whose
        view is a `Part` has eta-hat of that part, and `scale` is left to the caller; with whole views, whole arrays.
        """

    def read(self, local_step: LocalStep, source: Source, place: Place) -> Any:
        """Return the minibatch at a place of a corpus that is read as it is needed.

        It is one that the local step can handle, or there is a `ValueError`. It may be read elsewhere, and later.
        """
        batch = source.read(place)
        local_step.check(batch)
        return batch

    def touched(self, local_step: LocalStep, batch: Any) -> Mapping[str, npt.NDArray[np.int64]]:
        """Return what of its partial blocks the local step looks at for a minibatch."""
        return local_step.touched(batch)

    @abstractmethod
    def map_local(
        self, local_step: LocalStep, model: Any, views: Mapping[str, Any], batch: Batch, keys: Keys
    ) -> dict[str, Array]:
        """Run a local step for what it finds on each group, and let eta-hat go."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.workers.__exit__(kind, error, trace)

    def __deepcopy__(self, memo: Any) -> Self:
        """Return the same place: copies of an estimator that was given one share it."""
        return self
