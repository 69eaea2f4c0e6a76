"""Where a fit of a hidden Markov model begins: the best of several starts, each followed for a few passes."""

from __future__ import annotations

from typing import Any

import numpy as np

from ssvi.backends.base import Backend
from ssvi.engine import State
from ssvi.estimators.sequence_starts import followed, some_of, whole_steps
from ssvi.global_steps.mean_field import MeanField
from ssvi.local_steps.hmm.exact import Exact
from ssvi.models.hmm import HMM
from ssvi.numerics.random import derive_key
from ssvi.typing import Array

_MOST_POINTS = 10_000  # that starts are tried on
_FIRST_PASSES, _MORE_PASSES = 10, 20
_FEW = 2  # starts that are followed further


def best_start(model: HMM, data: Any, seed: int, starts: int, backend: Backend) -> dict[str, Array]:
    """Return lambda of the start that some passes of coordinate ascent take to the largest bound.

    A hidden Markov model has many poor optima. k-means, which knows nothing of time, finds one start; others differ by
    chance, and in how many states they use where that is open (a fit seldom merges what is two). All are followed for a
    few passes, and the better ones for some more.
    """
    some = some_of(data, seed, _MOST_POINTS)
    problem = whole_steps(model, Exact(), MeanField(), len(data), backend)
    sizes = _sizes(model, starts)
    found = []
    for number in range(starts):
        own = np.random.default_rng(derive_key(seed, "start", number))
        lam = model.start(data, own, one_try=number > 0, states=sizes[number])
        begin = State(seed, 0, 0, lam, hyperparameters=model.hyperparameters())
        found.append(followed(problem, begin, some, _FIRST_PASSES))
    found = sorted(found, key=lambda pair: -pair[0])[:_FEW]
    further = [followed(problem, state, some, _MORE_PASSES) for _, state in found]
    best = max(further, key=lambda pair: pair[0])[1]
    return {name: np.array(lam) for name, lam in best.parameters.items()}


def _sizes(model: HMM, starts: int) -> list[int]:
    """Return how many states each start uses: all, or from all down to two where the data are to tell how many."""
    if "base" not in model.learned:
        return [model.n_components] * starts
    return [round(size) for size in np.geomspace(model.n_components, min(2, model.n_components), starts)]
