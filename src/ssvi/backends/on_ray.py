"""The backend of a cluster: blocks of shards as tasks of Ray.

In every step the views go out once, from this process, through Ray's object store; each task has its groups and their
keys, and sends statistics back in few bytes. Nothing of a fit lives in the cluster from one step to the next: if a
worker or a node dies, Ray runs its tasks again elsewhere, and the sums have the same bits.
"""

from __future__ import annotations

import time
import uuid
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

import ssvi
from ssvi.backends.base import Backend
from ssvi.backends.blocks import Given, cut_blocks, groups_of, merge
from ssvi.backends.parcels import wrap
from ssvi.backends.ray_cluster import connect
from ssvi.backends.ray_reading import PlacedBatch, Reader, union
from ssvi.backends.ray_tasks import merge_remotely, run_remotely
from ssvi.backends.shards import cut_views, join_local, shards_of, whole_result
from ssvi.backends.threads import Threads
from ssvi.backends.workers import Workers
from ssvi.batches.places import Place
from ssvi.batches.sources import Source
from ssvi.errors import BackendError
from ssvi.local_steps.base import Batch, LocalResult, LocalStep
from ssvi.numerics.random import Keys
from ssvi.typing import Array

_TASKS_A_PROCESSOR = 1  # blocks cost about the same, and each task takes some milliseconds to start and to collect
_MERGED_HERE = 8  # more blocks than these are added up by tasks, so many at a time: a branch of the tree
_LOOK_EVERY = 5.0  # seconds, at the size of the cluster
_WAIT = 60.0  # seconds without a processor, until somebody is told


