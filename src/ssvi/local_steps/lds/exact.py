"""Expected states: a smoother in natural parameters."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.local_steps.base import LocalResult
from ssvi.local_steps.lds.states import Prepared, StateStep, expected_result
from ssvi.models.lds import LDS
from ssvi.numerics.random import Keys
from ssvi.typing import Array


@dataclass(frozen=True)
class Exact(StateStep):
    """The means and covariances of states given all of a sequence; the bound is its log probability."""

    name = "exact"

    def _statistics(
        self, model: LDS, prepared: Prepared, start: int, stop: int, factors: Array, targets: Array, widths: Array,
        keys: Keys,
    ) -> LocalResult:  # fmt: skip
        return expected_result(model, prepared, start, stop, factors, targets, widths)
