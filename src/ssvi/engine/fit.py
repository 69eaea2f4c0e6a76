"""One step of the paper's algorithm 1 after another, for any model, local step and global step."""

from __future__ import annotations

import math
import time
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ssvi.adaptive import AdaptiveSchedule, Pace
from ssvi.backends.base import Backend
from ssvi.backends.threads import Threads
from ssvi.batches.places import Place
from ssvi.batches.sources import Source
from ssvi.engine.state import Info, Snapshot, State, stop_at_nan, stop_unless_finite
from ssvi.engine.steps import Steps
from ssvi.families.restricted import Statistics
from ssvi.global_steps.base import Clock, GlobalStep
from ssvi.local_steps.base import Batch, LocalStep, Part
from ssvi.models.base import Model
from ssvi.models.rearranging import Look
from ssvi.numerics.random import derive_key, derive_keys
from ssvi.schedules import PowerSchedule, Schedule
from ssvi.states import check_hyperparameters, check_state
from ssvi.stores import Store, Update, make_store
from ssvi.typing import Array

NEVER = (0.0, 0.0)
"""The sweeps between which a fit rearranges nothing."""

_LOOKED_AT = 1_000  # groups of a minibatch that are asked where something new is needed
_LONGER = 1.2  # how many times as many steps, until a stream of unknown length counts as seen once more


@dataclass(frozen=True)
class Problem(Steps):
    """What is fitted and how: everything about a fit that does not change from step to step.

    Attributes
    ----------
    population : int or None
        N. None for a stream of unknown length: then N_t is the number of documents seen so far.
    rearranges : (float, float)
        The sweeps between which components that are copies of each other are parted, or merged and their places
        given to something new. See `Model.rearrangement`.
    rearranges_every : int
        After how many sweeps each, between these.
    ramp : bool
        Let N_t grow with the documents seen over the first sweep, N_t = min(documents seen, N), instead of N_t = N.
    memory : float or None
        W, for a population that slides: the model is of the last W documents, about. N_t is W at most, and rho is S / W
        at least. Where it is that, lambda - eta is the sum of the statistics of all documents so far, each of which
        counts (1 - S / W) times as much with every step that is taken after its own. Averages over the path are of
        the steps that W documents take. None for a population that does not slide.

    """

    model: Model
    local_step: LocalStep
    global_step: GlobalStep
    schedule: Schedule | AdaptiveSchedule = field(default_factory=PowerSchedule)
    population: int | None = None
    ramp: bool = True
    backend: Backend = field(default_factory=Threads)
    rearranges: tuple[float, float] = NEVER
    rearranges_every: int = 1
    memory: float | None = None

    def step(self, state: State, batch: Batch) -> tuple[State, Info]:
        """Take one step of algorithm 1."""
        fit = Fit(self, state)
        info = fit.step(batch)
        return fit.end(), info

    def check(self, batch: Batch) -> None:
        """Raise a `ValueError` if there is something in a minibatch that the local step cannot handle."""
        self.local_step.check(batch)

    def read(self, source: Source, place: Place) -> Batch:
        """Return a minibatch of a corpus that is read as it is needed, wherever the backend reads it."""
        batch: Batch = self.backend.read(self.local_step, source, place)
        return batch

    def begin(self, state: State) -> Fit:
        """Return a fit that goes on from a state."""
        return Fit(self, state)


