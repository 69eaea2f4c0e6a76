"""Rows that a fit is scored by while it goes on, and when it has gone on long enough."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ssvi.batches.sources import Source
from ssvi.engine import Info, State
from ssvi.estimators.plan import Plan
from ssvi.numerics.random import derive_key


def set_aside(data: Any, share: float, seed: int) -> tuple[Any, Any]:
    """Return the data without a share of its rows, chosen by the seed, and these rows."""
    count = max(1, round(share * len(data)))
    if count >= len(data):
        raise ValueError(f"early stopping sets rows aside, and there are only {len(data)}: give X_val, or more rows.")
    if isinstance(data, Source):
        return data.set_aside(count, seed)
    order = np.random.default_rng(derive_key(seed, "validation")).permutation(len(data))
    return data.take(np.sort(order[count:])), data.take(np.sort(order[:count]))


class Validation:
    """A callback of the engine that scores held-out rows, and ends a fit that no longer gets better.

    All that it remembers is in the estimator (`scores_`, and `_best_state` while a fit is under way), so that a fit
    that goes on from a checkpoint is scored and stopped as if it had never been interrupted.

    Parameters
    ----------
    estimator
        The estimator that is being fitted.
    rows
        Its validation data, in the form that its steps take.
    plan : Plan
        How the fit goes.

    """

    def __init__(self, estimator: Any, rows: Any, plan: Plan) -> None:
        self._estimator, self._rows, self._plan = estimator, rows, plan
        self._every = plan.look
        self._total = plan.total
        # Scores before this one are of single draws: they are kept, and decide nothing.
        self._first = (plan.first_average - 1) // self._every

    def __call__(self, state: State, info: Info) -> bool:
        """Score the rows if it is time to; tell whether the fit is to stop."""
        if info.step % self._every and info.step != self._total:
            return False
        self._score(state)
        return bool(self._estimator.early_stopping) and self._is_over()

    def end(self) -> None:
        """Score where a fit has ended, if that was between two scores, and let the best state be its result."""
        estimator = self._estimator
        if estimator._state.step != min(self._every * len(estimator.scores_), self._total):
            self._score(estimator._state)
        best = vars(estimator).pop("_best_state", None)
        if best is not None:
            estimator._state = best
            estimator.history_ = [info for info in estimator.history_ if info.step <= best.step]
            estimator._go_back(best.step, self._plan)

    def note(self, state: State) -> float:
        """Score the rows at a state, and put the score down; return it."""
        score = self._score_at(state)
        spent = sum(step.seconds for step in self._estimator.history_)  # a resumed fit goes on counting
        self._estimator.scores_.append((spent, score))
        return score

    def _is_over(self) -> bool:
        """Tell whether the last scores are no better than one before them, by more than a margin."""
        scores = [score for _, score in self._estimator.scores_[self._first_that_counts() :]]
        patience = self._estimator.n_iter_no_change
        if len(scores) <= patience:
            return False
        before = max(scores[:-patience])
        return bool(max(scores[-patience:]) <= before + self._estimator.validation_tol * abs(before))

    def _first_that_counts(self) -> int:
        """Return the number of the first score that may be the best: states before copies were merged still have them.

        What takes their places costs a little at first, so that a score alone would go back to the copies.
        """
        merged = max((info.step for info in self._estimator.history_ if info.merged), default=0)
        return max(self._first, -(-merged // self._every) - 1)

    def _score(self, state: State) -> None:
        """Score the rows at a state on the way, and keep it if it is the best."""
        estimator = self._estimator
        first = self._first_that_counts()
        best = max((score for _, score in estimator.scores_[first:]), default=-np.inf)
        score = self.note(state)
        if estimator.early_stopping and len(estimator.scores_) > first and score > best:
            # The snapshot of a fit under way becomes arrays of its own here.
            estimator._best_state = state.complete()

    def _score_at(self, state: State) -> float:
        there = copy.copy(self._estimator)
        there._state = state
        score = there._score(self._rows)
        if not np.isfinite(score):
            raise ValueError(
                f"the validation rows have the score {score} after step {state.step}: there must be something in them "
                "that is known and can be predicted."
            )
        return float(score)
