"""What all estimators share: the parameters of the loop, and the way from data to the engine and back."""

from __future__ import annotations

import sys
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ssvi import engine
from ssvi.backends.threads import Threads
from ssvi.engine import Callback, Info, Problem, State
from ssvi.estimators.common import is_whole, make_global_step, make_seed, require
from ssvi.global_steps.base import GlobalStep
from ssvi.local_steps.base import Batch, LocalStep
from ssvi.models.base import Model
from ssvi.progress import Progress
from ssvi.schedules import ConstantSchedule, PowerSchedule, Schedule


class StochasticEstimator(BaseEstimator):
    """An estimator whose fit is the engine's loop. Subclasses define their parameters, data and model."""

    global_step: str | GlobalStep
    learning_method: str
    learning_decay: float
    learning_offset: float
    learning_scale: float
    population_ramp: bool
    max_iter: int
    batch_size: int
    total_samples: float | None
    n_jobs: int | None
    verbose: int | str
    random_state: Any
    callbacks: Sequence[Callback] | None

    history_: list[Info]
    random_state_: int
    n_iter_: int
    bound_: float
    _state: State

    @abstractmethod
    def _model(self) -> Model:
        """Return the model of a fit under way."""

    @property
    def n_batch_iter_(self) -> int:
        """Steps taken so far."""
        return self._state.step

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state")

    def _check_loop_parameters(self) -> None:
        for name in ("max_iter", "batch_size"):
            require(name, getattr(self, name), lambda v: is_whole(v) and v >= 1, "an integer of 1 or more")
        for name in ("learning_decay", "learning_offset"):
            require(name, getattr(self, name), lambda v: 0 <= v < np.inf, "a number of 0 or more")
        require("learning_scale", self.learning_scale, lambda v: 0 < v < np.inf, "a positive number")
        if self.total_samples is not None:
            require("total_samples", self.total_samples, lambda v: 1 <= v < np.inf, "1 or more")
        if self.learning_method not in ("online", "batch"):
            raise ValueError(f"learning_method must be 'online' or 'batch', not {self.learning_method!r}.")
        if self.verbose != "auto" and not is_whole(self.verbose):
            raise ValueError(f"verbose must be 'auto' or an integer, not {self.verbose!r}.")

    def _start(self) -> None:
        """Set the state before the first step."""
        self.random_state_ = make_seed(self.random_state)
        self.history_ = []
        self._state = engine.init(self._model(), self.random_state_)

    def _run(self, data: Any, local_step: LocalStep, label: str, monitors: Iterable[Callback] = ()) -> None:
        """Fit from the start: `max_iter` passes over the data."""
        self._start()
        batch_size = self._steps_of(len(data))
        per_pass = -(-len(data) // batch_size)
        with Threads(self.n_jobs) as backend:
            problem = self._problem(local_step, len(data), backend)
            callbacks, progress = self._callbacks(self.max_iter * per_pass, label)
            self._state = engine.run(
                problem,
                self._state,
                data,
                sweeps=self.max_iter,
                batch_size=batch_size,
                callbacks=[*callbacks, *monitors],
            )
        progress.close()
        self.n_iter_ = -(-self._state.step // per_pass)
        self.bound_ = self._bound(data)

    def _run_further(self, data: Any, local_step: LocalStep, label: str) -> None:
        """Go on from where the last step left off: one step for each `batch_size` rows, in the order given."""
        self.history_ = list(self.history_)
        starts = range(0, len(data), self.batch_size)
        batches: Iterable[Batch] = (data.slice(start, min(start + self.batch_size, len(data))) for start in starts)
        with Threads(self.n_jobs) as backend:
            problem = self._problem(local_step, self.total_samples, backend)
            callbacks, progress = self._callbacks(self._state.step + len(starts), label)
            self._state = engine.follow(problem, self._state, batches, callbacks)
        progress.close()
        population = self.total_samples or self._state.documents_seen
        self.n_iter_ = int(np.ceil(self._state.documents_seen / population))
        self.bound_ = self._bound(data)

    def _steps_of(self, n: int) -> int:
        """Return the number of documents in a minibatch of `fit`."""
        return n if self.learning_method == "batch" else self.batch_size

    def _problem(self, local_step: LocalStep, population: float | None, backend: Threads) -> Problem:
        global_step = make_global_step(self.global_step)
        schedule: Schedule = PowerSchedule(self.learning_decay, self.learning_offset, self.learning_scale)
        if self.learning_method == "batch" and not global_step.stochastic:
            schedule = ConstantSchedule()
        return Problem(
            model=self._model(),
            local_step=local_step,
            global_step=global_step,
            schedule=schedule,
            population=None if population is None else int(population),
            ramp=self.population_ramp,
            backend=backend,
        )

    def _callbacks(self, total_steps: int, label: str) -> tuple[list[Callback], Progress]:
        """Return the engine's callbacks: the history, the progress line, the user's own."""
        progress = Progress(total_steps, label)
        show = sys.stderr.isatty() if self.verbose == "auto" else bool(self.verbose)
        own: list[Callback] = [lambda state, info: self.history_.append(info)]
        return own + ([progress] if show else []) + list(self.callbacks or []), progress

    def _bound(self, data: Any) -> float:
        """Return the local bounds of the last pass plus the global blocks' own term, per observed unit."""
        first = self._state.documents_seen - len(data)
        bounds = [info.bound for info in self.history_ if info.documents_seen > first]
        local = sum(bound for bound in bounds if bound is not None)
        if None in bounds:
            return float("nan")
        return (local + engine.prior_bound(self._model(), self._state)) / float(data.lengths().sum())
