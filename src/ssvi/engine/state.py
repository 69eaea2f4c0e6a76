"""What a fit is after a step, and what a person wants to see of one."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ssvi.errors import FitError
from ssvi.stores import Store
from ssvi.typing import Array


@dataclass(frozen=True)
class State:
    """What the next step needs, and nothing else. The random numbers of a step follow from `seed` and `step`."""

    seed: int
    step: int
    documents_seen: int
    parameters: Mapping[str, Array]
    """lambda of each block."""
    totals: Mapping[str, Array] = field(default_factory=dict)
    """Sums of lambda that a fit keeps up to date; see `ssvi.stores.CoordinateStore`."""
    hyperparameters: Mapping[str, Array] = field(default_factory=dict)
    """What the model's priors of the next step follow from, for a model that learns it; see `Model.at`."""
    averages: Mapping[str, Array] = field(default_factory=dict)
    """The average of each block's lambda over the path, for a global step that keeps it; see `GlobalStep.averaging`."""
    rates: Mapping[str, Array] = field(default_factory=dict)
    """What the step size of the next step follows from, for a schedule that learns it; see `ssvi.adaptive`."""

    @property
    def estimate(self) -> Mapping[str, Array]:
        """What predicts best: the averages, where there are any, else lambda."""
        return self.averages if len(self.averages) else self.parameters

    def with_coordinates(self, block: str, more: Array) -> State:
        """Return a state in which the distributions of a block have further coordinates, with the lambda given.

        A schedule that learns begins anew.
        """

        def longer(arrays: Mapping[str, Array]) -> dict[str, Array]:
            joined = {block: np.concatenate([arrays[block], more], axis=-1)} if block in arrays else {}
            return {**arrays, **joined}

        totals = {name: sums + more.sum(axis=-1) if name == block else sums for name, sums in self.totals.items()}
        parameters, averages = longer(self.parameters), longer(self.averages)
        return replace(self, parameters=parameters, totals=totals, averages=averages, rates={})

    def complete(self) -> State:
        """Return the same state with arrays of its own, whatever the fit that it comes from does next."""
        return replace(self, parameters=dict(self.parameters), averages=dict(self.averages))


@dataclass(frozen=True)
class Info:
    """What a person wants to see of one step."""

    step: int
    documents_seen: int
    step_size: float
    """rho^(t)."""
    population: float
    """N_t, the number of documents that the minibatch stood for."""
    bound: float | None
    """The minibatch's sum of local ELBOs, where the local step optimises one."""
    guarded: int
    """Coordinates of lambda kept from leaving the domain."""
    seconds: float
    merged: int = 0
    """Components that were copies of others after this step, and were merged or parted; see `Model.rearrangement`."""


class Snapshot(Mapping[str, Array]):
    """An array of each block of a fit under way, read when it is first looked at.

    A copy of it, and what a pickle holds, is a dictionary of the arrays.
    """

    def __init__(self, stores: Mapping[str, Store], reads: Callable[[Store], Array]) -> None:
        self._stores, self._reads, self._arrays = stores, reads, dict[str, Array]()
        self._reading = threading.Lock()  # a callback may have handed the state to a thread, and the fit goes on

    def read(self) -> Mapping[str, Array]:
        """Return the arrays."""
        with self._reading:
            if not self._arrays:
                self._arrays = {name: self._reads(store) for name, store in self._stores.items()}
                self._stores = {}
        return self._arrays

    def __reduce__(self) -> tuple[type[dict[str, Array]], tuple[Mapping[str, Array]]]:
        return dict, (self.read(),)

    def __getitem__(self, name: str) -> Array:
        return self.read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.read())

    def __len__(self) -> int:
        return len(self.read())


def stop_unless_finite(name: str, number: int, lam: Array) -> None:
    """Raise a `FitError` that names the block and the step if a value of a block is not finite."""
    if not np.isfinite(lam).all():
        place = np.unravel_index(int(np.argmin(np.isfinite(lam))), lam.shape)
        raise FitError(
            f"block {name!r} has a value that is not finite after step {number} (first at {tuple(map(int, place))}): "
            "the fit was stopped. Look for extreme counts or priors, or use smaller steps."
        )


def stop_at_nan(name: str, number: int, stats: Array) -> None:
    """Raise a `FitError` if what the local step is to see of a block is NaN somewhere: it would make nonsense of it."""
    if np.isnan(stats.sum()) and np.isnan(stats).any():  # the sum clears almost every view
        raise FitError(
            f"block {name!r} cannot be drawn from in step {number}, because a value of lambda has left its domain: "
            "the fit was stopped. Look for extreme counts or priors, or use smaller steps."
        )
