"""What all estimators share: the way from data to the engine and back."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from itertools import pairwise, takewhile
from typing import Any, ClassVar, TypeVar, cast

from ssvi import engine
from ssvi.adaptive import AdaptiveSchedule
from ssvi.backends.base import Backend
from ssvi.batches.minibatches import equal_cuts
from ssvi.batches.sources import Source
from ssvi.engine import NEVER, Callback, Info, Problem, State
from ssvi.engine.read_ahead import read_ahead
from ssvi.estimators.choices import check_same, make_backend, make_seed
from ssvi.estimators.convergence import Convergence, settling_of, warn_unless_converged
from ssvi.estimators.parameters import Attribute
from ssvi.estimators.plan import LoopParameters, Plan
from ssvi.estimators.scikit_learn_callbacks import CallbackSupportMixin, Given, fit_tasks
from ssvi.estimators.uncertainty import UncertaintyMixin
from ssvi.estimators.validation import Validation, set_aside
from ssvi.files.checkpoints import Checkpoints
from ssvi.files.models import save
from ssvi.global_steps.base import GlobalStep
from ssvi.local_steps.base import Batch, LocalStep
from ssvi.models.base import Model
from ssvi.progress import Progress
from ssvi.schedules import Schedule

M = TypeVar("M", bound=Model)


class StochasticEstimator(CallbackSupportMixin, UncertaintyMixin, LoopParameters, ABC):
    """An estimator whose fit is the engine's loop. Subclasses define their parameters, data and model."""

    history_: list[Info]
    scores_: list[tuple[float, float]]
    random_state_: int
    n_iter_: int
    bound_: float
    convergence_: float = float("nan")  # files of earlier versions do not say
    converged_: bool
    gain_: float = float("nan")  # of fits that have not measured it
    _ends_by_gain: ClassVar[bool] = False
    """Whether `max_iter="auto"` goes by what a further pass would gain (`Gains`), and not by how far q moves."""
    _state: State
    _ended: bool
    """Whether a fit under way has ended before its last pass because it had gone on long enough."""
    _n_distinct: int
    """How many different documents `fit` had, and `partial_fit` since."""
    _fitted: dict[str, Any]
    """The parameters that a fit cannot change later, in the order in which the model takes them."""

    name: ClassVar[str]
    """What commands call the model."""
    shared_attributes: ClassVar[tuple[Attribute, ...]] = (
        ("history_", "list of Info", "What happened in each step: step size, bound, coordinates guarded, seconds."),
        (
            "scores_",
            "list of (seconds, score)",
            "The scores of validation rows as `fit` went on, if there were any; `partial_fit` forgets them.",
        ),
        ("n_iter_, n_batch_iter_", "int", "Passes over the data begun, and steps taken."),
        (
            "convergence_",
            "float",
            """How far q has moved in the last pass of `fit` (in the last fiftieth of a fit of more than a hundred), in
            nats for each observed unit: the symmetrised Kullback-Leibler divergence of the averaged path
            (docs/convergence.md). NaN where that was not measured: after `partial_fit`, two passes or fewer, or a fit
            that something else has ended.""",
        ),
        (
            "converged_",
            "bool",
            """Whether `convergence_` is below `convergence_tol`; or coordinate ascent has ended by its own tolerance;
            or a fit of topics with `max_iter="auto"` by `gain_tol`.""",
        ),
        ("random_state_", "int", "The seed that was used."),
        (
            "n_features_in_, feature_names_in_",
            "int, array",
            "The number of columns and, where X had names, their names.",
        ),
    )
    """What is documented of every estimator."""
    saved_attributes: ClassVar[tuple[str, ...]] = (
        "n_features_in_",
        "feature_names_in_",
        "vocabulary_",
        "text_options_",
        "reading_options_",
        "known_words_",
        "seen_documents_",
        "labels_",
        "scores_",
        "random_state_",
        "history_",
        "n_iter_",
        "bound_",
        "convergence_",
        "converged_",
        "_state",
        "_n_distinct",
    )
    """What a fit leaves behind, and a model file holds. Subclasses add their own."""
    passing_attributes: ClassVar[tuple[str, ...]] = ("_best_state", "_ended", "_last_look")
    """What there is only while a fit is under way, and a checkpoint holds too."""

    @abstractmethod
    def _model(self) -> Model:
        """Return the model of a fit under way."""

    def _with_learned(self, model: M) -> M:
        """Return a model with what the fit has learned so far of its hyperparameters."""
        return cast(M, model.at(self._state.hyperparameters)) if self.__sklearn_is_fitted__() else model

    @abstractmethod
    def _score(self, data: Any) -> float:
        """Return the score of data that was checked, in the form that steps take."""

    @abstractmethod
    def _wanted(self) -> dict[str, Any]:
        """Return what the parameters say of the model, as far as a fit cannot change it later."""

    @abstractmethod
    def _fix_model(self, data: Any) -> None:
        """Write down what a fit cannot change later, and what follows from its first data."""

    def _expect_stream(self, data: Any) -> None:
        """Write down what is different where a fit begins as a stream, after `_fix_model`."""

    @property
    def _fixed(self) -> Mapping[str, Any]:
        """What `_fix_model` has written down, by the names of `_wanted`."""
        return self._fitted

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

    def _start(self, data: Any, start: Any = None) -> None:
        """Set the state before the first step, from what another model has found if it is given; the seed is chosen."""
        self.history_, self.scores_, self._n_distinct = [], [], 0
        self.convergence_, self.converged_ = float("nan"), False
        self._state = engine.init(self._model(), self.random_state_, data)
        if start is not None:
            self._begin_from(start, data)

    def _first_guess(self, data: Any) -> Any:
        """Return what `fit` begins with where nothing was given: nothing, but for models that need a good start."""
        return None

    def _first_of_stream(self, data: Any) -> Any:
        """Return what `partial_fit` begins from, given its first rows; None for a start that knows of no data."""
        return None

    def _begin_from(self, start: Any, data: Any) -> None:
        """Put what another model has found into the state before the first step, for those estimators that can."""
        raise NotImplementedError

    @contextmanager
    def _open_backend(self) -> Iterator[Backend]:
        """Yield where local steps run, and close it afterwards unless it is the user's own."""
        if isinstance(self.backend, Backend):
            yield self.backend
            return
        with make_backend(self.backend, self.n_jobs) as backend:
            yield backend

    def _run(self, data: Any, given: Given) -> None:
        """Fit from the start, `max_iter` passes over the data."""
        self.__dict__.pop("_state", None)  # what an earlier fit has learned is nothing to this one
        self._fix_model(data)
        self._forget()
        self.random_state_ = given.seed
        with self._checkpoints(data, given.validation, given.start) as keepers:
            data, held_out = self._split(data, given.validation)  # by a checkpoint's seed, if there is one
            if all(keeper.resumed_at is None for keeper in keepers):
                self._start(data, self._first_guess(data) if given.start is None else given.start)
                self._n_distinct = len(data)
            plan = self._plan(len(data)) if given.start is None else self._careful(self._plan(len(data)))
            scored = [] if held_out is None else [Validation(self, held_out, plan)]
            watching: list[Callback] = [
                *scored,
                Convergence(self, plan, self._observed(data)),
                *self._monitors(data, plan),
            ]
            with fit_tasks(self, given, plan) as told:
                self._loop(data, plan, watching, keepers, told)
                took_all = self._state.step == plan.total
                whole_fit = self._ended or took_all
                if whole_fit:  # and no callback, of the user or of scikit-learn, has stopped it
                    for keeper in keepers:
                        keeper.keep_end(self._state)
                for validation in scored:
                    validation.end()
                del self._ended
                self.__dict__.pop("_last_look", None)
                self.n_iter_ = -(-self._state.step // plan.steps_per_pass)
                self.bound_ = self._bound(data)
                if whole_fit and self._finish(data):
                    for validation in scored:
                        validation.note(self._state)
        if took_all and not self.early_stopping:
            warn_unless_converged(self, plan)

    def _loop(
        self,
        data: Any,
        plan: Plan,
        monitors: Sequence[Callback],
        keepers: Sequence[Checkpoints],
        told: Callable[[list[Callback]], list[Callback]],
    ) -> None:
        """Take the steps of a fit, until all are taken or somebody says stop."""
        settling = [settling_of(self)] if plan.ascent and self._settled is not None else []
        with self._open_backend() as backend, Progress(plan.total, self.name) as progress:
            watching = self._callbacks(progress, self._watch([*monitors, *settling]))
            local_step = self._fit_step(data, plan)
            problem = self._problem(local_step, plan.global_step, plan.schedule, len(data), backend)
            self._state = engine.run(
                replace(problem, rearranges=self._rearranges(plan), rearranges_every=plan.look // plan.steps_per_pass),
                self._state,
                data,
                sweeps=0 if self._ended else plan.passes,
                batch_size=plan.batch_size,
                callbacks=[*told(watching), *keepers],
            )

    @abstractmethod
    def _fit_step(self, data: Any, plan: Plan) -> LocalStep:
        """Return the local step of a fit."""

    @abstractmethod
    def _stream_step(self, data: Any) -> LocalStep:
        """Return the local step of `partial_fit`."""

    def _careful(self, plan: Plan) -> Plan:
        """Return the plan of a fit that begins with what another has found, and is not to lose it."""
        return replace(plan, schedule=self._schedule(streamed=True))

    def _first_end(self, plan: Plan) -> int:
        """Return the first step after which a fit may end by itself: before it, a fit is not yet what it will be."""
        return 0

    def _rearranges(self, plan: Plan) -> tuple[float, float]:
        """Return the sweeps between which a fit merges components that are copies of each other."""
        return NEVER

    def _go_back(self, step: int, plan: Plan) -> None:
        """Forget what else was noted after a step, that of the best state."""

    def _monitors(self, data: Any, plan: Plan) -> list[Callback]:
        """Return what else watches a fit, and may end it."""
        return []

    def _finish(self, data: Any) -> bool:
        """Do what is left to do after a loop that ended by itself; tell whether there was anything."""
        return False

    def _forget(self) -> None:
        """Take away what an earlier fit has left behind and this one may not have."""
        of_text = ("vocabulary_", "text_options_", "reading_options_", "known_words_", "seen_documents_")
        for name in (*of_text, "labels_", "_state", *self.passing_attributes):
            self.__dict__.pop(name, None)
        self._ended = False

    def _split(self, data: Any, validation: Any) -> tuple[Any, Any]:
        """Return the rows to fit and those to score, which are set aside if a fit is to stop by them and has none."""
        if self.early_stopping and validation is None:
            return set_aside(data, self.validation_fraction, self.random_state_)
        return data, validation

    def _watch(self, monitors: Sequence[Callback]) -> Callback:
        """Return a callback that asks those by which a fit ends itself, and remembers if one said so."""

        def watch(state: State, info: Info) -> bool:
            answers = [monitor(state, info) for monitor in monitors]  # all of them keep something
            self._ended = any(answers)
            return self._ended

        return watch

    @contextmanager
    def _checkpoints(self, data: Any, *others: Any) -> Iterator[list[Checkpoints]]:
        """Yield those callbacks that keep checkpoints, after they have set the fit to where it had stopped before.

        They are to be called last, when all others have done their part of a step.
        """
        keepers = [callback for callback in self.callbacks or [] if isinstance(callback, Checkpoints)]
        given = [other for other in others if other is not None]
        for keeper in keepers:
            keeper.begin(self, [data, *given] if given else data)
        try:
            yield keepers
        finally:
            for keeper in keepers:
                keeper.end()

    def _run_further(self, data: Any, *, first: bool, start: Any = None) -> None:
        """Go on from where the last step left off: a step for each `batch_size` rows at most, in the order given."""
        if first:
            self._fix_model(data)
            self._expect_stream(data)
            self.random_state_ = make_seed(self.random_state)
            self._start(data, self._first_of_stream(data) if start is None else start)
        check_same(self._wanted(), self._fixed)
        self.history_ = list(self.history_)
        # Those of an earlier fit say nothing of what follows.
        self.scores_, self.convergence_, self.converged_ = [], float("nan"), False
        cuts = equal_cuts(len(data), self._streamed_size())
        batches: Iterable[Batch] = (data.slice(start, stop) for start, stop in pairwise(cuts))
        # After a fit `documents_seen` counts each document once a pass: it no longer tells how many there are.
        streaming = self._n_distinct == self._state.documents_seen
        self._n_distinct += len(data)
        announced = self._in_groups(self.total_samples)
        population = announced or (None if streaming else self._n_distinct)
        total = self._state.step + len(cuts) - 1
        with self._open_backend() as backend, Progress(total, self.name) as progress, ExitStack() as reading:
            step, rule, schedule = self._stream_step(data), self._global_step(), self._schedule(streamed=True)
            problem = self._problem(step, rule, schedule, population, backend, self._in_groups(self.memory))
            if isinstance(data, Source):
                batches = reading.enter_context(closing(read_ahead(engine.checked(problem, batches))))
            self._state = engine.follow(problem, self._state, batches, self._callbacks(progress))
        passes = -(-self._state.documents_seen // int(announced or self._n_distinct))
        self.n_iter_ = max(getattr(self, "n_iter_", 0), passes)
        self.bound_ = self._bound(data)

    def _problem(
        self,
        local_step: LocalStep,
        global_step: GlobalStep,
        schedule: Schedule | AdaptiveSchedule,
        population: float | None,
        backend: Backend,
        memory: float | None = None,
    ) -> Problem:
        return Problem(
            model=self._model(),
            local_step=local_step,
            global_step=global_step,
            schedule=schedule,
            population=None if population is None else int(population),
            ramp=self._ramps(),
            backend=backend,
            memory=memory,
        )

    def _ramps(self) -> bool:
        """Tell whether a minibatch of the first pass stands for the rows seen so far only."""
        return bool(self.population_ramp)

    def _callbacks(self, progress: Progress, *watches: Callback) -> list[Callback]:
        """Return the engine's callbacks: the history, watches, the progress line if it is to be shown, the user's."""
        own: list[Callback] = [lambda state, info: self.history_.append(info)]
        others = [callback for callback in self.callbacks or [] if not isinstance(callback, Checkpoints)]
        return [*own, *watches, *([progress] if self._shows_progress() else []), *others]

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

    def _in_groups(self, rows: float | None) -> float | None:
        """Return a number of rows as the number of groups that the engine counts; for most the two are the same."""
        return rows

    def _units(self, data: Any) -> float:
        """Return by how many observed units a row counts, on average, in figures per unit."""
        return 1.0

    def _observed(self, data: Any) -> float:
        """Return the number of observed units by which `convergence_` counts."""
        return len(data) * self._units(data)
