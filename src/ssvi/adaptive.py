"""Step sizes that a fit learns from its own path. What a rule remembers of the path is in `State.rates`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ssvi.checks import is_number, require
from ssvi.schedules import Schedule
from ssvi.typing import Array

Memory = Mapping[str, Array]
"""What a rule has seen of the path: arrays by name. That of a fit which begins is empty."""

# Names of what `SignalShare` remembers: of each block, and the next step size with tau and the steps seen.
_MEAN, _SIZE, _NEXT = "mean of ", "size of ", "next"
_SMALLEST = 1e-6  # a share of 0, of gradients that cancel to the last bit, would end a fit for good


class AdaptiveSchedule(ABC):
    """A rule for step sizes that watches lambda move. It holds no numbers of a fit: those are its memory."""

    @abstractmethod
    def knows(self, memory: Memory, shapes: Mapping[str, tuple[int, ...]]) -> bool:
        """Tell whether a memory that is not empty is one of this rule, for blocks of these shapes."""

    @abstractmethod
    def step_size(self, step: int, memory: Memory) -> float:
        """Return rho^(t), given what was seen of the steps before."""

    @abstractmethod
    def after(self, step: int, memory: Memory, directions: Mapping[str, Array]) -> Memory:
        """Return the memory after a step; `directions` are (lambda' - lambda) / rho of each block."""


@dataclass(frozen=True)
class SignalShare(AdaptiveSchedule):
    """rho = |E[g]|^2 / E[|g|^2], the share of signal in natural gradients g of late (Ranganath et al. 2013).

    g is target - lambda, as far as the guard let lambda go. Where all agree rho is 1, and it falls as noise takes over.
    Both means are running ones over a window of tau steps, which grows while steps are small: tau' = tau (1 - rho) + 1.
    The paper's rho^(t) knows the noise of step t itself. Here it is what the steps before have told, so that it does
    not lean towards that noise, and the first step, of which nothing is known, has a size of its own. Each block
    counts in units of its own E[|g|^2]; the paper has one block.

    Parameters
    ----------
    first : float
        rho of the first step.
    window : float
        tau at first. The means over fewer steps than that are plain ones.

    """

    first: float = 0.7
    window: float = 10.0

    def __post_init__(self) -> None:
        require("first", self.first, lambda v: is_number(v) and 0 < v <= 1, "a step size, in (0, 1]")
        require("window", self.window, lambda v: is_number(v) and 1 < v < np.inf, "a number above 1")

    def knows(self, memory: Memory, shapes: Mapping[str, tuple[int, ...]]) -> bool:
        """Tell whether there are a mean and a size for each block, and numbers that a fit could have left."""
        wanted = {_MEAN + name: shape for name, shape in shapes.items()} | {_SIZE + name: (1,) for name in shapes}
        if {name: array.shape for name, array in memory.items()} != wanted | {_NEXT: (3,)}:
            return False
        (rho, window, seen), sizes = memory[_NEXT], [memory[_SIZE + name] for name in shapes]
        finite = all(bool(np.isfinite(array).all()) for array in memory.values())
        return finite and 0 < rho <= 1 and window > 1 and seen >= 1 and all(bool(size >= 0) for size in sizes)

    def step_size(self, step: int, memory: Memory) -> float:
        """Return rho^(t)."""
        return float(memory[_NEXT][0]) if memory else self.first

    def after(self, step: int, memory: Memory, directions: Mapping[str, Array]) -> Memory:
        """Return the running means with the last step in them, the next step size, tau, and the steps seen."""
        _, window, seen = map(float, memory[_NEXT]) if memory else (0.0, self.window, 0.0)
        weight, updated, shares = 1.0 / min(window, seen + 1.0), dict[str, Array](), []
        for name, direction in directions.items():
            mean, size = _MEAN + name, _SIZE + name
            updated[mean] = _moved(memory.get(mean), direction, weight)
            updated[size] = _moved(memory.get(size), np.array([_square(direction)]), weight)
            total = float(updated[size][0])
            shares.append(_square(updated[mean]) / total if total > 0 else 1.0)
        share = min(1.0, max(_SMALLEST, float(np.mean(shares))))
        if seen + 1.0 >= self.window:
            window = window * (1.0 - share) + 1.0
        return updated | {_NEXT: np.array([share, window, seen + 1.0])}


def _square(array: Array) -> float:
    return float((array * array).sum())  # np.vdot's bits depend on the threads of BLAS


def _moved(mean: Array | None, value: Array, weight: float) -> Array:
    """Return a running mean with another value in it."""
    return value if mean is None else mean + weight * (value - mean)


class Pace:
    """The step sizes of a fit under way, by a schedule of either kind."""

    def __init__(
        self, schedule: Schedule | AdaptiveSchedule, memory: Memory, shapes: Mapping[str, tuple[int, ...]]
    ) -> None:
        self._schedule = schedule
        self.memory: Memory = memory if isinstance(schedule, AdaptiveSchedule) else {}
        if isinstance(schedule, AdaptiveSchedule) and memory and not schedule.knows(memory, shapes):
            raise ValueError(
                f"the rates of the state are not what {schedule!r} remembers of this model: they are damaged, or of "
                "another schedule."
            )

    def step_size(self, step: int) -> float:
        """Return rho^(t)."""
        if isinstance(self._schedule, AdaptiveSchedule):
            return self._schedule.step_size(step, self.memory)
        return self._schedule(step)

    def watch(self, lam: Callable[[], Mapping[str, Array]]) -> Callable[[int, float], None]:
        """Return what is to be called after a step, with its number and size; `lam` reads lambda of all blocks."""
        schedule = self._schedule
        if not isinstance(schedule, AdaptiveSchedule):
            return lambda step, step_size: None
        before = lam()

        def note(step: int, step_size: float) -> None:
            directions = {name: (after - before[name]) / step_size for name, after in lam().items()}
            self.memory = schedule.after(step, self.memory, directions)

        return note
