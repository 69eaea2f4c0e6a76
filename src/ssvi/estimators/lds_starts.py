"""Where a fit of linear dynamics begins: where coordinate ascent has nearly settled."""

from __future__ import annotations

from typing import Any

import numpy as np

from ssvi.backends.base import Backend
from ssvi.engine import State
from ssvi.estimators.sequence_starts import followed, some_of, whole_steps
from ssvi.global_steps.mean_field import MeanField
from ssvi.local_steps.lds.exact import Exact
from ssvi.models.lds import LDS
from ssvi.typing import Array

_MOST_POINTS = 10_000  # that a start is followed on
_POINTS_IN_ALL = 400_000
MOST_PASSES = 300
"""How often a start sees the time points that it is followed on."""


def settled_dynamics(
    model: LDS, data: Any, seed: int, lam: dict[str, Array], backend: Backend, most: int = MOST_PASSES
) -> dict[str, Array]:
    """Return lambda of linear dynamics after passes of coordinate ascent from a start, the fewer the longer they take.

    Where there is as much noise as signal these need hundreds of passes, and steps that draw and grow smaller would not
    get there.
    """
    some = some_of(data, seed, _MOST_POINTS)
    passes = int(np.clip(_POINTS_IN_ALL / max(int(some.costs().sum()), 1), 1, min(most, MOST_PASSES)))
    problem = whole_steps(model, Exact(), MeanField(), len(data), backend)
    state = followed(problem, State(seed, 0, 0, lam), some, passes)[1]
    return {name: np.array(own) for name, own in state.parameters.items()}
