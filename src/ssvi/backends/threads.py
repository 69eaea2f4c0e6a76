"""The backend of one process: shards on a pool of threads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy.typing as npt

from ssvi.backends.base import Backend
from ssvi.backends.shards import cut_views, join_local, shards_of, sum_in_tree, whole_result
from ssvi.backends.workers import Workers
from ssvi.local_steps.base import Batch, LocalResult, LocalStep
from ssvi.numerics.random import Keys
from ssvi.tasks import run_all
from ssvi.typing import Array


class Threads(Backend):
    """Shards on `n_jobs` threads: None is 1, and -1 is one for each processor, as scikit-learn has it."""

    name = "threads"

    def __init__(self, n_jobs: int | None = None) -> None:
        self.workers = Workers(n_jobs)

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
        """Run a local step on a minibatch: prepare, run every shard, add up, finish."""
        cut = cut_views(local_step, views, batch)
        prepared = local_step.prepare(model, cut, batch, self.workers.each)
        if local_step.counts and not want_local:
            total = self._count(local_step, model, prepared, batch, keys)
        else:
            total = sum_in_tree(self._run_shards(local_step, model, prepared, batch, keys))
        result = local_step.finish(model, prepared, total)
        return result if cut is views else whole_result(result, views, cut)

    def map_local(
        self, local_step: LocalStep, model: Any, views: Mapping[str, Any], batch: Batch, keys: Keys
    ) -> dict[str, Array]:
        """Run a local step for what it finds on each group, and let eta-hat go."""
        prepared = local_step.prepare(model, cut_views(local_step, views, batch), batch, self.workers.each)

        def run(shard: slice) -> Mapping[str, Array]:
            return local_step.local(model, prepared, shard.start, shard.stop, keys[shard])

        return join_local(self.workers.each(run, shards_of(local_step, batch.costs())))

    def _run_shards(
        self, local_step: LocalStep, model: Any, prepared: Any, batch: Batch, keys: Keys
    ) -> Iterator[LocalResult]:
        """Yield the result of each shard of a prepared minibatch, in order."""

        def run(shard: slice) -> LocalResult:
            return local_step.run(model, prepared, shard.start, shard.stop, keys[shard])

        return self.workers.map(run, shards_of(local_step, batch.costs()))

    def _count(self, local_step: LocalStep, model: Any, prepared: Any, batch: Batch, keys: Keys) -> LocalResult:
        """Run every shard of a step that counts: no more arrays than there are workers, whichever shard meets which."""
        idle: list[dict[str, npt.NDArray[Any]]] = []

        def run(shard: slice) -> None:
            try:
                own = idle.pop()
            except IndexError:
                own = local_step.zeros(model, prepared)
            local_step.count(model, prepared, shard.start, shard.stop, keys[shard], own)
            idle.append(own)

        run_all(self.workers.each, run, shards_of(local_step, batch.costs()))
        totals = idle.pop()
        for other in idle:
            for name, counts in other.items():
                totals[name] += counts
        return LocalResult(totals)
