"""Forward-backward and whole fits of hidden Markov models beside hmmlearn: the same data, in one process, in turns.

python -m benchmarks.hmm_speed [--states 5 20 100] [--sequences 40] [--threads 2]

Ours runs on so many threads, hmmlearn on the one that it has. Seconds are medians of wall-clock times, taken in turns,
so that a busy machine slows both; what matters is their ratio.
"""

from __future__ import annotations

import argparse
import logging
import warnings
from typing import Any

import numpy as np

from benchmarks.common import in_turns
from ssvi import HiddenMarkovModel
from ssvi.backends import Threads
from ssvi.batches import Sequences
from ssvi.local_steps.hmm.exact import Exact
from ssvi.models.emissions import GaussianEmission
from ssvi.models.hmm import HMM
from ssvi.numerics.random import derive_keys

_COLUMNS, _LENGTH, _TURNS, _STEPS = 4, 250, 5, 10


def simulated(states: int, sequences: int) -> tuple[HMM, dict[str, Any], Sequences]:
    """Return a model, its parameters and some sequences."""
    model = HMM(states, GaussianEmission(_COLUMNS, states, "diag"), 1.0, 1.0, 3.0)
    values, data = model.simulate(np.random.default_rng(0), sequences, lengths=np.full(sequences, _LENGTH))
    return model, values, data


def peer(states: int, data: Sequences, implementation: str, *, begun: bool = False) -> Any:
    """Return hmmlearn's model, perhaps begun as it begins a fit."""
    from hmmlearn.hmm import GaussianHMM

    model = GaussianHMM(
        states, covariance_type="diag", n_iter=_STEPS, tol=-np.inf, implementation=implementation, random_state=0
    )
    if begun:
        model._init(data.values, data.costs())
        model._check()
    return model


def measure(states: int, sequences: int, threads: int) -> list[list[str]]:
    """Return a line for forward-backward, and one for whole fits of ten iterations."""
    model, values, data = simulated(states, sequences)
    views, keys, lengths = model.statistics_of(values), derive_keys(0, len(data)), data.costs()
    lines = []
    with Threads(threads) as backend, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        scaling, logs = (peer(states, data, name, begun=True) for name in ("scaling", "log"))
        backend.map_reduce(Exact(), model, views, data, keys)  # which compiles
        seconds = in_turns([
            lambda: backend.map_reduce(Exact(), model, views, data, keys),
            lambda: scaling.score_samples(data.values, lengths),
            lambda: logs.score_samples(data.values, lengths),
        ], _TURNS)  # fmt: skip
        lines.append(_line(f"{states} states, forward-backward", seconds))
        ours = HiddenMarkovModel(
            states, covariance_type="diag", global_step="mean_field", learning_method="batch", max_iter=_STEPS, tol=0.0,
            n_init=1, n_jobs=threads, random_state=0,
        )  # fmt: skip
        ours.fit(data.values, lengths)
        seconds = in_turns([
            lambda: ours.fit(data.values, lengths),
            lambda: peer(states, data, "scaling").fit(data.values, lengths),
            lambda: peer(states, data, "log").fit(data.values, lengths),
        ], _TURNS)  # fmt: skip
        lines.append(_line(f"{states} states, fit of {_STEPS} passes", seconds))
    return lines


def _line(what: str, seconds: list[float]) -> list[str]:
    ours, scaling, logs = seconds
    return [what, f"{ours:.3f}", f"{scaling:.3f}", f"{logs:.3f}", f"{scaling / ours:.1f}", f"{logs / ours:.1f}"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--states", type=int, nargs="+", default=[5, 20, 100])
    parser.add_argument("--sequences", type=int, default=40)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    logging.getLogger("hmmlearn").setLevel(logging.ERROR)  # that it has not settled, once a fit
    size = f"{options.sequences} sequences of {_LENGTH} time points x {_COLUMNS}"
    print(f"{size}, {options.threads} threads; median seconds")
    headings = ["", "ssvi", "hmmlearn (scaling)", "hmmlearn (log, its default)", "ratio", "ratio"]
    print(" | ".join(headings))
    for states in options.states:
        for line in measure(states, options.sequences, options.threads):
            print(" | ".join(line), flush=True)


if __name__ == "__main__":
    main()
