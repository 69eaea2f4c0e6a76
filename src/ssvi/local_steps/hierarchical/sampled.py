"""Gibbs sampling of a group's effects where its rows are successes out of trials.

With one more variable a row the group is one whose rows are Gaussian (see `group`): omega_i ~ Polya-Gamma(n_i, eta_i)
for logistic regression (Polson, Scott and Windle 2013), a normal number above or below 0 for each trial of a probit
one (Albert and Chib 1993). Sweeps draw these given b and b given these, from a draw near the mode on. Statistics are
averages over the sweeps that are kept, with b integrated out.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssvi.checks import require_count
from ssvi.local_steps.base import LocalResult
from ssvi.local_steps.hierarchical.approximate import find_mode
from ssvi.local_steps.hierarchical.base import HierarchicalStep, Prepared
from ssvi.local_steps.hierarchical.group import (
    Rows,
    Seen,
    Sums,
    Work,
    add_coefficients,
    add_scatter,
    draw_effects,
    factor,
    set_moments,
    set_predictors,
    solve,
    spread_of,
)
from ssvi.local_steps.hierarchical.links import LOGIT
from ssvi.models.hierarchical.base import HierarchicalRegression
from ssvi.numerics.compile import kernel
from ssvi.numerics.normal_tail import normal_above
from ssvi.numerics.polya_gamma import polya_gamma
from ssvi.numerics.random import Keys
from ssvi.typing import Array

_FIRST: Any = np.int64(8)  # Newton's steps before the first draw; no literal, for which numba compiles once more


@kernel
def draw_rows(
    rows: Rows, first: int, last: int, seen: Seen, link: int, work: Work, state: np.uint64
) -> np.uint64:  # fmt: skip
    """Fill in omega and k of a group's rows given their eta; return the state that follows."""
    for i in range(first, last):
        eta, y, n = work.eta[i - first], rows.outputs[i], rows.weights[i]
        if link == LOGIT:
            tilt = math.sqrt(eta * eta + spread_of(rows.inputs, i, seen, work))
            work.omega[i - first], state = polya_gamma(int(n), tilt, state)
            work.k[i - first] = y - 0.5 * n
        else:
            total = 0.0
            for _ in range(int(y)):
                value, state = normal_above(-eta, state)
                total += eta + value
            for _ in range(int(n) - int(y)):
                value, state = normal_above(eta, state)
                total += eta - value
            work.omega[i - first], work.k[i - first] = n, total
    return state


@kernel
def sampled_groups(
    rows: Rows, start: int, stop: int, seen: Seen, link: int, sweeps: int, kept: int, keys: Keys, work: Work,
    sums: Sums, effects: Array, covariances: Array, gains: Array,
) -> None:  # fmt: skip
    """Handle some groups."""
    share = 1.0 / kept
    for n in range(start, stop):
        first, last, state = rows.indptr[n], rows.indptr[n + 1], keys[n - start]
        find_mode(rows, first, last, seen, link, _FIRST, work)
        state = draw_effects(work, state)
        for sweep in range(sweeps):
            set_predictors(rows.inputs, first, last, seen, work.drawn, work)
            state = draw_rows(rows, first, last, seen, link, work, state)
            set_moments(rows.inputs, first, last, work)
            factor(seen, work)
            solve(seen, work)
            state = draw_effects(work, state)
            if sweep >= sweeps - kept:
                add_coefficients(seen, work, share, sums)
                add_scatter(seen, work, work.mean, False, share, sums)
                effects[n - start] += share * work.mean
                gains[n - start] += share * work.gain
                for i in range(work.mean.size):
                    for j in range(work.mean.size):
                        square = work.covariance[i, j] + work.mean[i] * work.mean[j]
                        covariances[n - start, i, j] += share * square
        for i in range(work.mean.size):
            for j in range(work.mean.size):
                covariances[n - start, i, j] -= effects[n - start, i] * effects[n - start, j]


@dataclass(frozen=True)
class SampledStep(HierarchicalStep):
    """Effects of groups by Gibbs sampling.

    Parameters
    ----------
    sweeps : int
        Sweeps in all, from a draw near the mode on.
    kept : int
        How many of them, the last, statistics are averaged over.

    """

    sweeps: int = 5
    kept: int = 3

    name = "gibbs"

    @property
    @abstractmethod
    def link(self) -> int:
        """How probabilities follow from eta; see `links`."""

    def __post_init__(self) -> None:
        require_count("sweeps", self.sweeps)
        require_count("kept", self.kept)
        if self.kept > self.sweeps:
            raise ValueError(f"kept must be at most the number of sweeps ({self.sweeps}), not {self.kept!r}.")

    def run(self, model: HierarchicalRegression, prepared: Prepared, start: int, stop: int, keys: Keys) -> LocalResult:
        """Handle groups start, ..., stop - 1."""
        found = self.room(model, prepared, start, stop)
        sampled_groups(
            prepared.rows, start, stop, prepared.seen, self.link, self.sweeps, self.kept, keys, found.work, found.sums,
            found.effects, found.covariances, found.gains,
        )  # fmt: skip
        return self.result(model, found)
