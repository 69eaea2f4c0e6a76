"""How a minibatch is cut into shards, and how their results become one.

How the work is cut depends on the data alone, never on the number of workers, and sums are taken in the order of the
shards: so the result is the same to the last bit wherever it is computed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.local_steps.base import Batch, LocalResult, LocalStep, Part
from ssvi.typing import Array

_MOST_SHARDS = 16
_FEWEST_GROUPS = 128  # with fewer cheap groups than these a shard's fixed cost would show
_LEAST_COST = 8_192  # a shard of this much is worth its fixed cost, however few groups it has


def shards(costs: npt.NDArray[np.integer]) -> list[slice]:
    """Cut groups into consecutive runs of about equal cost: few where there is little to do, however it is spread.

    >>> shards(np.ones(256, dtype=int))
    [slice(0, 128, None), slice(128, 256, None)]
    >>> shards(np.full(2, 100_000))  # two long sequences
    [slice(0, 1, None), slice(1, 2, None)]
    """
    # One unit more than its cost for each group, so that runs of free groups are cut as well.
    reached = np.cumsum(np.asarray(costs, dtype=np.int64) + 1)
    wanted = max(len(costs) // _FEWEST_GROUPS, int(reached[-1]) // _LEAST_COST)
    count = int(np.clip(wanted, 1, min(_MOST_SHARDS, len(costs))))
    levels = reached[-1] * np.arange(1, count) / count
    cuts = [0, *np.searchsorted(reached, levels, side="right").tolist(), len(costs)]
    return [slice(start, stop) for start, stop in pairwise(cuts) if stop > start]


def sum_in_order(results: Iterator[LocalResult]) -> LocalResult:
    """Add up as results arrive, so that no more of them are alive than there are workers."""
    first = next(results)
    totals = {name: _accumulator(value) for name, value in first.eta_hat.items()}
    locals_, bound = [first.local], first.bound
    for result in results:
        for name, value in result.eta_hat.items():
            totals[name] += value
        locals_.append(result.local)
        bound = None if bound is None or result.bound is None else bound + result.bound
    return LocalResult(totals, join_local(locals_), bound)


def join_local(parts: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    """Put together what was found on the groups of consecutive shards."""
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _accumulator(value: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a wide copy: whole counts stay whole, single precision becomes double."""
    return value.astype(np.int64 if np.issubdtype(value.dtype, np.integer) else np.float64)


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
