"""Where a fit of a factorial hidden Markov model begins: the best of several starts, each followed for a few passes."""

from __future__ import annotations

import numpy as np

from ssvi import engine
from ssvi.backends.base import Backend
from ssvi.batches import Sequences
from ssvi.engine import State
from ssvi.estimators.sequence_starts import some_of, whole_steps
from ssvi.evaluation.fhmm import held_out_score
from ssvi.global_steps.map import Map
from ssvi.local_steps.fhmm.exact import Exact
from ssvi.local_steps.fhmm.gibbs import Gibbs
from ssvi.models.fhmm import FHMM
from ssvi.numerics.random import derive_key
from ssvi.typing import Array

_MOST_POINTS = 4_000  # that starts are tried on
_PASSES = 12
_FEW = 64  # combinations up to which starts are followed by the exact local step


def best_start(model: FHMM, data: Sequences, seed: int, starts: int, backend: Backend) -> dict[str, Array]:
    """Return lambda of the start that some passes of MAP take to the most probable data.

    The sum of chains can be divided among them in many ways, most of them poor optima. Half of the starts are those of
    `FHMM.start`, half are random.
    """
    some = some_of(data, seed, _MOST_POINTS)
    local_step = Exact() if model.n_states**model.n_chains <= _FEW else Gibbs(sweeps=4, kept=2)
    problem = whole_steps(model, local_step, Map(), len(data), backend)
    score = held_out_score(model, some, backend=backend)
    best, found = -np.inf, None
    for number in range(starts):
        own = np.random.default_rng(derive_key(seed, "start", number))
        first = model.start(data, own) if number % 2 == 0 else model.init(own)
        state = engine.follow(problem, State(seed, 0, 0, first), [some] * _PASSES, [])
        reached = score(state.parameters)
        if reached > best or found is None:
            best, found = reached, {name: np.array(lam) for name, lam in state.parameters.items()}
    assert found is not None
    return found
