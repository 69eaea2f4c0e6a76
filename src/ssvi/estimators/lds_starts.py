"""Where a fit of linear dynamics begins: where coordinate ascent has settled, or nearly so.

Where there is as much noise as signal, ascent needs hundreds of passes, and steps that draw and grow smaller would not
get there. So it goes beyond its targets (Salakhutdinov and Roweis 2003): by more and more as long as the bound rises,
and not at all after it fell.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ssvi import engine
from ssvi.backends.base import Backend
from ssvi.engine import Problem, State
from ssvi.estimators.sequence_starts import some_of, whole_steps
from ssvi.global_steps.mean_field import MeanField
from ssvi.local_steps.lds.exact import Exact
from ssvi.models.lds import LDS
from ssvi.schedules import PowerSchedule
from ssvi.typing import Array

_MOST_POINTS = 10_000  # that a start is followed on
_POINTS_IN_ALL = 400_000
_GROWTH = 1.3  # of how far steps go beyond their targets, from one to the next
MOST_PASSES = 300
"""How often a start sees the time points that it is followed on."""
SETTLED_STEPS, SETTLED_AVERAGING = PowerSchedule(0.75, 20.0), 1.0
"""The step sizes of a fit that begins there and sees all data, and the p of its average over the path: there is nothing
to explore, only the noise of draws to average out."""

Lambda = Mapping[str, Array]


def settled_dynamics(
    model: LDS, data: Any, seed: int, lam: Lambda, backend: Backend, most: int = MOST_PASSES
) -> dict[str, Array]:
    """Return lambda after passes of coordinate ascent from a start, so many at most, the fewer the longer they take."""
    some = some_of(data, seed, _MOST_POINTS)
    passes = int(np.clip(_POINTS_IN_ALL / max(int(some.costs().sum()), 1), 1, min(most, MOST_PASSES)))
    problem = whole_steps(model.settled(), Exact(), MeanField(), len(data), backend)
    target, bound = _ascended(problem, lam, some)
    reach, done = 1.0, 1
    while done < passes:
        moved = _moved(model, lam, target, reach)
        further, reached = _ascended(problem, moved, some)
        done += 1
        if reached < bound and reach > 1.0:
            reach, moved = 1.0, target
            further, reached = _ascended(problem, moved, some)
            done += 1
        else:
            reach *= _GROWTH
        lam, target, bound = moved, further, reached
    return {name: np.array(own) for name, own in target.items()}


def _moved(model: LDS, lam: Lambda, target: Lambda, reach: float) -> Lambda:
    """Return lambda beyond its target, so many times as far away; the target itself, if that is outside the domain."""
    moved = {name: own + reach * (target[name] - own) for name, own in lam.items()}
    inside = all(block.family.in_domain(moved[name]).all() for name, block in model.blocks().items())
    return moved if inside else target


def _ascended(problem: Problem, lam: Lambda, data: Any) -> tuple[Lambda, float]:
    """Return lambda after a pass, and the bound before it."""
    state, info = problem.step(State(0, 0, 0, lam), data)
    assert info.bound is not None
    local = info.bound * info.population / len(data)
    return state.parameters, local + engine.prior_bound(problem.model, lam)
