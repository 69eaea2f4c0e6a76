"""What a further pass of a fit of topics would gain, and fits that end by it."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.batches.documents import Documents
from ssvi.batches.sources import Source
from ssvi.engine import Info, State
from ssvi.engine.influence import influence_of_groups
from ssvi.estimators.plan import Plan
from ssvi.evaluation.left_out import LeftOut
from ssvi.evaluation.trend import expected_gain, gains_little
from ssvi.numerics.random import derive_key
from ssvi.typing import Array

_ENTRIES, _TOPICS = 300_000, 50  # distinct words of documents, scored for so many topics; for four times as many, half
_FEWEST = 100  # documents


def go_back(estimator: Any, step: int, plan: Plan) -> None:
    """Let a fit have the scores and the gain that it had after a step."""
    scores, count = estimator.left_out_scores_, step // plan.look
    if count < len(scores):
        estimator.left_out_scores_ = scores[:count]
        estimator.gain_ = expected_gain(scores[:count], every(plan), formed(estimator, plan))
        estimator.converged_ = False


def every(plan: Plan) -> int:
    """Return how many passes are between two scores."""
    return plan.look // plan.steps_per_pass


def formed(estimator: Any, plan: Plan) -> int:
    """Return the first score that tells of what is to come: when copies are first mended, scores fall."""
    first = estimator._rearranges(plan)[0]
    return math.ceil(first / every(plan)) if first <= plan.passes else 1


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
        self._estimator, self._plan = estimator, plan
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
        when = every(self._plan), formed(estimator, self._plan)
        estimator.gain_ = expected_gain(scores, *when)
        # What has just been mended is to be fitted before a fit may end.
        may_end = info.step >= estimator._first_end(self._plan) and not info.merged
        estimator.converged_ = may_end and gains_little(scores, estimator.gain_tol, *when)
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
