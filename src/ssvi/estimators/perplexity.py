"""Perplexity of the training documents as a fit goes on, as scikit-learn's LDA has it."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ssvi.batches.documents import Documents
from ssvi.engine import Callback, Info, State
from ssvi.estimators.plan import Plan


def perplexity_monitor(estimator: Any, documents: Documents, plan: Plan) -> Callback:
    """Return a callback that puts the perplexity down now and then, and stops a fit once it changes little."""
    every = estimator.evaluate_every * plan.steps_per_pass
    if not hasattr(estimator, "perplexity_history_"):  # a checkpoint may have brought one
        estimator.perplexity_history_ = []

    def monitor(state: State, info: Info) -> bool:
        if info.step % every:
            return False
        there = copy.copy(estimator)
        there._state = state
        history = estimator.perplexity_history_
        history.append(float(np.exp(-there._score(documents))))
        return len(history) > 1 and bool(abs(history[-2] - history[-1]) < estimator.perp_tol)

    return monitor
