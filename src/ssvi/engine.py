"""The loop of the paper's algorithm 1, for any model, local step and global step."""

from __future__ import annotations

import math
import threading
import time
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from ssvi.adaptive import AdaptiveSchedule, Pace
from ssvi.backends.base import Backend
from ssvi.backends.threads import Threads
from ssvi.batches.minibatches import equal_cuts, minibatches
from ssvi.errors import FitError
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
class State:
    """What the next step needs, and nothing else. The random numbers of a step follow from `seed` and `step`."""

    seed: int
    step: int
    documents_seen: int
    parameters: Mapping[str, Array]
    """lambda of each block."""
    totals: Mapping[str, Array] = field(default_factory=dict)
    """Sums of lambda that a fit keeps up to date; see `ssvi.stores.CoordinateStore`."""
    hyperparameters: Mapping[str, Array] = field(default_factory=dict)
    """What the model's priors of the next step follow from, for a model that learns it; see `Model.at`."""
    averages: Mapping[str, Array] = field(default_factory=dict)
    """The average of each block's lambda over the path, for a global step that keeps it; see `GlobalStep.averaging`."""
    rates: Mapping[str, Array] = field(default_factory=dict)
    """What the step size of the next step follows from, for a schedule that learns it; see `ssvi.adaptive`."""

    @property
    def estimate(self) -> Mapping[str, Array]:
        """What predicts best: the averages, where there are any, else lambda."""
        return self.averages if len(self.averages) else self.parameters

    def with_coordinates(self, block: str, more: Array) -> State:
        """Return a state in which the distributions of a block have further coordinates, with the lambda given.

        A schedule that learns begins anew.
        """

        def longer(arrays: Mapping[str, Array]) -> dict[str, Array]:
            joined = {block: np.concatenate([arrays[block], more], axis=-1)} if block in arrays else {}
            return {**arrays, **joined}

        totals = {name: sums + more.sum(axis=-1) if name == block else sums for name, sums in self.totals.items()}
        parameters, averages = longer(self.parameters), longer(self.averages)
        return replace(self, parameters=parameters, totals=totals, averages=averages, rates={})

    def complete(self) -> State:
        """Return the same state with arrays of its own, whatever the fit that it comes from does next."""
        return replace(self, parameters=dict(self.parameters), averages=dict(self.averages))


@dataclass(frozen=True)
class Info:
    """What a person wants to see of one step."""

    step: int
    documents_seen: int
    step_size: float
    """rho^(t)."""
    population: float
    """N_t, the number of documents that the minibatch stood for."""
    bound: float | None
    """The minibatch's sum of local ELBOs, where the local step optimises one."""
    guarded: int
    """Coordinates of lambda kept from leaving the domain."""
    seconds: float
    merged: int = 0
    """Components that were copies of others after this step, and were merged; see `Model.rearrangement`."""


class Path(Protocol):
    """A fit under way: steps overwrite what it holds, and states are made of it when they are asked for."""

    def step(self, batch: Any) -> Info:
        """Take one step."""
        ...

    def state(self) -> State:
        """Return the present state; its arrays may be made only when they are looked at."""
        ...

    def end(self) -> State:
        """Return the present state, complete."""
        ...


class Steps(ABC):
    """Anything that goes from state to state by minibatches: a `Problem`, or one of `ssvi.baselines`."""

    @abstractmethod
    def step(self, state: State, batch: Any) -> tuple[State, Info]:
        """Return the state after a minibatch, and what happened; `state` itself is left as it is."""

    def begin(self, state: State) -> Path:
        """Return a fit that goes on from a state."""
        return _StateByState(self, state)


class _StateByState:
    """A fit of something that makes a new state in every step."""

    def __init__(self, steps: Steps, state: State) -> None:
        self._steps, self._state = steps, state

    def step(self, batch: Any) -> Info:
        self._state, info = self._steps.step(self._state, batch)
        return info

    def state(self) -> State:
        return self._state

    end = state


