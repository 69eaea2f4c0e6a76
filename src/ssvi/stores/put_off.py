"""Rows of lambda that shrink towards their prior in every step, and do so when they are looked at.

A row without statistics moves to (1 - rho) lambda + rho eta. When it is looked at after some steps it goes through the
same multiplications in the same order as if it had never waited, so that the bits do not depend on when that is done.
"""

from __future__ import annotations

import numpy as np

from ssvi.numerics.compile import kernel
from ssvi.stores.base import Chosen
from ssvi.tasks import Each, row_tasks, run_all
from ssvi.typing import Array


@kernel
def _catch_up(
    lam: Array, average: Array, prior: Array, taken: Chosen, step_sizes: Array, weights: Array, rows: Chosen
) -> None:
    """Let some rows shrink towards the prior by all steps that they have not taken yet, and their average follow."""
    has_average = average.size > 0
    for row in rows:
        for number in range(taken[row], step_sizes.size):
            rho, weight = step_sizes[number], weights[number]
            for k in range(lam.shape[1]):
                lam[row, k] = (1.0 - rho) * lam[row, k] + rho * prior[row, k]
            if has_average:
                for k in range(lam.shape[1]):
                    average[row, k] += weight * (lam[row, k] - average[row, k])
        taken[row] = step_sizes.size


@kernel
def _write(lam: Array, average: Array, rows: Chosen, values: Array, weight: float) -> None:
    """Put values into some rows, and let their average follow."""
    has_average = average.size > 0
    for i in range(rows.size):
        own, new = lam[rows[i]], values[i]
        for k in range(own.size):
            own[k] = new[k]
        if has_average:
            mean = average[rows[i]]
            for k in range(own.size):
                mean[k] += weight * (new[k] - mean[k])


class PutOff:
    """Rows of lambda, each as it was when it was last looked at, and their average over the path if it is wanted.

    Parameters
    ----------
    lam : (rows, columns)
        lambda, which is kept and written to.
    prior : (rows, columns)
        eta of each.
    average : (rows, columns), optional
        The average so far, which is kept and written to.

    """

    def __init__(self, lam: Array, prior: Array, average: Array | None = None) -> None:
        self._lam, self.prior = lam, prior
        self._average = lam[:0] if average is None else average
        self._taken = np.zeros(len(lam), dtype=np.int64)
        self._step_sizes, self._weights, self._n_steps = np.empty(64), np.empty(64), 0

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self._lam.shape

    def look_at(self, rows: Chosen) -> Array:
        """Return a copy of some rows, brought up to date."""
        self._catch_up(rows)
        current: Array = self._lam[rows]
        return current

    def gather(self, rows: Chosen, each: Each) -> Array:
        """Return some rows, brought up to date by several workers: a copy, or the array itself if they are all."""
        everything = len(rows) == len(self._lam)
        out = self._lam if everything else np.empty((len(rows), self._lam.shape[1]))

        def gather(task: slice) -> None:
            if everything:
                self._catch_up(rows[task])
            else:
                out[task] = self.look_at(rows[task])

        run_all(each, gather, row_tasks(out.shape))
        return out

    def all(self) -> Array:
        """Return all rows, up to date: the array itself."""
        self._catch_up(np.arange(len(self._lam)))
        return self._lam

    def averages(self) -> Array | None:
        """Return the averages of all rows, up to date: the array itself."""
        self.all()
        return self._average if self._average.size else None

    def write(self, rows: Chosen, values: Array, weight: float) -> None:
        """Put some rows where the step that comes next in `remember` moves them; `weight` is that of their average."""
        _write(self._lam, self._average, rows, values, weight)

    def remember(self, step_size: float, weight: float, written: Chosen | slice) -> None:
        """Write down a step: some rows have taken it, and all others will have to catch up on it."""
        if self._n_steps == len(self._step_sizes):
            self._step_sizes = np.concatenate([self._step_sizes, np.empty_like(self._step_sizes)])
            self._weights = np.concatenate([self._weights, np.empty_like(self._weights)])
        self._step_sizes[self._n_steps], self._weights[self._n_steps] = step_size, weight
        self._n_steps += 1
        self._taken[written] = self._n_steps

    def set_prior(self, prior: Array) -> None:
        """Take another eta; the steps so far were under the old one."""
        self.all()
        self.prior = prior

    def _catch_up(self, rows: Chosen) -> None:
        sizes, weights = self._step_sizes[: self._n_steps], self._weights[: self._n_steps]
        _catch_up(self._lam, self._average, self.prior, self._taken, sizes, weights, rows)
