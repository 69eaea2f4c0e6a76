"""How a minibatch is cut into shards, and how their results become one.

How the work is cut depends on the data alone, never on the number of workers, and so does the tree in which sums are
taken: so the result is the same to the last bit wherever it is computed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.local_steps.base import Batch, LocalResult, LocalStep, Part
from ssvi.typing import Array

_MOST_SHARDS = 16  # of a minibatch that one machine would take
_FEWEST_SHARDS = 4  # if there is work for them, also where one group is most of it
_LARGE_COST = 65_536  # larger minibatches have a shard for each of these, for as many machines as there are
_FEWEST_GROUPS = 128  # with fewer cheap groups than these a shard's fixed cost would show
_LEAST_COST = 8_192  # a shard of this much is worth its fixed cost, however few groups it has


def shards(costs: npt.NDArray[np.integer], together: int = 1) -> list[slice]:
    """Cut groups into consecutive runs of about equal cost: few where there is little to do, however it is spread.

    Up to sixteen their number is a power of 2, unless every group is a shard: for three, two workers would take as long
    as for four. A local step that has several groups in hand at a time (`together`) has fewer shards where one group is
    much of the work, or it would have too little to put beside it.

    >>> shards(np.ones(256, dtype=int))
    [slice(0, 128, None), slice(128, 256, None)]
    >>> shards(np.full(2, 100_000))  # two long sequences
    [slice(0, 1, None), slice(1, 2, None)]
    >>> len(shards(np.full(8_000, 70))), len(shards(np.full(100_000, 70)))
    (16, 108)
    >>> len(shards(np.full(900, 100))), len(shards(np.array([5_000, *[100] * 900]), 8))
    (8, 4)
    """
    # One unit more than its cost for each group, so that runs of free groups are cut as well.
    reached = np.cumsum(np.asarray(costs, dtype=np.int64) + 1)
    wanted = max(len(costs) // _FEWEST_GROUPS, int(reached[-1]) // _LEAST_COST)
    most = max(_MOST_SHARDS, int(reached[-1]) // _LARGE_COST)
    if together > 1:
        most = min(most, max(_FEWEST_SHARDS, int(reached[-1]) // (together * int(np.max(costs) + 1))))
    count = int(np.clip(wanted, 1, min(most, len(costs))))
    if count <= _MOST_SHARDS and count < len(costs):
        count = 1 << (count.bit_length() - 1)
    levels = reached[-1] * np.arange(1, count) / count
    cuts = [0, *np.searchsorted(reached, levels, side="right").tolist(), len(costs)]
    return [slice(start, stop) for start, stop in pairwise(cuts) if stop > start]


def shards_of(local_step: LocalStep, costs: npt.NDArray[np.integer]) -> list[slice]:
    """Cut groups of such costs into shards for a local step, by the time that it takes for a unit."""
    return shards(np.asarray(costs, dtype=np.int64) * local_step.unit_cost, local_step.together)


def sum_in_tree(results: Iterable[LocalResult]) -> LocalResult:
    """Add up as results arrive, in a tree whose shape follows from their number alone.

    The first 2^j results, for the largest 2^j below their number, are one branch of the tree, and the rest is the
    other; and so on in each. A run of 2^j results that begins at a multiple of 2^j is therefore a branch, and whoever
    adds it up by itself (a machine of a cluster) finds the bits that it has in the whole sum. Few results are alive at
    a time.
    """
    branches: list[tuple[int, Sum]] = []
    for result in results:
        size, total = 1, Sum.of(result)
        while branches and branches[-1][0] == size:
            size, total = 2 * size, branches.pop()[1] + total
        branches.append((size, total))
    total = branches.pop()[1]
    while branches:
        total = branches.pop()[1] + total
    return total.result()


class Sum:
    """A branch of the tree: statistics in wide numbers, or those of one shard, which are not ours to write into."""

    def __init__(self, eta_hat: dict[str, npt.NDArray[Any]], local: list[Mapping[str, Array]], bound: float | None):
        self._eta_hat, self._local, self._bound = eta_hat, local, bound
        self._ours: set[str] = set()

    @classmethod
    def of(cls, result: LocalResult) -> Sum:
        """Begin with the result of one shard."""
        return cls(dict(result.eta_hat), [result.local], result.bound)

    def __add__(self, other: Sum) -> Sum:
        """Return the sum, in this one's memory; statistics that one of them does not have are zeros."""
        for name, value in other._eta_hat.items():
            if name in self._eta_hat:
                self._widen(name)
                self._eta_hat[name] += value
            else:
                self._eta_hat[name] = value
                self._ours |= other._ours & {name}
        self._local += other._local
        self._bound = None if self._bound is None or other._bound is None else self._bound + other._bound
        return self

    def result(self) -> LocalResult:
        """Return what was added up: whole counts are whole, single precision has become double."""
        for name in self._eta_hat:
            self._widen(name)
        return LocalResult(self._eta_hat, join_local(self._local), self._bound)

    def _widen(self, name: str) -> None:
        if name not in self._ours:
            value = self._eta_hat[name]
            self._eta_hat[name] = value.astype(np.int64 if np.issubdtype(value.dtype, np.integer) else np.float64)
            self._ours.add(name)


def join_local(parts: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    """Put together what was found on the groups of consecutive shards."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def cut_views(local_step: LocalStep, views: Mapping[str, Any], batch: Batch) -> Mapping[str, Any]:
    """Return the views with whole ones cut down to a part, where the step wants a part."""
    whole = {name: axis for name, axis in local_step.partial_blocks.items() if not isinstance(views[name], Part)}
    if not whole:
        return views
    touched = local_step.touched(batch)
    return {**views, **{name: Part.of(views[name], touched[name], axis) for name, axis in whole.items()}}


def whole_result(result: LocalResult, views: Mapping[str, Any], cut: Mapping[str, Any]) -> LocalResult:
    """Return a result with eta-hat of parts put where they belong in their blocks."""
    eta_hat = {}
    for name, value in result.eta_hat.items():
        part = cut.get(name)  # there may be statistics that are of no block
        if isinstance(part, Part) and not isinstance(views[name], Part):
            eta_hat[name] = part.put_back(value * result.scale, views[name].shape)
        else:
            eta_hat[name] = value * result.scale
    return LocalResult(eta_hat, result.local, result.bound)