@dataclass(frozen=True)
class Problem(Steps):
    """What is fitted and how: everything about a fit that does not change from step to step.

    Attributes
    ----------
    population : int or None
        N. None for a stream of unknown length: then N_t is the number of documents seen so far.
    rearranges : (float, float)
        The sweeps between which components that are copies of each other are merged, after every sweep, and their
        places are given to something new. See `Model.rearrangement`.
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
    memory: float | None = None

    def step(self, state: State, batch: Batch) -> tuple[State, Info]:
        """Take one step of algorithm 1."""
        fit = Fit(self, state)
        info = fit.step(batch)
        return fit.end(), info

    def begin(self, state: State) -> Fit:
        """Return a fit that goes on from a state."""
        return Fit(self, state)


Callback = Callable[[State, Info], bool | None]
"""Called after every step; a true answer stops the fit there."""


def init(model: Model, seed: int, data: Any = None) -> State:
    """Return the state before the first step: lambda^(0) at random, near some data if these are given."""
    rng = np.random.default_rng(derive_key(seed, "init"))
    parameters = model.init(rng) if data is None else model.start(data, rng)
    return State(seed=seed, step=0, documents_seen=0, parameters=parameters, hyperparameters=model.hyperparameters())


def step(problem: Steps, state: State, batch: Batch) -> tuple[State, Info]:
    """Take one step of algorithm 1 on a minibatch; `state` itself is left as it is."""
    return problem.step(state, batch)


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
            _stop_at_nan(name, number, view.stats if isinstance(view, Part) else view)
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
        learned = dict(self._model.learn(views, replace(result, scale=scale), step_size, clock.sweeps))
        at_end = ends_sweep(number, self._seen, clock)
        if at_end:
            learned |= self._model.learn_priors(lambda name: self._stores[name].lam())
        self._take(learned)
        first, last = problem.rearranges
        merged = self._rearrange(batch, number) if at_end and first <= clock.sweeps <= last else 0
        self._number, self._seen = number, seen
        seconds = time.perf_counter() - started
        return Info(number, seen, step_size, represented, result.bound, guarded, seconds, merged)

    def _views(self, batch: Batch, rule: GlobalStep, number: int) -> dict[str, Array | Part]:
        """Return what the local step sees of each block."""
        each, touched = self._problem.backend.workers.each, self._problem.local_step.touched(batch)
        return {
            name: store.view(rule, touched.get(name), derive_key(self._start.seed, "draw", name, number), each)
            for name, store in self._stores.items()
        }

    def _store(self, name: str, lam: Array, totals: Array | None, average: Array | None) -> Store:
        """Return what holds a block."""
        axis, block = self._problem.local_step.partial_blocks.get(name), self._model.blocks()[name]
        return make_store(block, lam, totals, axis, self._problem.global_step, average)

    def _rearrange(self, batch: Batch, number: int) -> int:
        """Merge components that are copies of each other, and let something new have their places; return how many."""
        problem, sample = self._problem, batch.slice(0, min(len(batch), _LOOKED_AT))
        averages = {name: average for name, store in self._stores.items() if (average := store.average()) is not None}
        estimate = averages or {name: store.lam() for name, store in self._stores.items()}

        def local() -> Mapping[str, Array]:
            """Return what the local step finds at E_q[t]."""
            views = {name: block.family.mean_stats(estimate[name]) for name, block in self._model.blocks().items()}
            keys = derive_keys(derive_key(self._start.seed, "look", number), len(sample))
            return problem.backend.map_local(problem.local_step, self._model, views, sample, keys)

        change = self._model.rearrangement(estimate.__getitem__, Look(sample, local))
        if change is None:
            return 0
        name, prior = change.block, self._priors[change.block]
        average = change.applied(averages[name], prior) if averages else None
        self._stores[name] = self._store(name, change.applied(self._stores[name].lam(), prior), None, average)
        self._take(change.hyperparameters)
        return len(change.pairs)

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


class Snapshot(Mapping[str, Array]):
    """An array of each block of a fit under way, read when it is first looked at.

    A copy of it, and what a pickle holds, is a dictionary of the arrays.
    """

    def __init__(self, stores: Mapping[str, Store], reads: Callable[[Store], Array]) -> None:
        self._stores, self._reads, self._arrays = stores, reads, dict[str, Array]()
        self._reading = threading.Lock()  # a callback may have handed the state to a thread, and the fit goes on

    def read(self) -> Mapping[str, Array]:
        """Return the arrays."""
        with self._reading:
            if not self._arrays:
                self._arrays = {name: self._reads(store) for name, store in self._stores.items()}
                self._stores = {}
        return self._arrays

    def __reduce__(self) -> tuple[type[dict[str, Array]], tuple[Mapping[str, Array]]]:
        return dict, (self.read(),)

    def __getitem__(self, name: str) -> Array:
        return self.read()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.read())

    def __len__(self) -> int:
        return len(self.read())


def run(
    problem: Steps,
    state: State,
    corpus: Any,
    *,
    sweeps: int,
    batch_size: int,
    callbacks: Iterable[Callback] = (),
) -> State:
    """Go through the corpus until `sweeps` sweeps are complete, from wherever `state` stands.

    `corpus` has a length and `take(rows)`. Each sweep takes minibatches without replacement, in an order that follows
    from the seed and the sweep's number: a state that was saved in the middle of a sweep goes on with the next
    minibatch of that sweep.
    """
    cuts = equal_cuts(len(corpus), batch_size)
    first_sweep, done = divmod(state.step, len(cuts) - 1)
    if state.documents_seen != first_sweep * len(corpus) + cuts[done]:
        raise ValueError(
            f"this state has seen {state.documents_seen} documents in {state.step} steps, which does not fit a corpus "
            f"of {len(corpus)} in minibatches of {batch_size}: continue with the corpus and batch_size it began with."
        )
    order = (
        rows
        for sweep in range(first_sweep, sweeps)
        for rows in minibatches(len(corpus), batch_size, state.seed, sweep)[done if sweep == first_sweep else 0 :]
    )
    return follow(problem, state, (corpus.take(rows) for rows in order), callbacks)


def follow(problem: Steps, state: State, batches: Iterable[Batch], callbacks: Iterable[Callback] = ()) -> State:
    """Take a step for each of some minibatches, until they end or a callback says stop."""
    callbacks, fit = list(callbacks), problem.begin(state)
    for batch in batches:
        info = fit.step(batch)
        # The state is not held here: if no callback keeps it, its arrays are never made.
        if callbacks and _says_stop(callbacks, fit.state(), info):
            break
    return fit.end()


def _says_stop(callbacks: list[Callback], state: State, info: Info) -> bool:
    """Ask all callbacks, also after one has said stop."""
    answers = [callback(state, info) for callback in callbacks]
    return any(answers)


def prior_bound(model: Model, parameters: Mapping[str, Array]) -> float:
    """Return E_q[log p(beta) - log q(beta)], the part of the ELBO that the local bounds do not hold."""
    total = 0.0
    for name, block in model.blocks().items():
        prior = np.broadcast_to(block.prior, block.shape)
        total += float(block.family.negative_divergence(parameters[name], prior).sum())
    return total


def ends_sweep(number: int, seen_before: int, clock: Clock) -> bool:
    """Tell whether a step ends a sweep. A stream of unknown length has longer and longer ones, by a fifth each."""
    if clock.population is None:
        return number > 1 and int(math.log(number, _LONGER)) > int(math.log(number - 1, _LONGER))
    return clock.documents_seen // clock.population > seen_before // clock.population


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


def stop_unless_finite(name: str, number: int, lam: Array) -> None:
    """Raise a `FitError` that names the block and the step if a value of a block is not finite."""
    if not np.isfinite(lam).all():
        place = np.unravel_index(int(np.argmin(np.isfinite(lam))), lam.shape)
        raise FitError(
            f"block {name!r} has a value that is not finite after step {number} (first at {tuple(map(int, place))}): "
            "the fit was stopped. Look for extreme counts or priors, or use smaller steps."
        )


def _stop_at_nan(name: str, number: int, stats: Array) -> None:
    """Raise a `FitError` if what the local step is to see of a block is NaN somewhere: it would make nonsense of it."""
    if np.isnan(stats.sum()) and np.isnan(stats).any():  # the sum clears almost every view
        raise FitError(
            f"block {name!r} cannot be drawn from in step {number}, because a value of lambda has left its domain: "
            "the fit was stopped. Look for extreme counts or priors, or use smaller steps."
        )
