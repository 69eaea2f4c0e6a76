"""A part of a minibatch that somebody else handles: consecutive shards, from the views and its groups to statistics.

Blocks have as many shards as fit the number of workers, a power of two, and are branches of the tree in which sums are
taken (`ssvi.backends.shards`): sums of blocks have the same bits for any number of workers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.backends.packing import Packed, add_counts, pack
from ssvi.backends.shards import join_local, sum_in_tree
from ssvi.local_steps.base import LocalResult, LocalStep
from ssvi.numerics.random import Keys
from ssvi.typing import Array


@dataclass(frozen=True)
class Given:
    """What all blocks of a step share.

    Attributes
    ----------
    token : str
        Another for every step: who has unpacked this once need not do so again.
    wanted : {"statistics", "local", "both"}
        What is to be found.

    """

    token: str
    local_step: LocalStep
    model: Any
    views: Mapping[str, Any]
    wanted: str


@dataclass(frozen=True)
class Found:
    """What was found on one or more blocks; `counts` says that sums of it are exact, in any order."""

    eta_hat: Mapping[str, Packed]
    local: Mapping[str, Array]
    bound: float | None
    counts: bool = False

    @property
    def size(self) -> int:
        """The number of bytes."""
        return sum(part.size for part in self.eta_hat.values()) + sum(part.nbytes for part in self.local.values())


def cut_blocks(shards: Sequence[slice], most: int) -> list[list[slice]]:
    """Put shards into `most` blocks at the most, of as many shards each (a power of two) but for the last.

    >>> [len(block) for block in cut_blocks([slice(n, n + 1) for n in range(15)], 6)]
    [4, 4, 4, 3]
    """
    size = 1
    while -(-len(shards) // size) > max(1, most):
        size *= 2
    return [list(shards[start : start + size]) for start in range(0, len(shards), size)]


def groups_of(batch: Any, start: int, stop: int) -> Any:
    """Return groups start, ..., stop - 1 of a minibatch with no data but their own."""
    if hasattr(batch, "tight"):
        return batch.slice(start, stop).tight()
    return batch.take(np.arange(start, stop)) if hasattr(batch, "take") else batch.slice(start, stop)


def run_block(given: Given, groups: Any, keys: Keys, shards: Sequence[slice]) -> Found:
    """Handle a block; `shards` are counted from its first group."""
    step, model = given.local_step, given.model
    prepared = step.prepare(model, given.views, groups)
    if given.wanted == "local":
        local = [step.local(model, prepared, own.start, own.stop, keys[own]) for own in shards]
        return Found({}, join_local(local), None)
    if given.wanted == "statistics" and step.counts:
        counts = step.zeros(model, prepared)
        for own in shards:
            step.count(model, prepared, own.start, own.stop, keys[own], counts)
        return Found({name: pack(value) for name, value in counts.items()}, {}, None, True)
    total = sum_in_tree(step.run(model, prepared, own.start, own.stop, keys[own]) for own in shards)
    local_too = total.local if given.wanted == "both" else {}
    return Found({name: pack(value) for name, value in total.eta_hat.items()}, local_too, total.bound)


def merge(found: Sequence[Found]) -> LocalResult:
    """Add up what was found on consecutive blocks."""
    if found[0].counts:
        names = found[0].eta_hat
        return LocalResult({name: add_counts([own.eta_hat[name] for own in found]) for name in names})
    return sum_in_tree(LocalResult(_unpacked(own), own.local, own.bound) for own in found)


def merge_packed(found: Sequence[Found]) -> Found:
    """Add up what was found on consecutive blocks, for somebody who adds up more."""
    total = merge(found)
    return Found(
        {name: pack(value) for name, value in total.eta_hat.items()}, total.local, total.bound, found[0].counts
    )


def _unpacked(found: Found) -> dict[str, npt.NDArray[Any]]:
    return {name: value.unpack() for name, value in found.eta_hat.items()}
