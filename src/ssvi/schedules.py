"""Step sizes rho^(t) as plain callables of the step number t = 1, 2, ...

Those that follow from the path of a fit are in `ssvi.adaptive`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

from ssvi.checks import is_number, require, require_count, require_not_negative, require_positive


class Schedule(Protocol):
    """Anything that turns the number of a step, from 1, into a step size in (0, 1]."""

    def __call__(self, step: int) -> float:
        """Return rho^(t)."""
        ...


@dataclass(frozen=True)
class PowerSchedule:
    """rho^(t) = min(1, scale (t + offset)^-decay), the paper's s t^-kappa with a delay.

    The sum of steps diverges and the sum of their squares does not for 0.5 < decay <= 1.

    >>> PowerSchedule(decay=0.5, offset=0.0)(4)
    0.5
    """

    decay: float = 0.6
    offset: float = 10.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        require_not_negative("decay", self.decay)
        require_not_negative("offset", self.offset)
        require_positive("scale", self.scale)

    def __call__(self, step: int) -> float:
        """Return rho^(t)."""
        return min(1.0, self.scale * float((step + self.offset) ** -self.decay))


def whole_step_schedule(steps: int, decay: float = 0.75, offset: float = 0.0) -> PowerSchedule:
    """Return the steps of a fit whose every step sees all data: 1 in the first third, then as (t + offset)^-decay.

    There is no noise of subsampling to average out, only that of draws. While rho is 1 nothing of lambda's past
    remains: the fit explores. (In a mixture whose local step draws as well, SSVI-A is then a Gibbs sampler.) The rest
    averages.
    """
    require_count("steps", steps)
    return PowerSchedule(decay, offset, (max(1.0, steps / 3) + offset) ** decay)


def snapshot_steps(steps: int, count: int) -> set[int]:
    """Return the numbers of so many of a fit's steps, evenly spread over its last two thirds, the last among them.

    >>> sorted(snapshot_steps(300, 4))
    [150, 200, 250, 300]
    """
    first = steps // 3
    return {first + round((steps - first) * number / count) for number in range(1, count + 1)}


@dataclass(frozen=True)
class ConstantSchedule:
    """rho^(t) = value."""

    value: float = 1.0

    def __post_init__(self) -> None:
        require("value", self.value, lambda v: is_number(v) and 0 < v <= 1, "a step size, in (0, 1]")

    def __call__(self, step: int) -> float:
        """Return the value."""
        return self.value
