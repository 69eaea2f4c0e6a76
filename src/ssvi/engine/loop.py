"""The loop of the paper's algorithm 1: where a fit begins, the order of minibatches, and when it ends."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from typing import Any

import numpy as np

from ssvi.batches.minibatches import equal_cuts, minibatches
from ssvi.batches.sources import Source
from ssvi.engine.read_ahead import read_ahead
from ssvi.engine.state import Info, State
from ssvi.engine.steps import Callback, Steps
from ssvi.local_steps.base import Batch
from ssvi.memory import give_back, keep_freed, tidied
from ssvi.models.base import Model
from ssvi.numerics.random import derive_key
from ssvi.typing import Array


def init(model: Model, seed: int, data: Any = None) -> State:
    """Return the state before the first step: lambda^(0) at random, near some data if these are given."""
    rng = np.random.default_rng(derive_key(seed, "init"))
    parameters = model.init(rng) if data is None else model.start(data, rng)
    return State(seed=seed, step=0, documents_seen=0, parameters=parameters, hyperparameters=model.hyperparameters())


def step(problem: Steps, state: State, batch: Batch) -> tuple[State, Info]:
    """Take one step of algorithm 1 on a minibatch; `state` itself is left as it is."""
    return problem.step(state, batch)


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

    `corpus` has a length and `take(rows)`, or is a `Source`, which has an order of its own and is read ahead. Each
    sweep takes minibatches without replacement, in an order that follows from the seed and the sweep's number: a state
    that was saved in the middle of a sweep goes on with the next minibatch of that sweep.
    """
    cuts = equal_cuts(len(corpus), batch_size)
    first_sweep, done = divmod(state.step, len(cuts) - 1)
    if state.documents_seen != first_sweep * len(corpus) + cuts[done]:
        raise ValueError(
            f"this state has seen {state.documents_seen} documents in {state.step} steps, which does not fit a corpus "
            f"of {len(corpus)} in minibatches of {batch_size}: continue with the corpus and batch_size it began with."
        )

    def order(sweep: int) -> Iterable[Any]:
        first = done if sweep == first_sweep else 0
        if isinstance(corpus, Source):
            return corpus.places(batch_size, state.seed, sweep, first)
        return minibatches(len(corpus), batch_size, state.seed, sweep)[first:]

    places = (place for sweep in range(first_sweep, sweeps) for place in order(sweep))
    try:
        if not isinstance(corpus, Source):
            return follow(problem, state, (corpus.take(rows) for rows in places), callbacks)
        with closing(read_ahead(problem.read(corpus, place) for place in places)) as batches:
            return follow(problem, state, tidied(batches), callbacks)
    finally:
        give_back()


def checked(problem: Steps, batches: Iterable[Batch]) -> Iterator[Batch]:
    """Yield minibatches that are read one after the other, each when it was found to be one that steps can handle."""
    for batch in batches:
        problem.check(batch)
        yield batch


def follow(problem: Steps, state: State, batches: Iterable[Batch], callbacks: Iterable[Callback] = ()) -> State:
    """Take a step for each of some minibatches, until they end or a callback says stop."""
    keep_freed()
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
