"""A local step for people who want to write one group's mathematics in NumPy and nothing else."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssvi.local_steps.base import LocalResult, LocalStep, Part
from ssvi.numerics.random import Keys
from ssvi.tasks import Each
from ssvi.typing import Array

Found = tuple[Mapping[str, Any], float | None, Mapping[str, Any]]
"""What `PlainStep.group` returns: statistics, bound, and what else was found."""


@dataclass(frozen=True)
class Prepared:
    """A minibatch, the views of all blocks, and the shape of each one's statistics."""

    batch: Any
    views: Mapping[str, Any]
    shapes: Mapping[str, tuple[int, ...]]


class PlainStep(LocalStep):
    """A local step of which only `group` is to be written; the sum over groups and random streams are made here.

    A subclass is a frozen dataclass (its fields are its parameters) with a `name` and the name of its `model`. Any of
    `ssvi.batches` will do for data. Python goes over the groups one by one, on one processor: when that takes too long,
    write `prepare` and `run` with a compiled kernel instead, and keep this one to test it against.
    """

    @abstractmethod
    def group(self, model: Any, views: Mapping[str, Any], group: Any, rng: np.random.Generator) -> Found:
        """Return what one group says: its statistics, its bound, and what else was found of it.

        `views` are t(beta) of each block, in the block's shape, not to be written to; `group` is what the batch's
        `group` hands out; `rng` is this group's own. The statistics are E[eta_n(y_n, z_n)], an array for each block,
        of its view's shape. The bound is the local ELBO, or None where there is none. The last is a mapping by name,
        numbers or arrays of one shape for all groups: what `transform` shows. It may be empty.
        """

    def prepare(self, model: Any, views: Mapping[str, Any], batch: Any, each: Each = map) -> Prepared:
        """Keep the views from being written to."""
        shown = {name: _read_only(view) for name, view in views.items()}
        shapes = {name: (view.stats if isinstance(view, Part) else view).shape for name, view in shown.items()}
        return Prepared(batch, shown, shapes)

    def run(self, model: Any, prepared: Prepared, start: int, stop: int, keys: Keys) -> LocalResult:
        """Go over groups start, ..., stop - 1."""
        totals = {name: np.zeros(shape) for name, shape in prepared.shapes.items()}
        bound: float | None = 0.0
        found = []
        for n, key in zip(range(start, stop), keys, strict=True):
            rng = np.random.Generator(np.random.PCG64(int(key)))
            statistics, own_bound, local = self.group(model, prepared.views, prepared.batch.group(n), rng)
            self._add(totals, statistics, prepared.shapes)
            bound = None if bound is None or own_bound is None else bound + float(own_bound)
            found.append(local)
        stacked = {name: np.array([own[name] for own in found], dtype=np.float64) for name in found[0]}
        return LocalResult(totals, stacked, bound)

    def _add(
        self, totals: dict[str, Array], statistics: Mapping[str, Any], shapes: Mapping[str, tuple[int, ...]]
    ) -> None:
        """Add one group's statistics; those of no block, which a model may learn from, have any shape."""
        missing = shapes.keys() - statistics.keys()
        if missing:
            raise ValueError(f"{self!r}: group() returns no statistics of {', '.join(map(repr, sorted(missing)))}.")
        for name, value in statistics.items():
            own = np.asarray(value, dtype=np.float64)
            if name in shapes and own.shape != shapes[name]:
                raise ValueError(
                    f"{self!r}: group() returns statistics of {name!r} of shape {own.shape}, not {shapes[name]}."
                )
            totals[name] = totals.get(name, 0.0) + own


def _read_only(view: Any) -> Any:
    """Return the same numbers in an array that cannot be written to."""
    if isinstance(view, Part):
        return Part(view.chosen, _read_only(view.stats), view.axis)
    shown = view.view()
    shown.flags.writeable = False
    return shown
