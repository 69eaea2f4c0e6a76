"""Long Gibbs samplers of the exact posterior of the global parameters, for every model that can have one.

With rho = 1, all data in every step and local variables drawn from their conditional distribution, SSVI-A is such a
sampler, for a model whose blocks are independent given the local variables; local steps that can draw in this way say
so (`LocalStep.sampler`). The blocks of a factorisation are not independent: the engine draws both given the last value
of the other, and so it has a sampler of its own, and so have multilevel regressions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ssvi import engine
from ssvi.backends.base import Backend
from ssvi.engine import Info, Problem, State
from ssvi.evaluation.posterior import draws_of_q
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.base import Batch, LocalStep
from ssvi.models.base import Model
from ssvi.models.gamma_process_nmf import GammaProcessNMF
from ssvi.models.hierarchical.base import HierarchicalRegression
from ssvi.numerics.random import derive_key, derive_keys
from ssvi.registry import discover
from ssvi.sampling.chains import Chain
from ssvi.sampling.factorisation import sample_factorisation
from ssvi.sampling.multilevel import sample_multilevel
from ssvi.schedules import ConstantSchedule
from ssvi.typing import Array


def can_sample(model: Model, local_steps: Iterable[type[LocalStep]] | None = None) -> bool:
    """Tell whether there is a sampler for a model; `local_steps` are those that it has, if it is not the package's."""
    own = isinstance(model, GammaProcessNMF | HierarchicalRegression)
    return own or _exact_step(model, local_steps) is not None


def _exact_step(model: Model, local_steps: Iterable[type[LocalStep]] | None) -> LocalStep | None:
    """Return the local step with which SSVI-A is a sampler of a model, if there is one."""
    known = discover(f"ssvi.local_steps.{model.name}", LocalStep).values() if local_steps is None else local_steps
    found = [step for step in (kind().sampler(model) for kind in known) if step is not None]
    return found[0] if found else None


def state_at(
    model: Model, values: Mapping[str, Array], local_step: LocalStep, data: Batch, seed: int, backend: Backend
) -> State:
    """Return a state before the first step whose lambda comes from one local step at given global parameters."""
    blocks = model.blocks()
    views = {name: block.family.statistics(values[name]) for name, block in blocks.items()}
    keys = derive_keys(derive_key(seed, "first"), len(data))
    found = backend.map_reduce(local_step, model, views, data, keys, want_local=False)
    priors = {**{name: block.prior for name, block in blocks.items()}, **model.priors(views)}
    parameters = {name: priors[name] + found.scale * found.eta_hat[name] for name in blocks}
    return replace(engine.init(model, seed), parameters=parameters)


def sample_posterior(
    model: Model,
    data: Any,
    start: Mapping[str, Array],
    chain: Chain,
    seed: int,
    backend: Backend,
    *,
    local_steps: Iterable[type[LocalStep]] | None = None,
    after_sweep: Callable[[], None] = lambda: None,
) -> dict[str, Array]:
    """Return draws of the global parameters (by block, a row a draw) by a chain that starts at given values.

    From the parameters that generated the data a chain has the posterior's distribution at once. Hyperparameters that
    a model would learn stay as they are.
    """
    if isinstance(model, GammaProcessNMF):
        return sample_factorisation(model, data, start, chain, seed, after_sweep)
    if isinstance(model, HierarchicalRegression):
        return sample_multilevel(model, data, start, chain, seed, after_sweep).values
    model, local_step = model.settled(), _exact_step(model, local_steps)
    assert local_step is not None, f"there is no sampler of {model.name}"
    local_step.check(data)
    blocks, kept = model.blocks(), []

    def keep(state: State, info: Info) -> None:
        if chain.keeps(info.step):
            kept.append({name: _draw(model, name, state, seed) for name in blocks})
        after_sweep()

    problem = Problem(model, local_step, SsviA(), ConstantSchedule(), len(data), ramp=False, backend=backend)
    first = state_at(model, start, local_step, data, seed, backend)
    engine.run(problem, first, data, sweeps=chain.sweeps, batch_size=len(data), callbacks=[keep])
    return {name: np.stack([draw[name] for draw in kept]) for name in blocks}


def sample_from_q(
    model: Model,
    parameters: Mapping[str, Array],
    data: Any,
    chain: Chain,
    n_chains: int,
    seed: int,
    backend: Backend,
    *,
    local_steps: Iterable[type[LocalStep]] | None = None,
    after_sweep: Callable[[], None] = lambda: None,
) -> dict[str, Array]:
    """Return draws by several chains, one behind the other, each of which starts at a draw of q (lambda by block).

    Where q is near the posterior, chains forget it within a few sweeps: they mend how wide q is, and how its blocks
    depend on each other.
    """
    starts = draws_of_q(model, parameters, n_chains, seed, "chains")
    found = []
    for own in range(n_chains):
        start = {name: values[own] for name, values in starts.items()}
        key = derive_key(seed, "chain", own)
        found.append(
            sample_posterior(model, data, start, chain, key, backend, local_steps=local_steps, after_sweep=after_sweep)
        )
    return {name: np.concatenate([draws[name] for draws in found]) for name in starts}


def _draw(model: Model, name: str, state: State, seed: int) -> Array:
    """Draw a block given the local variables of the last step, which lambda holds."""
    lam, family = state.parameters[name], model.blocks()[name].family
    keys = derive_keys(derive_key(seed, "posterior", name, state.step), lam[..., 0].size)
    return family.values(family.draw(lam, keys).stats)
