"""How far q still moves from pass to pass, and what is said of a fit that has not converged."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ssvi.engine import Callback, Info, State
from ssvi.estimators.plan import Plan
from ssvi.models.base import Model
from ssvi.typing import Array

_POWER = 7.0  # of the average over looks, for fits that keep none of their own: look i counts as i^7
_FEWEST_LOOKS = 3  # before anything is measured: a fit of two passes was not meant to converge
_SHOWN = 5  # pairs of copies that a warning names
_HARMLESS = 4.0  # times the tolerance: what a fit of a fixed number of passes may leave without a word


def distance(model: Model, before: Mapping[str, Array], after: Mapping[str, Array], merged: int = 0) -> float:
    """Return the mean of KL(q || q') and KL(q' || q) over all blocks, in nats.

    Where components were `merged` in between, those that have taken in another or were made anew have not drifted: so
    many pairs, which have moved furthest, are left out, but half of all at most, and the others stand for them.
    """
    total = 0.0
    for name, block in model.blocks().items():
        each = np.sort(block.family.distance(after[name], before[name]).ravel())
        kept = max(each.size - 2 * merged, each.size // 2, 1)
        total += float(each[:kept].sum()) * each.size / kept
    return total


class Convergence:
    """A callback of the engine that measures how far q has moved since the last look, and may end the fit.

    q is that of the averaged path: the fit's own average, or one over the looks. The noise of single steps says little
    about how far a fit has come, and averages have lost most of it; what they show is drift.

    All that it remembers is in the estimator (`convergence_`, `converged_`, and `_last_look` while a fit is under way),
    so that a fit that goes on from a checkpoint ends where one that was not interrupted does.

    Parameters
    ----------
    estimator
        The estimator that is being fitted.
    plan : Plan
        How the fit goes.
    observed : float
        The number of observed units in its data.

    """

    def __init__(self, estimator: Any, plan: Plan, observed: float) -> None:
        self._estimator, self._plan, self._observed = estimator, plan, observed
        self._decides = not (plan.ends_itself and estimator._ends_by_gain)
        # Looks before this one are at single draws.
        self._first = (plan.first_average - 1) // plan.look
        self._last = plan.total // plan.look - self._first

    def __call__(self, state: State, info: Info) -> bool:
        """Look if it is time to; tell whether the fit is to stop."""
        number = info.step // self._plan.look - self._first
        if info.step % self._plan.look or number < 1:
            return False
        keeps_average = bool(len(state.averages))
        if keeps_average and not self._plan.ends_itself and number < self._last - 1:
            return False  # only the last two looks are of use
        here, before = self._look(state, number), vars(self._estimator).get("_last_look")
        if number >= _FEWEST_LOOKS and (self._plan.ends_itself or number == self._last):
            assert before is not None, "the look before this one is kept"
            self._measure(before.parameters, here, info.merged)
        self._estimator._last_look = replace(state, parameters=here, totals={}, averages={}, rates={})
        may_end = self._plan.ends_itself and info.step >= self._estimator._first_end(self._plan)
        return may_end and self._decides and bool(self._estimator.converged_)

    def _look(self, state: State, number: int) -> dict[str, Array]:
        """Return lambda of the averaged path."""
        before = vars(self._estimator).get("_last_look")
        if len(state.averages) or self._plan.ascent or before is None:
            return dict(state.estimate)
        weight, means = (_POWER + 1.0) / (number + _POWER), before.parameters
        return {name: means[name] + weight * (lam - means[name]) for name, lam in state.parameters.items()}

    def _measure(self, before: Mapping[str, Array], here: Mapping[str, Array], merged: int) -> None:
        estimator = self._estimator
        estimator.convergence_ = distance(estimator._model(), before, here, merged) / self._observed
        if self._decides and not (self._plan.ascent and estimator._settled is not None):  # which decides by itself
            estimator.converged_ = estimator.convergence_ < estimator.convergence_tol


def settling_of(estimator: Any) -> Callback:
    """Return a callback that ends coordinate ascent once every block changes by less than `tol` of its mean."""
    last, limit = estimator._state.parameters, estimator._settled or 0.0

    def settled(state: State, info: Info) -> bool:
        nonlocal last
        pairs = [(last[name], lam) for name, lam in state.parameters.items()]
        last = state.parameters
        is_settled = all(np.abs(new - old).mean() < limit * np.abs(new).mean() for old, new in pairs)
        estimator.converged_ = estimator.converged_ or is_settled
        return is_settled

    return settled


def is_far(estimator: Any, tolerances: float = _HARMLESS) -> bool:
    """Tell whether a fit has ended with q still moving by more than so many times the tolerance.

    One that was to end by its gain is far if a further pass would still gain more than that.
    """
    if not np.isnan(estimator.gain_):
        return bool(not estimator.converged_ and estimator.gain_ > estimator.gain_tol)
    # It is NaN where there were too few looks.
    return bool(not estimator.converged_ and estimator.convergence_ > tolerances * estimator.convergence_tol)


def warn_unless_converged(estimator: Any, plan: Plan) -> None:
    """Warn of a fit that has taken all its steps and is far from settled."""
    if plan.ends_itself and estimator._ends_by_gain:
        _warn_of_gain(estimator, plan)
        return
    if not is_far(estimator, 1.0 if plan.ends_itself else _HARMLESS):
        return
    enough = _rounded_up(plan.passes * (estimator.convergence_ / estimator.convergence_tol) ** 0.5)
    by_itself = "" if plan.ends_itself else ", or to auto, which stops by itself"
    warnings.warn(
        f"this {type(estimator).__name__} has not converged: in the last of {plan.passes} passes q moved by "
        f"{estimator.convergence_:.2g} nats for each observed unit, and below {estimator.convergence_tol:g} a fit has "
        f"converged. More passes would help: set `max_iter` to about {enough}{by_itself}.",
        ConvergenceWarning,
        stacklevel=5,  # of whoever called `fit`, whose wrapper is between
    )


def _warn_of_gain(estimator: Any, plan: Plan) -> None:
    """Warn of a fit that was to end where a pass gains little, and has not come there."""
    if np.isnan(estimator.gain_) or not is_far(estimator):  # NaN of fewer passes than tell
        return
    enough = _rounded_up(plan.passes * (estimator.gain_ / estimator.gain_tol) ** 0.5)
    warnings.warn(
        f"this {type(estimator).__name__} has not converged: the last of {plan.passes} passes gained about "
        f"{estimator.gain_:.2g} nats a word, and one has converged where that is about {estimator.gain_tol:g}. More "
        f"passes would help: set `max_iter` to about {enough}.",
        ConvergenceWarning,
        stacklevel=6,  # of whoever called `fit`, whose wrapper is between
    )


def warn_of_copies(copies: Sequence[tuple[int, int]], n_topics: int) -> None:
    """Warn of topics that are still copies of others at the end of a fit; `copies` are pairs of their numbers."""
    if not copies:
        return
    shown = ", ".join(f"{copy} of {topic}" for topic, copy in copies[:_SHOWN])
    more = f" and {len(copies) - _SHOWN} more" if len(copies) > _SHOWN else ""
    warnings.warn(
        f"{len(copies)} of {n_topics} topics are near-copies of others (topic {shown}{more}, counted from 0): ask for "
        "fewer topics, or give the fit more passes (`max_iter`).",
        ConvergenceWarning,
        stacklevel=4,  # of whoever called `fit`, whose wrapper is between
    )


def _rounded_up(value: float) -> int:
    """Return a number of passes in two digits, none of which says more than is known.

    >>> _rounded_up(41.3), _rounded_up(1234.0)
    (42, 1300)
    """
    unit = int(10 ** max(0, len(str(int(value))) - 2))
    return unit * -int(-value // unit)
