"""Minibatches that the workers of a Ray cluster read themselves, from a corpus that all of them can open.

Only small things pass through the process of the fit: where rows are, how long each is, and which words a minibatch
has. What a worker has read stays on its node, in Ray's object store, until the task of the step comes for it.
"""

from __future__ import annotations

import functools
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.backends.blocks import cut_blocks
from ssvi.backends.parcels import Parcel, wrap
from ssvi.backends.ray_tasks import TRIES
from ssvi.backends.shards import shards_of
from ssvi.batches.places import Place
from ssvi.batches.sources import Source
from ssvi.local_steps.base import LocalStep

_opened: dict[str, tuple[Any, LocalStep]] = {}  # the corpus of the last fit, by this worker: it keeps what it has read

Touched = Mapping[str, npt.NDArray[np.int64]]


@dataclass(frozen=True)
class PlacedBatch:
    """A minibatch of which this process knows where it is; `groups` are references to what workers have read.

    `blocks` are the shards of each, and `touched` references to what of the views each needs.
    """

    source: Source
    place: Place
    lengths: npt.NDArray[np.int64]
    blocks: list[list[slice]]
    groups: list[Any]
    touched: list[Any]

    def __len__(self) -> int:
        return len(self.lengths)

    def slice(self, start: int, stop: int) -> Any:
        """Return groups start, ..., stop - 1, which are read here."""
        return self.source.read(self.place.slice(start, stop))

    def costs(self) -> npt.NDArray[np.int64]:
        """Return the number of entries of each group."""
        return self.lengths


class Reader:
    """Starts the reading of minibatches of a corpus, for one local step; the corpus is sent once."""

    def __init__(self, ray: Any, source: Source, local_step: LocalStep) -> None:
        from ray import cloudpickle

        self.source, self.local_step = source, local_step
        self._token = uuid.uuid4().hex
        self._shared = ray.put(wrap((source, local_step), cloudpickle.dumps))

    def start(self, place: Place, most: int) -> PlacedBatch:
        """Start the reading of a minibatch in so many tasks at most."""
        lengths = self.source.costs(place)
        blocks, groups, touched = cut_blocks(shards_of(self.local_step, lengths), most), [], []
        for block in blocks:
            own = place.slice(block[0].start, block[-1].stop)
            read, words = _remote().remote(self._token, self._shared, own)
            groups.append(read)
            touched.append(words)
        return PlacedBatch(self.source, place, lengths, blocks, groups, touched)


def union(parts: list[Touched]) -> dict[str, npt.NDArray[np.int64]]:
    """Return what any of some blocks touches, in ascending order."""
    return {name: np.unique(np.concatenate([part[name] for part in parts])).astype(np.int64) for name in parts[0]}


def _read(token: str, shared: Parcel, place: Place) -> tuple[Parcel, dict[str, npt.NDArray[Any]]]:
    """Read the groups of a block, see whether the step can handle them, and return them and what they touch."""
    from ray import cloudpickle

    if token not in _opened:
        _opened.clear()
        _opened[token] = shared.open()
    source, local_step = _opened[token]
    groups = source.read(place)
    local_step.check(groups)
    touched = {name: chosen.astype(np.uint32) for name, chosen in local_step.touched(groups).items()}
    return wrap(groups, cloudpickle.dumps), touched


@functools.cache
def _remote() -> Any:
    import ray

    function: Any = _read
    return ray.remote(num_cpus=1, max_retries=TRIES, num_returns=2)(function)