class Fit:
    """A fit under way: steps overwrite what it holds, and states are made of it when they are asked for."""

    def __init__(self, problem: Problem, state: State) -> None:
        check_state(problem.model.blocks(), state)
        check_hyperparameters(problem.model, state)
        self._problem = problem
        self._start, self._number, self._seen = state, state.step, state.documents_seen
        self._model = problem.model.at(state.hyperparameters)
        self._hyperparameters = {**problem.model.hyperparameters(), **state.hyperparameters}
        self._priors = {name: block.prior for name, block in self._model.blocks().items()}
        self._stores = {
            name: self._store(name, state.parameters[name], state.totals.get(name), state.averages.get(name))
            for name in self._model.blocks()
        }
        shapes = {name: block.shape for name, block in self._model.blocks().items()}
        self._pace = Pace(problem.schedule, state.rates, shapes)
        self._shown: tuple[Callable[[], Snapshot | None], ...] = ()

    def step(self, batch: Batch) -> Info:
        """Take one step of algorithm 1."""
        started = time.perf_counter()
        self._let_go()
        problem, number, seen = self._problem, self._number + 1, self._seen + len(batch)
        step_size, weight = _remembering(problem, self._pace.step_size(number), number, len(batch))
        clock, note = Clock(seen, problem.population), self._pace.watch(self._lam)
        rule = problem.global_step.at(clock)
        views = self._views(batch, rule, number)
        for name, view in views.items():
            stop_at_nan(name, number, view.stats if isinstance(view, Part) else view)
        keys = derive_keys(derive_key(self._start.seed, "documents", number), len(batch))
        result = problem.backend.map_reduce(problem.local_step, self._model, views, batch, keys, want_local=False)
        represented = _represented(problem, seen)
        scale = result.scale * represented / len(batch)
        update = Update(rule, step_size, clock, problem.backend.workers.each, weight)
        for name, prior in self._model.priors(views).items():
            self._stores[name].set_prior(prior)
        guarded = 0
        for name, store in self._stores.items():
            guarded += store.advance(update, Statistics(result.eta_hat[name], scale))
            if not store.is_finite():
                stop_unless_finite(name, number, store.lam())
        note(number, step_size)
        learned = dict(self._model.learn(views, replace(result, scale=scale), step_size, _known_sweeps(clock)))
        at_end = ends_sweep(number, self._seen, clock)
        if at_end:
            renewed = 1.0 - (1.0 - step_size) ** _steps_of_sweep(clock, number)
            learned |= self._model.learn_priors(lambda name: self._stores[name].lam(), renewed)
        self._take(learned)
        merged = self._rearrange(batch, number) if at_end and _rearranges(problem, clock.sweeps) else 0
        self._number, self._seen = number, seen
        seconds = time.perf_counter() - started
        return Info(number, seen, step_size, represented, result.bound, guarded, seconds, merged)

    def _views(self, batch: Batch, rule: GlobalStep, number: int) -> dict[str, Array | Part]:
        """Return what the local step sees of each block."""
        each, touched = (
            self._problem.backend.workers.each,
            self._problem.backend.touched(self._problem.local_step, batch),
        )
        return {
            name: store.view(rule, touched.get(name), derive_key(self._start.seed, "draw", name, number), each)
            for name, store in self._stores.items()
        }

    def _store(self, name: str, lam: Array, totals: Array | None, average: Array | None) -> Store:
        """Return what holds a block."""
        axis, block = self._problem.local_step.partial_blocks.get(name), self._model.blocks()[name]
        return make_store(block, lam, totals, axis, self._problem.global_step, average)

    def _rearrange(self, batch: Batch, number: int) -> int:
        """Mend components that are copies of each other, as the model has it; return how many there were."""
        problem, sample = self._problem, batch.slice(0, min(len(batch), _LOOKED_AT))
        averages = {name: average for name, store in self._stores.items() if (average := store.average()) is not None}
        estimate = averages or {name: store.lam() for name, store in self._stores.items()}

        def local() -> Mapping[str, Array]:
            """Return what the local step finds at t of the mode."""
            views = {name: block.family.mode_stats(estimate[name]) for name, block in self._model.blocks().items()}
            keys = derive_keys(derive_key(self._start.seed, "look", number), len(sample))
            return problem.backend.map_local(problem.local_step.expected(), self._model, views, sample, keys)

        change = self._model.rearrangement(estimate.__getitem__, Look(sample, local))
        if change is None:
            return 0
        for name in change.fresh:
            family, prior = self._model.blocks()[name].family, self._priors[name]
            average = change.applied(name, family, averages[name], prior) if averages else None
            lam = change.applied(name, family, self._stores[name].lam(), prior)
            self._stores[name] = self._store(name, lam, None, average)
        self._take(change.hyperparameters)
        return len({copy for _, copy in change.pairs})

    def _take(self, learned: Mapping[str, Array]) -> None:
        """Take hyperparameters that the model has learned, and the priors that follow from them."""
        if not learned:
            return
        self._hyperparameters = {**self._hyperparameters, **learned}
        self._model = self._problem.model.at(self._hyperparameters)
        for name, block in self._model.blocks().items():
            if not np.array_equal(block.prior, self._priors[name]):  # else what was put off can wait
                self._stores[name].set_prior(block.prior)
                self._priors[name] = block.prior

    def state(self) -> State:
        """Return the present state. Its arrays are made when they are looked at, or when the fit goes on without it."""
        snapshots = Snapshot(self._stores, _lam), Snapshot(self._averaged, _average)
        self._shown = tuple(weakref.ref(snapshot) for snapshot in snapshots)
        totals = {name: store.totals for name, store in self._stores.items() if store.totals is not None}
        numbers = (self._start.seed, self._number, self._seen)
        return State(*numbers, snapshots[0], totals, self._hyperparameters, snapshots[1], self._pace.memory)

    def end(self) -> State:
        """Return the present state, complete."""
        self._let_go()
        return self.state().complete()

    @property
    def _averaged(self) -> Mapping[str, Store]:
        """The stores that keep averages."""
        return self._stores if self._problem.global_step.averaging else {}

    def _lam(self) -> dict[str, Array]:
        """Return lambda of every block, as arrays that later steps leave alone."""
        return {name: store.lam() for name, store in self._stores.items()}

    def _let_go(self) -> None:
        """Make the arrays of the last state if somebody has kept it: the fit is about to change what they are of."""
        for shown in self._shown:
            kept = shown()
            if kept is not None:
                kept.read()


