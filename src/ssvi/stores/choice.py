"""Which store a block gets."""

from __future__ import annotations

from ssvi.global_steps.base import GlobalStep
from ssvi.models.base import Block
from ssvi.stores.base import Store
from ssvi.stores.coordinates import CoordinateStore
from ssvi.stores.rows import RowStore
from ssvi.stores.whole import WholeStore
from ssvi.typing import Array


def make_store(
    block: Block,
    lam: Array,
    totals: Array | None,
    axis: str | None,
    global_step: GlobalStep,
    average: Array | None = None,
) -> Store:
    """Return a store of a block of which minibatches touch some "rows", some "coordinates" or (None) everything.

    A global step that has to see everything gets it: local steps are then given a part of a whole view. One that
    averages begins with lambda, unless there is an average from before.
    """
    average = (lam if average is None else average) if global_step.averaging else None
    if axis is None or global_step.sees_everything:
        return WholeStore(block, lam, average)
    return RowStore(block, lam, average) if axis == "rows" else CoordinateStore(block, lam, totals, average)
