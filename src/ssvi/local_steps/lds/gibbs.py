"""Drawn states: filtered forward, sampled back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ssvi.local_steps.base import LocalResult, LocalStep
from ssvi.local_steps.lds.states import Prepared, StateStep, drawn_result
from ssvi.models.lds import LDS
from ssvi.numerics.random import Keys
from ssvi.typing import Array


@dataclass(frozen=True)
class Gibbs(StateStep):
    """A draw of all states of a sequence, and of its missing entries where noise is correlated."""

    name = "gibbs"

    def sampler(self, model: Any) -> LocalStep:
        """Return the step itself."""
        return self

    def _statistics(
        self, model: LDS, prepared: Prepared, start: int, stop: int, factors: Array, targets: Array, widths: Array,
        keys: Keys,
    ) -> LocalResult:  # fmt: skip
        return drawn_result(model, prepared, start, stop, factors, targets, keys)
