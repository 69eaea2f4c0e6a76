"""What a hidden Markov model says of sequences, as q has it: log probabilities, shares of states, most probable paths.

First states and transitions are at their means under q, and a time point has the posterior predictive distribution of
each state, E_q[p(x_t | z_t)]: what q does not know of a state makes it wide. So all of it is one hidden Markov model,
whose probabilities add up to 1.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt

from ssvi.backends.base import Backend
from ssvi.backends.shards import shards_of
from ssvi.backends.threads import Threads
from ssvi.batches import Sequences, Subchains
from ssvi.local_steps.hmm.chains import best_path, smooth_windows
from ssvi.local_steps.hmm.exact import Exact
from ssvi.local_steps.hmm.states import core_rows, shifted
from ssvi.local_steps.hmm.views import ChainView
from ssvi.local_steps.hmm.windows import Windows, windows_of
from ssvi.models.emissions.base import Scores
from ssvi.models.hmm import HMM
from ssvi.typing import Array

_REACH = 256  # of subchains, beyond their cores


def mean_chain(model: HMM, parameters: Mapping[str, Array]) -> ChainView:
    """Return the chain at its means under q."""
    start, transitions = model.mean_start(parameters), model.mean_transitions(parameters)
    return ChainView.of({"start": np.log(start)[None], "transitions": np.log(transitions)})


def log_predictive(
    model: HMM, parameters: Mapping[str, Array], batch: Sequences | Subchains, *, backend: Backend | None = None
) -> Array:
    """Return the log probability of each time point given those before it in its sequence, row after row."""
    chain, scores = mean_chain(model, parameters), model.emission.predictive(parameters)

    def run(shard: slice) -> Array:
        windows = windows_of(batch, shard.start, shard.stop, _REACH)
        return _smoothed(chain, scores, windows)[1][core_rows(windows)]

    return np.concatenate(list((backend or Threads()).workers.map(run, shards_of(Exact(), batch.costs()))))


def smoothed(
    model: HMM, parameters: Mapping[str, Array], sequences: Sequences, *, backend: Backend | None = None
) -> Array:
    """Return p(z_t = k | all of its sequence) of each time point, rows x K."""
    chain, scores = mean_chain(model, parameters), model.emission.predictive(parameters)

    def run(shard: slice) -> Array:
        return _smoothed(chain, scores, windows_of(sequences, shard.start, shard.stop))[0]

    return np.concatenate(list((backend or Threads()).workers.map(run, shards_of(Exact(), sequences.costs()))))


def _smoothed(chain: ChainView, scores: Scores, windows: Windows) -> tuple[Array, Array]:
    """Return shares of states, and log p of each time point given those before it."""
    emitted, shifts = shifted(scores(windows.values))
    size = len(chain.start)
    shares, expected = np.empty(emitted.shape), np.ones(len(emitted))
    firsts, counts, settled = np.zeros(size), np.zeros((size, size)), np.empty(len(windows.places), np.bool_)
    smooth_windows(
        emitted, shares, expected, chain.start, chain.transitions, chain.transposed, windows.places, windows.ends,
        np.zeros(len(windows.places), np.uint64), False, np.inf, firsts, counts, settled,
    )  # fmt: skip
    logs = np.log(expected) + shifts + chain.shift
    begins = windows.places[windows.ends[:, 0] & (windows.places[:, 3] > windows.places[:, 0]), 0]
    logs[begins] += chain.start_shift - chain.shift
    return shares, logs


def best_paths(
    model: HMM, parameters: Mapping[str, Array], sequences: Sequences, *, backend: Backend | None = None
) -> tuple[Array, npt.NDArray[np.int64]]:
    """Return log p of each sequence with its most probable path, and the states of all these paths, row after row."""
    log_start, log_transitions = mean_chain(model, parameters).logs()
    scores = model.emission.predictive(parameters)

    def run(shard: slice) -> tuple[Array, npt.NDArray[np.int64]]:
        windows = windows_of(sequences, shard.start, shard.stop)
        return paths_of(scores(windows.values), windows, log_start, log_transitions)

    parts = list((backend or Threads()).workers.map(run, shards_of(Exact(), sequences.costs())))
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def paths_of(
    scores: Array, windows: Windows, log_start: Array, log_transitions: Array
) -> tuple[Array, npt.NDArray[np.int64]]:
    """Return the log probability of the most probable path of each window, and these paths."""
    path, logs = np.empty(len(scores), np.int64), np.zeros(len(windows.places))
    for n, (begin, _, _, end) in enumerate(windows.places):
        if end > begin:
            logs[n] = best_path(scores[begin:end], log_start, log_transitions, path[begin:end])
    return logs, path


def log_probabilities(
    model: HMM, views: Mapping[str, Array], sequences: Sequences, *, backend: Backend | None = None
) -> Array:
    """Return log p of each sequence at some parameters, given t of them."""
    chain, scores = ChainView.of(views), model.emission.tables(views).scores

    def run(shard: slice) -> Array:
        windows = windows_of(sequences, shard.start, shard.stop)
        sums = np.concatenate([[0.0], np.cumsum(_smoothed(chain, scores, windows)[1])])
        result: Array = sums[windows.places[:, 3]] - sums[windows.places[:, 0]]
        return result

    return np.concatenate(list((backend or Threads()).workers.map(run, shards_of(Exact(), sequences.costs()))))