def _lam(store: Store) -> Array:
    return store.lam()


def _average(store: Store) -> Array:
    average = store.average()
    assert average is not None
    return average


def ends_sweep(number: int, seen_before: int, clock: Clock) -> bool:
    """Tell whether a step ends a sweep. A stream of unknown length has longer and longer ones, by a fifth each."""
    if clock.population is None:
        return number > 1 and int(math.log(number, _LONGER)) > int(math.log(number - 1, _LONGER))
    return clock.documents_seen // clock.population > seen_before // clock.population


def _steps_of_sweep(clock: Clock, number: int) -> float:
    """Return how many steps a sweep has, about; of a stream of unknown length, the one that a step ends."""
    if clock.population is None:
        return number * (1.0 - 1.0 / _LONGER)
    return max(1.0, number * clock.population / clock.documents_seen)


def _known_sweeps(clock: Clock) -> float:
    """Return how often the data has been seen; infinity in a stream of unknown length."""
    return math.inf if clock.population is None else clock.sweeps


def _rearranges(problem: Problem, sweeps: float) -> bool:
    """Tell whether components are looked at after so many sweeps."""
    first, last = problem.rearranges
    return first <= sweeps <= last and int(sweeps) % problem.rearranges_every == 0


def _represented(problem: Problem, seen: int) -> float:
    """Return N_t."""
    most = float("inf") if problem.memory is None else float(problem.memory)
    if problem.population is None:
        return min(float(seen), most)
    return min(float(min(seen, problem.population) if problem.ramp else problem.population), most)


def _remembering(problem: Problem, step_size: float, number: int, size: int) -> tuple[float, float]:
    """Return rho of a step on so many documents, and what its lambda counts in the average over the path."""
    rule = problem.global_step
    if problem.memory is None:
        return step_size, rule.average_weight(number)
    steps = max(1, round(problem.memory / size))  # that the documents of a memory take
    return max(step_size, min(1.0, size / problem.memory)), rule.average_weight(min(number, steps))