class Ray(Backend):
    """Shards on the workers of a Ray cluster.

    Parameters
    ----------
    n_jobs : int, optional
        Threads of this process, for what is done to lambda, and the processors of a local Ray. None is 1, and -1 is one
        for each processor.
    address : str, optional
        The cluster to join: host:port, or "auto" for the one that this machine belongs to. By default that of the
        environment variable RAY_ADDRESS, or a local Ray that is started for this process.
    object_store_memory : int, optional
        The bytes of shared memory of a local Ray.

    """

    name = "ray"
    remote = True

    def __init__(
        self, n_jobs: int | None = None, address: str | None = None, *, object_store_memory: int | None = None
    ) -> None:
        self._threads = Threads(n_jobs)
        self.workers: Workers = self._threads.workers
        self._ray = connect(address, self.workers.n_threads, object_store_memory)
        self._processors, self._looked = 1, -_LOOK_EVERY
        self._reader: Reader | None = None

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
        """Run a local step on a minibatch: blocks on workers, and their sum here."""
        if local_step.shares_memory:
            return self._threads.map_reduce(local_step, model, views, batch, keys, want_local=want_local)
        cut = cut_views(local_step, views, batch)
        given = Given(uuid.uuid4().hex, local_step, model, cut, "both" if want_local else "statistics")
        references = self._start(given, batch, keys)
        some = batch if local_step.prepares_whole else batch.slice(0, 1)
        prepared = local_step.prepare(model, cut, some, self.workers.each)  # while the workers work
        if not want_local:
            while len(references) > _MERGED_HERE:
                starts = range(0, len(references), _MERGED_HERE)
                references = [merge_remotely(*references[start : start + _MERGED_HERE]) for start in starts]
        result = local_step.finish(model, prepared, merge(self._get(references)))
        return result if cut is views else whole_result(result, views, cut)

    def map_local(
        self, local_step: LocalStep, model: Any, views: Mapping[str, Any], batch: Batch, keys: Keys
    ) -> dict[str, Array]:
        """Run a local step for what it finds on each group, and let eta-hat go."""
        if local_step.shares_memory:
            return self._threads.map_local(local_step, model, views, batch, keys)
        given = Given(uuid.uuid4().hex, local_step, model, cut_views(local_step, views, batch), "local")
        return join_local([found.local for found in self._get(self._start(given, batch, keys))])

    def read(self, local_step: LocalStep, source: Source, place: Place) -> Any:
        """Start the reading of a minibatch on workers, unless all of it is needed in one place."""
        if local_step.shares_memory or local_step.prepares_whole:
            return super().read(local_step, source, place)
        if self._reader is None or self._reader.source is not source or self._reader.local_step is not local_step:
            self._reader = Reader(self._ray, source, local_step)
        with self._errors():
            return self._reader.start(place, _TASKS_A_PROCESSOR * self._size())

    def touched(self, local_step: LocalStep, batch: Any) -> Mapping[str, npt.NDArray[np.int64]]:
        """Return what of its partial blocks the local step looks at; workers that have read a minibatch know."""
        if not isinstance(batch, PlacedBatch):
            return super().touched(local_step, batch)
        return union(self._get(batch.touched))

    def _blocks(self, local_step: LocalStep, batch: Any) -> Iterator[tuple[list[slice], Any]]:
        """Yield the shards of each block, and its groups: here, or a reference to where they are."""
        from ray import cloudpickle

        if isinstance(batch, PlacedBatch):
            yield from zip(batch.blocks, batch.groups, strict=True)
            return
        whole = self._ray.put(wrap(batch, cloudpickle.dumps)) if local_step.prepares_whole else None
        for block in cut_blocks(shards_of(local_step, batch.costs()), _TASKS_A_PROCESSOR * self._size()):
            yield block, whole or wrap(groups_of(batch, block[0].start, block[-1].stop), cloudpickle.dumps)

    def _start(self, given: Given, batch: Batch, keys: Keys) -> list[Any]:
        """Send the views to the cluster and start a task for each block; return references to what they will find."""
        from ray import cloudpickle

        with self._errors():
            shared = self._ray.put(wrap(given, cloudpickle.dumps))
            references = []
            for block, groups in self._blocks(given.local_step, batch):
                start, stop = block[0].start, block[-1].stop
                if given.local_step.prepares_whole:
                    start, stop = 0, len(batch)
                own_keys = wrap(np.ascontiguousarray(keys[start:stop]))
                own = [slice(shard.start - start, shard.stop - start) for shard in block]
                references.append(run_remotely(given.token, ssvi.__version__, shared, groups, own_keys, own))
        return references

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Raise errors of tasks as they were there, and those of the cluster in one sentence."""
        try:
            yield
        except self._ray.exceptions.RayError as error:
            raise _explained(self._ray, error) from None

    def _get(self, references: Sequence[Any]) -> list[Any]:
        """Wait for what tasks find."""
        with self._errors():
            return self._wait_for(list(references))

    def _wait_for(self, references: list[Any]) -> list[Any]:
        try:
            waiting, started = references, time.monotonic()
            while waiting:
                _, waiting = self._ray.wait(waiting, num_returns=len(waiting), timeout=_WAIT, fetch_local=False)
                if waiting and not self._ray.cluster_resources().get("CPU"):
                    seconds = time.monotonic() - started
                    warnings.warn(
                        f"the Ray cluster has had no processor for {seconds:.0f} s: add a node, and the fit goes on.",
                        stacklevel=2,
                    )
            found: list[Any] = self._ray.get(references)
        except KeyboardInterrupt:
            for reference in references:
                self._ray.cancel(reference)
            raise
        return found

    def _size(self) -> int:
        """Return how many processors the cluster has now, or had a moment ago."""
        if time.monotonic() - self._looked >= _LOOK_EVERY:
            self._processors = max(1, int(self._ray.cluster_resources().get("CPU", 1)))
            self._looked = time.monotonic()
        return self._processors


def _explained(ray: Any, error: Exception) -> BaseException:
    """Return what is to be raised: the error that a task raised, or a sentence for what befell the cluster."""
    kinds = ray.exceptions
    if isinstance(error, kinds.RayTaskError):
        cause: BaseException = error.cause
        if isinstance(cause, kinds.RayError):
            return _explained(ray, cause)
        if isinstance(cause, ImportError):
            return BackendError(
                f"workers of the Ray cluster cannot import what this fit needs ({cause}): install it on every node, or "
                "define it in the script that you run."
            )
        return cause
    if isinstance(error, kinds.ObjectStoreFullError | kinds.OutOfDiskError | kinds.OutOfMemoryError):
        return BackendError(
            "the Ray cluster has no room left for a minibatch and its views: give its object store more "
            "(ray start --object-store-memory, or object_store_memory of ssvi.backends.on_ray.Ray), or take a smaller "
            "batch_size."
        )
    if isinstance(error, kinds.WorkerCrashedError | kinds.NodeDiedError | kinds.ObjectLostError):
        return BackendError(
            "workers of the Ray cluster died again and again on the same task: they may be out of memory (take a "
            f"smaller batch_size), or the local step may crash; Ray says: {' '.join(str(error).split())[:200]}"
        )
    return BackendError(f"the Ray cluster failed: {' '.join(str(error).split())[:300]}")
