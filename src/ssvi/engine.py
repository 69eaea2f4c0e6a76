"""The loop of the paper's algorithm 1, for any model, local step and global step."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from ssvi.backends.base import Backend
from ssvi.backends.threads import Threads
from ssvi.data.minibatches import minibatches
from ssvi.global_steps.base import Clock, GlobalStep, View
from ssvi.local_steps.base import Batch, LocalStep
from ssvi.models.base import Block, Model
from ssvi.numerics.random import derive_key, derive_keys
from ssvi.schedules import PowerSchedule, Schedule
from ssvi.typing import Array

_ELEMENTS_A_TASK = 1 << 16  # how much of a block one task of the global step handles


class FitError(RuntimeError):
    """A fit went wrong and was stopped; the message names the block and the step."""


@dataclass(frozen=True)
class State:
    """What the next step needs, and nothing else. The random numbers of a step follow from `seed` and `step`."""

    seed: int
    step: int
    documents_seen: int
    parameters: Mapping[str, Array]
    """lambda of each block."""


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


@dataclass(frozen=True)
class Problem:
    """What is fitted and how: everything about a fit that does not change from step to step.

    Attributes
    ----------
    population : int or None
        N. None for a stream of unknown length: then N_t is the number of documents seen so far.
    ramp : bool
        Let N_t grow with the documents seen over the first sweep, N_t = min(documents seen, N), instead of N_t = N.

    """

    model: Model
    local_step: LocalStep
    global_step: GlobalStep
    schedule: Schedule = field(default_factory=PowerSchedule)
    population: int | None = None
    ramp: bool = True
    backend: Backend = field(default_factory=Threads)

    def step(self, state: State, batch: Batch) -> tuple[State, Info]:
        """Take one step of algorithm 1."""
        return step(self, state, batch)


class Steps(Protocol):
    """Anything that goes from state to state by minibatches: a `Problem`, or one of `ssvi.baselines`."""

    def step(self, state: State, batch: Any) -> tuple[State, Info]:
        """Return the state after a minibatch, and what happened."""
        ...


Callback = Callable[[State, Info], bool | None]
"""Called after every step; a true answer stops the fit there."""


def init(model: Model, seed: int, data: Any = None) -> State:
    """Return the state before the first step: lambda^(0) at random, near some data if these are given."""
    rng = np.random.default_rng(derive_key(seed, "init"))
    parameters = model.init(rng) if data is None else model.start(data, rng)
    return State(seed=seed, step=0, documents_seen=0, parameters=parameters)


def step(problem: Problem, state: State, batch: Batch) -> tuple[State, Info]:
    """Take one step of algorithm 1 on a minibatch; `state` itself is left as it is."""
    started = time.perf_counter()
    number, seen = state.step + 1, state.documents_seen + len(batch)
    step_size = problem.schedule(number)
    blocks = problem.model.blocks()
    views = {name: _view(problem, state, name, block) for name, block in blocks.items()}
    result = problem.backend.map_reduce(
        problem.local_step,
        problem.model,
        {name: view.stats for name, view in views.items()},
        batch,
        derive_keys(derive_key(state.seed, "documents", number), len(batch)),
    )
    represented = _represented(problem, seen)
    clock = Clock(seen, problem.population)
    parameters, guarded = {}, 0
    for name, block in blocks.items():
        eta_hat = result.eta_hat[name] * (represented / len(batch))
        parameters[name], moved = _advance(
            problem, block, state.parameters[name], views[name], eta_hat, step_size, clock
        )
        guarded += moved
        stop_unless_finite(name, number, parameters[name])
    seconds = time.perf_counter() - started
    info = Info(number, seen, step_size, represented, result.bound, guarded, seconds)
    return replace(state, step=number, documents_seen=seen, parameters=parameters), info


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
    per_sweep = -(-len(corpus) // batch_size)
    first_sweep, done = divmod(state.step, per_sweep)
    if state.documents_seen != first_sweep * len(corpus) + done * batch_size:
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
    callbacks = list(callbacks)
    for batch in batches:
        state, info = problem.step(state, batch)
        answers = [callback(state, info) for callback in callbacks]  # all are asked, also after one has said stop
        if any(answers):
            break
    return state


def prior_bound(model: Model, parameters: Mapping[str, Array]) -> float:
    """Return E_q[log p(beta) - log q(beta)], the part of the ELBO that the local bounds do not hold."""
    total = 0.0
    for name, block in model.blocks().items():
        prior = np.broadcast_to(block.prior, block.shape)
        total += float(block.family.negative_divergence(parameters[name], prior).sum())
    return total


def _represented(problem: Problem, seen: int) -> float:
    """Return N_t."""
    if problem.population is None:
        return float(seen)
    return float(min(seen, problem.population) if problem.ramp else problem.population)


def row_tasks(shape: tuple[int, ...]) -> list[slice]:
    """Cut a block into runs of rows, by its shape alone."""
    size = max(1, _ELEMENTS_A_TASK // max(1, int(np.prod(shape[1:]))))
    return [slice(start, min(start + size, shape[0])) for start in range(0, shape[0], size)]


def _view(problem: Problem, state: State, name: str, block: Block) -> View:
    """Return the global step's view of a block, drawn row by row."""
    lam = state.parameters[name]
    rows_below = int(np.prod(block.shape[1:-1]))
    keys = derive_keys(derive_key(state.seed, "draw", name, state.step + 1), block.shape[0] * rows_below)

    def view(rows: slice) -> View:
        chosen = keys[rows.start * rows_below : rows.stop * rows_below]
        return problem.global_step.view(block.family, lam[rows], chosen)

    return View.join(list(problem.backend.map(view, row_tasks(block.shape))))


def _advance(
    problem: Problem, block: Block, lam: Array, view: View, eta_hat: Array, step_size: float, clock: Clock
) -> tuple[Array, int]:
    """Return lambda' = (1 - rho) lambda + rho target, kept inside the domain, and how many coordinates that moved."""
    updated = np.empty_like(lam)

    def advance(rows: slice) -> int:
        prior, current = block.prior_rows(rows), lam[rows]
        target = problem.global_step.target(block.family, prior, current, view.rows(rows), eta_hat[rows], clock)
        candidate = (1.0 - step_size) * current + step_size * target
        if not problem.global_step.leaves_domain:
            updated[rows] = candidate
            return 0
        updated[rows], moved = block.family.project(candidate, current, prior)
        return moved

    return updated, sum(problem.backend.map(advance, row_tasks(block.shape)))


def stop_unless_finite(name: str, number: int, lam: Array) -> None:
    """Raise a `FitError` that names the block and the step if a value of a block is not finite."""
    # The sum alone is enough to clear almost every lambda; it takes a quarter of the time.
    if not np.isfinite(lam.sum()) and not np.isfinite(lam).all():
        place = np.unravel_index(int(np.argmin(np.isfinite(lam))), lam.shape)
        raise FitError(
            f"block {name!r} has a value that is not finite after step {number} (first at {tuple(map(int, place))}): "
            "the fit was stopped. Look for extreme counts or priors, or use smaller steps."
        )
