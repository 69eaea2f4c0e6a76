"""The mean-field local step of the hidden Markov model: a time point at a time, all others being given."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.checks import require_count, require_not_negative
from ssvi.local_steps.hmm.chains import Places, advance, copy, fill
from ssvi.local_steps.hmm.states import ChainStep, Prepared, Totals, add_up
from ssvi.local_steps.hmm.windows import Windows
from ssvi.local_steps.mixtures import normalise
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys
from ssvi.typing import Array


@dataclass(frozen=True)
class MeanField(ChainStep):
    """q(z) = prod_t q(z_t), by coordinate ascent: what breaks the chain, for comparison.

    Parameters
    ----------
    sweeps : int
        Sweeps over a sequence at most.
    tolerance : float
        Stop when no share of a state moves by more than this in a sweep.

    """

    sweeps: int = 100
    tolerance: float = 1e-4

    name = "mean_field"

    def __post_init__(self) -> None:
        require_count("sweeps", self.sweeps)
        require_not_negative("tolerance", self.tolerance)

    def _run_windows(
        self,
        prepared: Prepared,
        windows: Windows,
        keys: Keys,
        totals: Totals,
        places: npt.NDArray[np.int64],
        *,
        last: bool,
    ) -> npt.NDArray[np.bool_]:
        scores = prepared.emissions.scores(windows.values)
        log_start, log_transitions = prepared.chain.logs()
        shares, counts = np.zeros(scores.shape), np.zeros_like(totals.counts)
        totals.bound += ascend_windows(
            scores, log_start, log_transitions, np.ascontiguousarray(log_transitions.T), windows.places, windows.ends,
            self.sweeps, self.tolerance, shares, totals.start, counts,
        )  # fmt: skip
        totals.counts += counts / prepared.chain.transitions
        add_up(prepared, windows, shares, keys, totals, places, sampled=False)
        return np.ones(len(places), np.bool_)

    def _bound(self, bound: float) -> float:
        return bound


@kernel
def add(row: Array, other: Array) -> None:
    """Add to a row."""
    for k in range(row.size):
        row[k] += other[k]


@kernel
def ascend(
    scores: Array, log_start: Array, logs: Array, transposed: Array, begin: int, end: int, opens: bool,
    first_sweep: bool, shares: Array, room: Array,
) -> float:  # fmt: skip
    """Update each time point given its neighbours, from begin to end; return the largest move of a share.

    In the first sweep there is nothing yet after a time point.
    """
    size, moved = room.size, 0.0
    own = np.empty(size)
    for t in range(begin, end):
        copy(scores[t], own)
        if t > begin:
            advance(shares[t - 1], logs, room)
            add(own, room)
        elif opens:
            add(own, log_start)
        if t + 1 < end and not first_sweep:
            advance(shares[t + 1], transposed, room)
            add(own, room)
        normalise(own)
        for k in range(size):
            moved = max(moved, abs(own[k] - shares[t, k]))
            shares[t, k] = own[k]
    return moved


@kernel
def core_bound(
    scores: Array, log_start: Array, logs: Array, begin: int, first: int, last: int, opens: bool, shares: Array,
    room: Array, firsts: Array, counts: Array,
) -> float:  # fmt: skip
    """Return the ELBO's terms of a core, and add up its first state and transitions."""
    bound, size = 0.0, room.size
    for t in range(first, last):
        for k in range(size):
            if shares[t, k] > 0.0:
                bound += shares[t, k] * (scores[t, k] - math.log(shares[t, k]))
        if t > begin:
            advance(shares[t - 1], logs, room)
            for k in range(size):
                bound += shares[t, k] * room[k]
                for j in range(size):
                    counts[j, k] += shares[t - 1, j] * shares[t, k]
        elif opens:
            for k in range(size):
                bound += shares[t, k] * log_start[k]
                firsts[k] += shares[t, k]
    return bound


@kernel
def ascend_windows(
    scores: Array, log_start: Array, logs: Array, transposed: Array, places: Places, ends: Any, sweeps: int,
    tolerance: float, shares: Array, firsts: Array, counts: Array,
) -> float:  # fmt: skip
    """Ascend in each window; leave the shares of cores, and return the bound of all."""
    bound, room = 0.0, np.empty(log_start.size)
    for n in range(places.shape[0]):
        begin, first, last, end = places[n, 0], places[n, 1], places[n, 2], places[n, 3]
        if first >= last:
            continue
        for sweep in range(sweeps):
            moved = ascend(scores, log_start, logs, transposed, begin, end, ends[n, 0], sweep == 0, shares, room)
            if moved <= tolerance and sweep > 0:
                break
        bound += core_bound(scores, log_start, logs, begin, first, last, ends[n, 0], shares, room, firsts, counts)
        for t in range(begin, end):
            if t < first or t >= last:
                fill(shares[t], 0.0)
    return bound
