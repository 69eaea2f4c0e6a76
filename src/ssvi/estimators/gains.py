"""What a further pass of a fit of topics would gain, and fits that end by it."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.batches.documents import Documents
from ssvi.batches.sources import Source
from ssvi.engine import Info, State
from ssvi.engine.influence import influence_of_groups
from ssvi.estimators.plan import Plan
from ssvi.evaluation.left_out import LeftOut
from ssvi.evaluation.trend import flattening
from ssvi.numerics.random import derive_key
from ssvi.typing import Array

_ENTRIES, _TOPICS = 300_000, 50  # words of documents that are scored for so many topics; for four times as many, half
_FEWEST = 100  # documents
_LATER = 2.5  # the gain is seen in the passes from p / 2.5 to p
_FIRST = 3  # score that is like those after it
_IN_A_ROW, _NEARLY = 2, 1.4  # looks that show little gain before a fit ends, and times the tolerance that is little


def expected_gain(scores: Sequence[float], every: int = 1) -> float:
    """Return what one more pass would add to the scores of a fit; NaN if they are too few to tell.

    The later ones are taken for a - b / t after t passes, which fits flatten like; then it is about b / t^2. `every` is
    how many passes are between two scores.

    >>> round(expected_gain([-7.0 - 0.5 / t for t in range(1, 11)]), 6)
    0.005
    """
    last, first = len(scores), math.ceil(len(scores) / _LATER)
    if first < _FIRST:
        return float("nan")
    return flattening(scores[first - 1 :], first)[0] / (every * last**2)


def gains_little(scores: Sequence[float], tolerance: float, every: int = 1) -> bool:
    """Tell whether a fit with these scores has come to where a further pass gains less than the tolerance, or nearly.

    The last two looks must say so, as one may by chance; what that takes is made up for by not waiting quite so long.
    """
    counts = range(len(scores) - _IN_A_ROW + 1, len(scores) + 1)
    return all(expected_gain(scores[:count], every) < _NEARLY * tolerance for count in counts)


def go_back(estimator: Any, step: int, plan: Plan) -> None:
    """Let a fit have the scores and the gain that it had after a step."""
    scores, count = estimator.left_out_scores_, step // plan.look
    if count < len(scores):
        estimator.left_out_scores_ = scores[:count]
        estimator.gain_ = expected_gain(scores[:count], plan.look // plan.steps_per_pass)
        estimator.converged_ = False


def end_by_gain(scores: Sequence[float], tolerance: float) -> int | None:
    """Return the pass at which a fit with these scores, one a pass, ends; None if it goes on."""
    return next((count for count in range(1, len(scores) + 1) if gains_little(scores[:count], tolerance)), None)


class Gains:
    """A callback of the engine that scores some training documents, left out, after each look, and may end the fit.

    All that it remembers is in the estimator (`left_out_scores_`), so that a fit that goes on from a checkpoint ends
    where one that was not interrupted does.

    Parameters
    ----------
    estimator
        The estimator of topics that is being fitted.
    data : Documents or Source
        Its training data.
    plan : Plan
        How the fit goes.

    """

    def __init__(self, estimator: Any, data: Documents | Source, plan: Plan) -> None:
        self._estimator, self._plan, self._every = estimator, plan, plan.look // plan.steps_per_pass
        self._rows, documents = _choose(data, estimator.n_components, estimator.random_state_)
        self._documents = LeftOut(documents)
        if not self._documents.n_words > 0:
            raise ValueError(
                'with max_iter="auto" a fit of topics ends by how well one half of a document is predicted from the '
                "other, and the documents here are too short for halves: give max_iter as a number."
            )

    def __call__(self, state: State, info: Info) -> bool:
        """Score if it is time to; tell whether the fit is to stop."""
        if info.step % self._plan.look:
            return False
        estimator = self._estimator
        scores = estimator.left_out_scores_ = [*getattr(estimator, "left_out_scores_", []), self._score(state)]
        estimator.gain_ = expected_gain(scores, self._every)
        is_formed = info.step >= estimator._first_end(self._plan)
        estimator.converged_ = is_formed and gains_little(scores, estimator.gain_tol, self._every)
        return bool(estimator.converged_)

    def _score(self, state: State) -> float:
        there = copy.copy(self._estimator)
        there._state = state
        model, topics, influence = there._lda(), state.estimate["topics"], self._influence(state)
        with there._open_backend() as backend:
            return self._documents.score(topics, model.eta, model.alpha, influence, workers=backend.workers).mean

    def _influence(self, state: State) -> Array | None:
        """Return how often each of the documents counts in the estimate; where that is not known, once."""
        if self._rows is None:
            return None
        plan, history = self._plan, self._estimator.history_
        whole = influence_of_groups(history, plan.global_step, plan.rows, plan.batch_size, state.seed)
        influence: Array = whole[self._rows]
        return influence


def _choose(data: Documents | Source, n_topics: int, seed: int) -> tuple[npt.NDArray[np.int64] | None, Documents]:
    """Return the documents that are scored, and which rows they are, if data is in memory."""
    entries, key = _ENTRIES * (_TOPICS / n_topics) ** 0.5, derive_key(seed, "left out")
    if isinstance(data, Source):
        count = int(entries * len(data) / max(data.sizes.entries, 1))
        return None, data.sample(min(max(count, _FEWEST), len(data)), key)
    order = np.random.default_rng(key).permutation(len(data))
    count = int(np.searchsorted(np.cumsum(data.costs()[order]), entries)) + 1
    rows = order[: max(count, _FEWEST)]
    return rows, data.take(rows)
