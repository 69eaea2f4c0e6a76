"""What a backend does: it runs the local step of a minibatch, shard by shard, wherever that is.

Work that shares this process's memory (draws, updates of lambda) is not a backend's but its `workers`'.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from ssvi.backends.workers import Workers
from ssvi.local_steps.base import Batch, LocalResult, LocalStep
from ssvi.numerics.random import Keys
from ssvi.typing import Array


class Backend(ABC):
    """A place where local steps run. Results are the same to the last bit on each; see `ssvi.backends.shards`."""

    name: ClassVar[str]
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
        """Run a local step on a minibatch: prepare, run every shard, add up in order, finish.

        Without `want_local` the result's `local` may be empty, which saves a step that counts some work. A block whose
        view is a `Part` has eta-hat of that part, and `scale` is left to the caller; with whole views, whole arrays.
        """

    @abstractmethod
    def map_local(
        self, local_step: LocalStep, model: Any, views: Mapping[str, Any], batch: Batch, keys: Keys
    ) -> dict[str, Array]:
        """Run a local step for what it finds on each group, and let eta-hat go."""
