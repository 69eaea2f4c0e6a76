"""What a backend does: it runs shards, and adds them up in their own order.

How the work is cut depends on the data alone, never on the number of workers, and sums are taken in the order of the
shards: so the result is the same to the last bit wherever it is computed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from ssvi.local_steps.base import Batch, LocalResult, LocalStep, Part
from ssvi.numerics.random import Keys
from ssvi.tasks import run_all
from ssvi.typing import Array

Task = TypeVar("Task")
Result = TypeVar("Result")

_MOST_SHARDS = 16
_FEWEST_DOCUMENTS = 128  # below this many a shard's fixed cost would show


class Backend(ABC):
    """A place where tasks run."""

    @abstractmethod
    def map(self, function: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        """Yield function(task) for each task, in the order of the tasks, with few results alive at a time."""

    def each(self, function: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
        """Return function(task) for each task: for tasks that are short, or whose results are small."""
        return list(self.map(function, tasks))

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
        view is a `Part` has eta-hat of that part's columns, a row each, and `scale` is left to the
        caller; with whole views, whole arrays.
        """
        parts = _parts(local_step, views, batch)
        prepared = local_step.prepare(model, parts, batch, self.each)
        if local_step.counts and not want_local:
            total = self._count(local_step, model, prepared, batch, keys)
        else:
            total = _sum_in_order(self.run_shards(local_step, model, prepared, batch, keys))
        result = local_step.finish(model, prepared, total)
        return result if parts is views else _whole(result, views, parts)

    def map_local(self, local_step: LocalStep, model: Any, views: Mapping[str, Any], batch: Batch, keys: Keys) -> Array:
        """Run a local step for what it finds on each document, and let eta-hat go."""
        prepared = local_step.prepare(model, _parts(local_step, views, batch), batch, self.each)

        def run(shard: slice) -> Array:
            return local_step.local(model, prepared, shard.start, shard.stop, keys[shard])

        return np.concatenate(self.each(run, shards(batch.costs())))

    def run_shards(
        self, local_step: LocalStep, model: Any, prepared: Any, batch: Batch, keys: Keys
    ) -> Iterator[LocalResult]:
        """Yield the result of each shard of a prepared minibatch, in order."""

        def run(shard: slice) -> LocalResult:
            return local_step.run(model, prepared, shard.start, shard.stop, keys[shard])

        return self.map(run, shards(batch.costs()))

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

        run_all(self.each, run, shards(batch.costs()))
        totals = idle.pop()
        for other in idle:
            for name, counts in other.items():
                totals[name] += counts
        return LocalResult(totals)


def _parts(local_step: LocalStep, views: Mapping[str, Any], batch: Batch) -> Mapping[str, Any]:
    """Return the views with whole ones cut down to a part, where the step wants a part."""
    whole = [name for name in local_step.column_blocks if not isinstance(views[name], Part)]
    if not whole:
        return views
    columns = local_step.columns(batch)
    return {**views, **{name: Part.of(views[name], columns) for name in whole}}


def _whole(result: LocalResult, views: Mapping[str, Any], parts: Mapping[str, Any]) -> LocalResult:
    """Return a result with eta-hat of parts put where they belong in their blocks."""
    eta_hat = {}
    for name, value in result.eta_hat.items():
        if isinstance(parts[name], Part) and not isinstance(views[name], Part):
            eta_hat[name] = np.zeros(views[name].shape)
            eta_hat[name][:, parts[name].columns] = value.T * result.scale
        else:
            eta_hat[name] = value * result.scale
    return LocalResult(eta_hat, result.local, result.bound)


def shards(costs: npt.NDArray[np.integer]) -> list[slice]:
    """Cut documents into consecutive runs of about equal cost.

    >>> shards(np.ones(256, dtype=int))
    [slice(0, 128, None), slice(128, 256, None)]
    """
    count = int(np.clip(len(costs) // _FEWEST_DOCUMENTS, 1, _MOST_SHARDS))
    # One unit more than its cost for each document, so that runs of free documents are cut as well.
    reached = np.cumsum(np.asarray(costs, dtype=np.int64) + 1)
    levels = reached[-1] * np.arange(1, count) / count
    cuts = [0, *np.searchsorted(reached, levels, side="right").tolist(), len(costs)]
    return [slice(start, stop) for start, stop in pairwise(cuts) if stop > start]


def _sum_in_order(results: Iterator[LocalResult]) -> LocalResult:
    """Add up as results arrive, so that no more of them are alive than there are workers."""
    first = next(results)
    totals = {name: _accumulator(value) for name, value in first.eta_hat.items()}
    locals_, bound = [first.local], first.bound
    for result in results:
        for name, value in result.eta_hat.items():
            totals[name] += value
        locals_.append(result.local)
        bound = None if bound is None or result.bound is None else bound + result.bound
    return LocalResult(totals, np.concatenate(locals_), bound)


def _accumulator(value: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a wide copy: whole counts stay whole, single precision becomes double."""
    return value.astype(np.int64 if np.issubdtype(value.dtype, np.integer) else np.float64)
