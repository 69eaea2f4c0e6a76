"""What a linear dynamical system says of sequences: states given the past or given all, and what comes next."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ssvi.backends.base import Backend
from ssvi.batches import Sequences
from ssvi.local_steps.lds.exact import Exact
from ssvi.local_steps.lds.states import Prepared
from ssvi.models.lds import LDS, Dynamics
from ssvi.models.regressions import noise_root
from ssvi.numerics.random import derive_key, derive_keys
from ssvi.typing import Array

_PARAMETER_DRAWS = 100  # of a forecast: each has some of the paths


class States(NamedTuple):
    """States of each time point, one sequence after another, and what they say of the outputs.

    Attributes
    ----------
    states, covariances : (points, K), (points, K, K)
        Means and covariances of states.
    means, deviations : (points, D)
        Of what would be seen without noise: C z + D u + d.

    """

    states: Array
    covariances: Array
    means: Array
    deviations: Array


class Paths(NamedTuple):
    """What may come next.

    Attributes
    ----------
    means : (sequences, steps, D)
        At the point estimate.
    draws : (draws, sequences, steps, D)
        Each with parameters of its own.

    """

    means: Array
    draws: Array


def log_probabilities(model: LDS, views: Mapping[str, Array], data: Sequences, backend: Backend) -> Array:
    """Return log p of what is known of each sequence, at a view that is a draw or a mode."""
    result = backend.map_local(Exact(), model, views, data, derive_keys(0, len(data)))
    return result["log_probability"]


def smoothed(model: LDS, views: Mapping[str, Array], data: Sequences) -> States:
    """Return states given all of their sequence."""
    prepared = _prepared(model, views, data)
    factors, targets, _, _, _ = prepared.forward(0, len(data))
    states, _, covariances = prepared.back(0, len(data), factors, targets, whole=True)
    return _with_outputs(model.usual(views), states, covariances, prepared.inputs)


def filtered(model: LDS, views: Mapping[str, Array], data: Sequences) -> States:
    """Return states given their sequence up to each time point."""
    prepared = _prepared(model, views, data)
    _, _, _, covariances, states = prepared.forward(0, len(data), filtered=True)
    return _with_outputs(model.usual(views), states, covariances, prepared.inputs)


def forecast(
    model: LDS,
    parameters: Mapping[str, Array],
    data: Sequences,
    future_inputs: Array,
    n_draws: int,
    seed: int,
) -> Paths:
    """Return what may follow each sequence, future_inputs being (sequences, steps, U).

    The uncertainty of the parameters is in the draws: they come from q, a hundred different ones at most.
    """
    blocks = model.blocks()
    points = {name: block.family.mode_stats(parameters[name]) for name, block in blocks.items()}
    rng = np.random.default_rng(derive_key(seed, "forecast"))
    known, state, _ = _last_states(model, points, data)
    means = _follow(known, state, future_inputs, None)
    paths = []
    different = min(n_draws, _PARAMETER_DRAWS)
    for number in range(different):
        views = {}
        for name, block in blocks.items():
            keys = derive_keys(derive_key(seed, "forecast", name, number), len(parameters[name]))
            views[name] = block.family.draw(parameters[name], keys).stats
        known, state, roots = _last_states(model, views, data)
        for _ in range(number, n_draws, different):
            noise = np.einsum("nij,nj->ni", roots, rng.normal(size=state.shape))
            paths.append(_follow(known, state + noise, future_inputs, rng))
    return Paths(means, np.stack(paths))


def _prepared(model: LDS, views: Mapping[str, Array], data: Sequences) -> Prepared:
    step = Exact()
    step.check(data)
    return step.prepare(model, views, data)


def _with_outputs(known: Dynamics, states: Array, covariances: Array, inputs: Array) -> States:
    """Add what the states say of the outputs."""
    means = states @ known.loadings.T + inputs @ known.feedthrough.T + known.offset
    spread = np.einsum("dk,tkl,dl->td", known.loadings, covariances, known.loadings, optimize=True)
    return States(states, covariances, means, np.sqrt(np.maximum(spread, 0.0)))


def _last_states(model: LDS, views: Mapping[str, Array], data: Sequences) -> tuple[Dynamics, Array, Array]:
    """Return the parameters at a view, and means and roots of the covariances of each sequence's last state."""
    prepared = _prepared(model, views, data)
    factors, targets, _, _, _ = prepared.forward(0, len(data))
    last = prepared.indptr[1:] - 1
    roots = np.linalg.inv(np.tril(factors[last]))  # F = L L^T, and the covariance is L^-T L^-1
    covariances = np.swapaxes(roots, 1, 2) @ roots
    means = np.einsum("nij,nj->ni", covariances, targets[last])
    return model.usual(views), means, np.swapaxes(roots, 1, 2)


def _follow(known: Dynamics, states: Array, inputs: Array, rng: np.random.Generator | None) -> Array:
    """Go on from some states, with noise if there is an rng; return what is seen, sequences x steps x D."""
    steps = inputs.shape[1]
    seen = np.empty((len(states), steps, len(known.offset)))
    if rng is not None:
        move, see = noise_root(known.state_covariance), noise_root(known.noise)
    for t in range(steps):
        states = states @ known.transition.T + inputs[:, t] @ known.drive.T
        if rng is not None:
            states = states + rng.normal(size=states.shape) @ move.T
        seen[:, t] = states @ known.loadings.T + inputs[:, t] @ known.feedthrough.T + known.offset
        if rng is not None:
            seen[:, t] += rng.normal(size=seen[:, t].shape) @ see.T
    return seen
