"""What all estimators share: the parameters of the loop, and the way from data to the engine and back."""

from __future__ import annotations

import os
import sys
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import takewhile
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator

from ssvi import engine
from ssvi.backends.threads import Threads
from ssvi.engine import Callback, Info, Problem, State
from ssvi.estimators.common import is_integer, make_global_step, make_seed, require
from ssvi.files.checkpoints import Checkpoints
from ssvi.files.models import save
from ssvi.global_steps.base import GlobalStep
from ssvi.global_steps.ssvi import Ssvi
from ssvi.local_steps.base import Batch, LocalStep
from ssvi.models.base import Model
from ssvi.progress import Progress
from ssvi.schedules import ConstantSchedule, PowerSchedule, Schedule, whole_step_schedule
from ssvi.typing import Array

_SMALLEST_BATCH = 128
_STREAMED_BATCH = 1_000  # of `partial_fit`
_WHOLE_BATCH = 2_000  # "auto" takes no more rows than these at once


class StochasticEstimator(BaseEstimator):
    """An estimator whose fit is the engine's loop. Subclasses define their parameters, data and model."""

    global_step: str | GlobalStep
    learning_method: str
    learning_decay: float | None
    learning_offset: float | None
    learning_scale: float | None
    population_ramp: bool
    max_iter: int | None
    tol: float | None = None
    batch_size: int | None
    total_samples: float | None
    n_jobs: int | None
    verbose: int | str
    random_state: Any
    callbacks: Sequence[Callback] | None

    history_: list[Info]
    random_state_: int
    n_iter_: int
    bound_: float
    converged_: bool
    _state: State
    _n_distinct: int
    """How many different documents `fit` had, and `partial_fit` since."""

    name: ClassVar[str]
    """What commands call the model."""
    nouns: ClassVar[tuple[str, str, str]] = ("Components", "component", "feature")
    """How reports speak of the components, of one of them, and of a column of the data."""
    saved_attributes: ClassVar[tuple[str, ...]] = (
        "n_features_in_",
        "feature_names_in_",
        "vocabulary_",
        "scores_",
        "random_state_",
        "history_",
        "n_iter_",
        "bound_",
        "converged_",
        "_state",
        "_n_distinct",
    )
    """What a fit leaves behind, and a model file holds. Subclasses add their own."""
    _online_schedule: ClassVar[PowerSchedule] = PowerSchedule()
    """The steps by minibatches, for those of the learning parameters that are None."""
    _largest_batch: ClassVar[int] = 1_000
    """The most rows that a minibatch of `fit` has by default."""
    _default_passes: ClassVar[tuple[int, int]] = (10, 10)
    """What `max_iter=None` means by minibatches, and where every step sees all data."""

    @abstractmethod
    def _model(self) -> Model:
        """Return the model of a fit under way."""

    @abstractmethod
    def summarize_components(self) -> tuple[Array, Array, Array]:
        """Return each component's share of the data, its weights of the columns, and their standard deviations under q.

        The weights are probabilities of words or of ones, or shares of a spectrum.
        """

    @abstractmethod
    def component_weights(self, X: Any) -> Array:
        """Return how much of each component each row has, rows x K."""

    @property
    def n_batch_iter_(self) -> int:
        """Steps taken so far."""
        return self._state.step

    def save(self, path: str | os.PathLike[str], vocabulary: Sequence[str] | None = None) -> None:
        """Write the fitted estimator to a file that `ssvi.load` reads: arrays and JSON, nothing that can run.

        `vocabulary` are names of the columns that the fit has not seen. Callbacks are not saved.
        """
        save(self, path, vocabulary)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_state")

    def _check_loop_parameters(self) -> None:
        for name in ("max_iter", "batch_size"):
            if getattr(self, name) is not None:
                require(name, getattr(self, name), lambda v: is_integer(v) and v >= 1, "an integer of 1 or more")
        for name in ("learning_decay", "learning_offset"):
            if getattr(self, name) is not None:
                require(name, getattr(self, name), lambda v: 0 <= v < np.inf, "a number of 0 or more")
        if self.learning_scale is not None:
            require("learning_scale", self.learning_scale, lambda v: 0 < v < np.inf, "a positive number")
        if self.total_samples is not None:
            require("total_samples", self.total_samples, lambda v: 1 <= v < np.inf, "1 or more")
        if self.learning_method not in ("auto", "online", "batch"):
            raise ValueError(f"learning_method must be 'auto', 'online' or 'batch', not {self.learning_method!r}.")
        if self.verbose != "auto" and not is_integer(self.verbose):
            raise ValueError(f"verbose must be 'auto' or an integer, not {self.verbose!r}.")

    def _start(self, data: Any) -> None:
        """Set the state before the first step."""
        self.random_state_ = make_seed(self.random_state)
        self.history_, self._n_distinct, self.converged_ = [], 0, False
        self._state = engine.init(self._model(), self.random_state_, data)

    def _run(self, data: Any, local_step: LocalStep, label: str, monitors: Iterable[Callback] = ()) -> bool:
        """Fit from the start, `max_iter` passes over the data; tell whether all were made, or a callback said stop."""
        self._start(data)
        self._n_distinct = len(data)
        batch_size = self._batch_size_for(len(data))
        whole, per_pass = self._is_batch(len(data)), -(-len(data) // batch_size)
        passes = self._passes_for(len(data))
        global_step = self._global_step(passes if whole else None)
        ascent = whole and not global_step.stochastic
        schedule = ConstantSchedule() if ascent else self._schedule(batch_size, passes if whole else None)
        with (
            self._checkpoints(data) as keepers,
            Threads(self.n_jobs) as backend,
            Progress(passes * per_pass, label) as progress,
        ):
            settling = [self._settling()] if ascent and self.tol is not None else []
            self._state = engine.run(
                self._problem(local_step, global_step, schedule, len(data), backend),
                self._state,
                data,
                sweeps=passes,
                batch_size=batch_size,
                callbacks=[*self._callbacks(progress), *monitors, *settling, *keepers],
            )
        self.n_iter_ = -(-self._state.step // per_pass)
        self.bound_ = self._bound(data)
        return self._state.step == passes * per_pass

    @contextmanager
    def _checkpoints(self, data: Any) -> Iterator[list[Checkpoints]]:
        """Yield those callbacks that keep checkpoints, after they have set the fit to where it had stopped before.

        They are to be called last, when all others have done their part of a step.
        """
        keepers = [callback for callback in self.callbacks or [] if isinstance(callback, Checkpoints)]
        for keeper in keepers:
            keeper.begin(self, data)
        try:
            yield keepers
        finally:
            for keeper in keepers:
                keeper.end()

    def _settling(self) -> Callback:
        """Return a callback that ends coordinate ascent once every block changes by less than `tol` of its mean."""
        last, limit = self._state.parameters, self.tol or 0.0

        def settled(state: State, info: Info) -> bool:
            nonlocal last
            pairs = [(last[name], lam) for name, lam in state.parameters.items()]
            last = state.parameters
            self.converged_ = all(np.abs(new - old).mean() < limit * np.abs(new).mean() for old, new in pairs)
            return self.converged_

        return settled

    def _run_further(self, data: Any, local_step: LocalStep, label: str) -> None:
        """Go on from where the last step left off: one step for each `batch_size` rows, in the order given."""
        self.history_ = list(self.history_)
        size = self._streamed_size()
        starts = range(0, len(data), size)
        batches: Iterable[Batch] = (data.slice(start, min(start + size, len(data))) for start in starts)
        # After a fit `documents_seen` counts each document once a pass: it no longer tells how many there are.
        streaming = self._n_distinct == self._state.documents_seen
        self._n_distinct += len(data)
        population = self.total_samples or (None if streaming else self._n_distinct)
        with Threads(self.n_jobs) as backend, Progress(self._state.step + len(starts), label) as progress:
            self._state = engine.follow(
                self._problem(local_step, self._global_step(), self._schedule(size), population, backend),
                self._state,
                batches,
                self._callbacks(progress),
            )
        passes = -(-self._state.documents_seen // int(self.total_samples or self._n_distinct))
        self.n_iter_ = max(getattr(self, "n_iter_", 0), passes)
        self.bound_ = self._bound(data)

    def _batch_size_for(self, n: int) -> int:
        """Return the number of documents in a minibatch of `fit`."""
        if self._is_batch(n):
            return n
        return self.batch_size or min(max(n // 20, _SMALLEST_BATCH), self._largest_batch)

    def _streamed_size(self) -> int:
        """Return the number of rows in a minibatch of `partial_fit`."""
        return self.batch_size or _STREAMED_BATCH

    def total_steps(self, n: int) -> int:
        """Return how many steps `fit` makes on n rows, if nothing stops it."""
        return self._passes_for(n) * -(-n // self._batch_size_for(n))

    def _passes_for(self, n: int) -> int:
        """Return how often `fit` goes over n rows."""
        return self.max_iter or self._default_passes[self._is_batch(n)]

    def _is_batch(self, n: int) -> bool:
        """Tell whether every step of `fit` sees all of n rows."""
        if self.learning_method == "auto":
            return n <= (self.batch_size or _WHOLE_BATCH)
        return self.learning_method == "batch"

    def _decay_for(self, rows: int) -> float | None:
        """Return how fast steps shrink in a fit whose minibatches have so many rows; None for the usual."""
        return self.learning_decay

    def _schedule(self, rows: int, whole_steps: int | None = None) -> Schedule:
        """Return the step sizes of a fit by minibatches of so many rows, or of so many steps that see all data."""
        given = {"decay": self._decay_for(rows), "offset": self.learning_offset}
        shape = {name: value for name, value in given.items() if value is not None}
        if whole_steps is None:
            usual = replace(self._online_schedule, **shape)
        else:
            usual = whole_step_schedule(whole_steps, **shape)
        return usual if self.learning_scale is None else replace(usual, scale=self.learning_scale)

    def _global_step(self, whole_steps: int | None = None) -> GlobalStep:
        """Return the global step of a fit by minibatches, or of so many steps that see all data.

        There, full steps would scatter lambda by the correction's noise: SSVI by name is then with its control variate
        and brings the correction in over the whole fit.
        """
        if whole_steps is not None and isinstance(self.global_step, str) and self.global_step == Ssvi.name:
            return Ssvi(correction_sweeps=whole_steps, control_variate=True)
        return make_global_step(self.global_step)

    def _problem(
        self,
        local_step: LocalStep,
        global_step: GlobalStep,
        schedule: Schedule,
        population: float | None,
        backend: Threads,
    ) -> Problem:
        return Problem(
            model=self._model(),
            local_step=local_step,
            global_step=global_step,
            schedule=schedule,
            population=None if population is None else int(population),
            ramp=self.population_ramp,
            backend=backend,
        )

    def _callbacks(self, progress: Progress) -> list[Callback]:
        """Return the engine's callbacks: the history, the progress line if it is to be shown, the user's own."""
        show = sys.stderr.isatty() if self.verbose == "auto" else bool(self.verbose)
        own: list[Callback] = [lambda state, info: self.history_.append(info)]
        others = [callback for callback in self.callbacks or [] if not isinstance(callback, Checkpoints)]
        return own + ([progress] if show else []) + others

    def _bound(self, data: Any) -> float:
        """Estimate the ELBO per observed unit, from the local bounds of the last pass (or of what there was of it)."""
        seen, population = self._state.documents_seen, self.history_[-1].population
        steps = list(takewhile(lambda info: info.documents_seen > seen - len(data), reversed(self.history_)))
        bounds = [info.bound for info in steps]
        local = sum(bound for bound in bounds if bound is not None)
        if None in bounds:
            return float("nan")
        documents = min(seen, len(data)) if len(steps) == len(self.history_) else len(data)
        whole = local * population / documents + engine.prior_bound(self._model(), self._state.parameters)
        return whole / (population * self._units(data))

    def _units(self, data: Any) -> float:
        """Return by how many observed units a row counts, on average, in figures per unit."""
        return 1.0
