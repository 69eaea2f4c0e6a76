"""What starts of fits of sequences share: some of the data, and passes of coordinate ascent over them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ssvi import engine
from ssvi.backends.base import Backend
from ssvi.engine import Info, Problem, State
from ssvi.global_steps.base import GlobalStep
from ssvi.local_steps.base import LocalStep
from ssvi.models.base import Model
from ssvi.numerics.random import derive_key
from ssvi.schedules import ConstantSchedule


def some_of(data: Any, seed: int, most: int) -> Any:
    """Return sequences at random that have so many time points at most; one at the least."""
    order = np.random.default_rng(derive_key(seed, "starts")).permutation(len(data))
    count = max(1, int(np.searchsorted(np.cumsum(data.costs()[order]), most, side="right")))
    return data.take(np.sort(order[:count]))


def whole_steps(model: Model, local_step: LocalStep, rule: GlobalStep, population: int, backend: Backend) -> Problem:
    """Return a fit whose every step replaces lambda: coordinate ascent, if nothing is drawn."""
    return Problem(model, local_step, rule, ConstantSchedule(), population=population, ramp=False, backend=backend)


def followed(problem: Problem, state: State, data: Any, passes: int) -> tuple[float, State]:
    """Return the bound after so many steps that see all of some data, and the state there."""
    infos: list[Info] = []
    state = engine.follow(problem, state, [data] * passes, [lambda _, info: infos.append(info)])
    last = infos[-1]
    local = 0.0 if last.bound is None else last.bound * last.population / len(data)
    return local + engine.prior_bound(problem.model.at(state.hyperparameters), state.parameters), state
