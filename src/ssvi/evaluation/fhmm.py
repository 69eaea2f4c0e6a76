"""What a factorial hidden Markov model says of sequences, at a point estimate.

First states and transitions are at their means under q, and what is seen at the mode. Where the combinations of states
are few all of it is exact; else shares are those of structured mean-field, and log probabilities its lower bounds.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from ssvi.backends.base import Backend
from ssvi.backends.threads import Threads
from ssvi.batches import Sequences
from ssvi.local_steps.fhmm.exact import Exact
from ssvi.local_steps.fhmm.mean_field import MeanField
from ssvi.local_steps.fhmm.steps import joint_chain, run_chain
from ssvi.local_steps.hmm.chains import best_path
from ssvi.models.fhmm import FHMM
from ssvi.numerics.random import derive_keys
from ssvi.typing import Array

_ITERATIONS = 100


def is_small(model: FHMM) -> bool:
    """Tell whether there are few enough combinations of states for exact answers."""
    return bool(model.n_states**model.n_chains <= Exact().most)


def point_views(model: FHMM, parameters: Mapping[str, Array]) -> dict[str, Array]:
    """Return t at the means of first states and transitions, and at the mode of emissions."""
    family = model.blocks()["emissions"].family
    return {
        "start": np.log(model.mean_start(parameters)),
        "transitions": np.log(model.mean_transitions(parameters)),
        "emissions": family.mode_stats(parameters["emissions"]),
    }


def log_probabilities(
    model: FHMM, views: Mapping[str, Array], data: Sequences, *, backend: Backend | None = None
) -> Array:
    """Return log p of each sequence at a view that is a draw or a point, or the lower bound of mean-field."""
    step = Exact() if is_small(model) else MeanField(_ITERATIONS)
    found = (backend or Threads()).map_local(step, model, views, data, derive_keys(0, len(data)))
    return found["log_probability"]


def smoothed(model: FHMM, views: Mapping[str, Array], data: Sequences) -> Array:
    """Return the shares of states of each chain given all of a sequence, rows x M x K."""
    if not is_small(model):
        step = MeanField(_ITERATIONS)
        return step.settle(model, step.prepare(model, views, data), 0, len(data)).shares
    exact = Exact()
    prepared, joint = exact.prepare(model, views, data), model.joint_states()
    cuts, first, last = prepared.cuts(0, len(data))
    shares = run_chain(prepared.chains[0], prepared.sums.of_joint(first, last, joint), cuts).shares
    result: Array = (shares @ model.indicators(joint)).reshape(len(shares), model.n_chains, model.n_states)
    return result


def best_paths(model: FHMM, views: Mapping[str, Array], data: Sequences) -> tuple[Array, npt.NDArray[np.int64]]:
    """Return log p of each sequence with its most probable path, and the paths, rows x M.

    With many combinations the path has the most probable state of each time point.
    """
    prepared = MeanField().prepare(model, views, data)
    cuts, first, last = prepared.cuts(0, len(data))
    if not is_small(model):
        path = smoothed(model, views, data).argmax(axis=2)
        shares = np.eye(model.n_states)[path]
        return _log_joint(model, views, path, prepared.sums.expected(first, last, shares), cuts), path
    joint, chain = model.joint_states(), joint_chain(model, views)
    scores = prepared.sums.of_joint(first, last, joint)
    logs, places = np.zeros(len(data)), np.empty(last - first, np.int64)
    for n in range(len(data)):
        if cuts[n + 1] > cuts[n]:
            own = slice(int(cuts[n]), int(cuts[n + 1]))
            logs[n] = best_path(np.ascontiguousarray(scores[own]), *chain.logs(), places[own])
    return logs, joint[places]


def held_out_score(
    model: FHMM, sequences: Sequences, *, backend: Backend | None = None
) -> Callable[[Mapping[str, Array]], float]:
    """Return what gives the mean log probability of a time point of some sequences, at a lambda."""

    def score(parameters: Mapping[str, Array]) -> float:
        logs = log_probabilities(model, point_views(model, parameters), sequences, backend=backend)
        return float(logs.sum() / len(sequences.values))

    return score


def _log_joint(
    model: FHMM, views: Mapping[str, Array], path: npt.NDArray[np.int64], seen: Array, cuts: npt.NDArray[np.int64]
) -> Array:
    """Return log p of each sequence and its path."""
    chains = np.arange(model.n_chains)
    logs = np.array(seen)
    logs[1:] += views["transitions"][chains, path[:-1], path[1:]].sum(axis=1)
    heads = cuts[:-1]
    later = heads[heads > 0]
    logs[later] -= views["transitions"][chains, path[later - 1], path[later]].sum(axis=1)
    logs[heads] += views["start"][chains, path[heads]].sum(axis=1)
    result: Array = np.add.reduceat(logs, heads)
    return result
