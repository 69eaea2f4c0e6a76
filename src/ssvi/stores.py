"""How lambda of a block is held while a fit runs: what a step of the engine does to one block.

A `WholeStore` sees and moves all of a block in every step. A `ColumnStore` is for blocks of which a minibatch touches
some columns only (topics, of which a minibatch has some words). The others just shrink towards their prior, and that is
put off until somebody looks at them: then they catch up, by the same multiplications in the same order that they would
have gone through at once, so that the bits do not depend on when it is done.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.backends.base import Backend
from ssvi.families.base import floor
from ssvi.families.dirichlet_columns import Columns, Statistics
from ssvi.global_steps.base import Clock, GlobalStep, View
from ssvi.local_steps.base import Part
from ssvi.models.base import Block
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import derive_keys
from ssvi.tasks import row_tasks, run_all
from ssvi.typing import Array

Counts = npt.NDArray[Any]


class Store(ABC):
    """One block of a fit: asked for its view, then told eta-hat."""

    @abstractmethod
    def view(self, step: GlobalStep, columns: npt.NDArray[np.int64] | None, key: int, backend: Backend) -> Array | Part:
        """Return what the local step sees, for all of the block or for some columns."""

    @abstractmethod
    def advance(
        self, step: GlobalStep, eta_hat: Counts, scale: float, step_size: float, clock: Clock, backend: Backend
    ) -> int:
        """Move lambda to (1 - rho) lambda + rho target, kept in the domain; return how many coordinates that moved.

        eta_hat, times `scale`, is of the columns that the last view was of.
        """

    @abstractmethod
    def is_finite(self) -> bool:
        """Tell whether the last step left nothing but finite numbers."""

    @abstractmethod
    def lam(self) -> Array:
        """Return lambda, as an array that later steps leave alone."""


class WholeStore(Store):
    """A block of any shape, cut into runs of rows."""

    def __init__(self, block: Block, lam: Array) -> None:
        self._block, self._lam = block, lam
        self._view = View(lam)

    def view(self, step: GlobalStep, columns: Any, key: int, backend: Backend) -> Array:
        """Return the view of the whole block, drawn row by row."""
        lam, shape = self._lam, self._block.shape
        rows_below = int(np.prod(shape[1:-1]))
        keys = derive_keys(key, shape[0] * rows_below)

        def view(rows: slice) -> View:
            return step.view(self._block.family, lam[rows], keys[rows.start * rows_below : rows.stop * rows_below])

        self._view = View.join(backend.each(view, row_tasks(shape)))
        return self._view.stats

    def advance(
        self, step: GlobalStep, eta_hat: Counts, scale: float, step_size: float, clock: Clock, backend: Backend
    ) -> int:
        """Move every row."""
        lam, block = self._lam, self._block
        updated, eta_hat = np.empty_like(lam), eta_hat * scale

        def advance(rows: slice) -> int:
            prior, current = block.prior_rows(rows), lam[rows]
            target = step.target(block.family, prior, current, self._view.rows(rows), eta_hat[rows], clock)
            candidate = (1.0 - step_size) * current + step_size * target
            if not step.leaves_domain:
                updated[rows] = candidate
                return 0
            updated[rows], moved = block.family.project(candidate, current, prior)
            return moved

        guarded = sum(backend.each(advance, row_tasks(block.shape)))
        self._lam = updated
        return guarded

    def is_finite(self) -> bool:
        """Look at the sum, which clears almost every lambda in a quarter of the time, and at all if need be."""
        return bool(np.isfinite(self._lam.sum()) or np.isfinite(self._lam).all())

    def lam(self) -> Array:
        """Return lambda."""
        return self._lam


@kernel
def _catch_up(
    lam: Array,
    prior: Array,
    taken: npt.NDArray[np.int64],
    step_sizes: Array,
    columns: npt.NDArray[np.int64],
) -> None:
    """Let some columns shrink towards the prior by all steps that they have not taken yet."""
    for column in columns:
        for number in range(taken[column], step_sizes.size):
            rho = step_sizes[number]
            for k in range(lam.shape[1]):
                lam[column, k] = (1.0 - rho) * lam[column, k] + rho * prior[column, k]
        taken[column] = step_sizes.size


@kernel
def _move(
    lam: Array,
    columns: npt.NDArray[np.int64],
    current: Array,
    target: Array,
    prior: Array,
    step_size: float,
    guard: bool,
    sums: Array,
) -> int:
    """Move some columns of lambda and add up where they end; return how many coordinates the guard held back."""
    held = 0
    for i in range(columns.size):
        row = lam[columns[i]]
        for k in range(row.size):
            value = (1.0 - step_size) * current[i, k] + step_size * target[i, k]
            if guard:
                lowest = floor(current[i, k], prior[i, k])
                held += int(value < lowest)
                value = max(value, lowest) if value == value else value  # the engine looks for NaN
            row[k] = value
        for k in range(row.size):
            sums[k] += row[k]
    return held


class ColumnStore(Store):
    """A block of rows of Dirichlet distributions, held column by column.

    Parameters
    ----------
    block : Block
        The block, of shape (K, V).
    lam : (K, V)
        lambda.
    totals : (K,), optional
        The sums of lambda's rows that the fit which lambda comes from had kept up to date. It differs from what adding
        up gives, by rounding only; with it, a fit that is taken up again goes on bit for bit.

    """

    def __init__(self, block: Block, lam: Array, totals: Array | None = None) -> None:
        self._block = block
        self._lam = np.array(lam.T, order="C")
        self._prior = np.broadcast_to(block.prior, block.shape).T
        self.totals = self._lam.sum(axis=0) if totals is None else totals
        self._prior_totals = np.ascontiguousarray(self._prior.sum(axis=0))
        self._taken = np.zeros(len(self._lam), dtype=np.int64)
        self._step_sizes = np.empty(64)
        self._n_steps = 0
        self._left_out = np.arange(0)
        self._chosen = self._choose(np.arange(len(self._lam)), self._lam, np.zeros(len(self.totals)))
        self._view = View(self._lam)

    def view(self, step: GlobalStep, columns: npt.NDArray[np.int64] | None, key: int, backend: Backend) -> Part:
        """Return the view of some columns, or of all for a step that has to see all."""
        if step.sees_everything or columns is None:
            columns = np.arange(len(self._lam))
        current = self._gather(columns, backend)
        left_out = len(self._lam) - len(columns)
        rest = np.zeros(len(self.totals))
        if left_out:
            # Rounding of the totals must not leave the others with nothing.
            least = 1e-3 * left_out / len(self._lam) * self._prior_totals
            rest = np.maximum(self.totals - current.sum(axis=0), least)
        self._chosen = self._choose(columns, current, rest)
        keys = derive_keys(key, len(row_tasks(current.shape)) + 1)
        self._view = step.view_columns(self._block.family, self._chosen, keys, backend.each)
        return Part(columns, self._view.stats)

    def advance(
        self, step: GlobalStep, eta_hat: Counts, scale: float, step_size: float, clock: Clock, backend: Backend
    ) -> int:
        """Move the columns of the last view; put off the others."""
        lam, chosen, family = self._lam, self._chosen, self._block.family
        targets = step.target_columns(family, chosen, self._view, Statistics(eta_hat, scale), clock, backend.each)

        def move(columns: npt.NDArray[np.int64], current: Array, target: Array, prior: Array) -> tuple[Array, int]:
            sums = np.zeros(lam.shape[1])
            return sums, _move(lam, columns, current, target, prior, step_size, step.leaves_domain, sums)

        def advance(task: slice) -> tuple[Array, int]:
            return move(chosen.columns[task], chosen.lam[task], targets.chosen(task), chosen.prior_of(task))

        def advance_others(task: slice) -> tuple[Array, int]:
            assert targets.others is not None
            columns, current = self._left_out[task], chosen.others(task)
            prior = self._prior[columns]
            return move(columns, current, targets.others(current, prior), prior)

        results = backend.each(advance, row_tasks(chosen.lam.shape))
        rest = np.zeros_like(chosen.rest)
        if targets.others is not None:
            results += backend.each(advance_others, row_tasks((chosen.n_others, lam.shape[1])))
        elif chosen.n_others:
            prior = self._prior_totals - self._prior[chosen.columns].sum(axis=0)
            rest = (1.0 - step_size) * chosen.rest + step_size * prior
        self._remember(step_size)
        self._taken[slice(None) if targets.others is not None else chosen.columns] = self._n_steps
        self.totals = sum((part for part, _ in results), rest)
        return sum(moved for _, moved in results)

    def is_finite(self) -> bool:
        """Look at the sums that the last step left."""
        return bool(np.isfinite(self.totals).all())

    def lam(self) -> Array:
        """Return a copy of lambda, rows of the block by columns."""
        every = np.arange(len(self._lam))
        _catch_up(self._lam, self._prior, self._taken, self._step_sizes[: self._n_steps], every)
        return np.array(self._lam.T, order="C")  # also where there is one row, which lies as its transpose does

    def _gather(self, columns: npt.NDArray[np.int64], backend: Backend) -> Array:
        """Return some columns' lambda, a row each, brought up to date."""
        everything = len(columns) == len(self._lam)
        out = self._lam if everything else np.empty((len(columns), self._lam.shape[1]))
        step_sizes = self._step_sizes[: self._n_steps]

        def gather(task: slice) -> None:
            _catch_up(self._lam, self._prior, self._taken, step_sizes, columns[task])
            if not everything:
                out[task] = self._lam[columns[task]]

        run_all(backend.each, gather, row_tasks(out.shape))
        return out

    def _choose(self, columns: npt.NDArray[np.int64], current: Array, rest: Array) -> Columns:
        """Return some columns for a global step, with a way to all others."""
        is_left_out = np.ones(len(self._lam), dtype=np.bool_)
        is_left_out[columns] = False
        self._left_out = left_out = np.flatnonzero(is_left_out)
        # What the function needs, and not this store itself: a cycle would keep its arrays alive after the fit.
        lam, prior, taken, step_sizes = self._lam, self._prior, self._taken, self._step_sizes[: self._n_steps]

        def others(task: slice) -> Array:
            _catch_up(lam, prior, taken, step_sizes, left_out[task])
            return lam[left_out[task]]

        return Columns(columns, current, rest, self._prior, others, len(left_out))

    def _remember(self, step_size: float) -> None:
        """Write down a step that columns may have to catch up on."""
        if self._n_steps == len(self._step_sizes):
            self._step_sizes = np.concatenate([self._step_sizes, np.empty_like(self._step_sizes)])
        self._step_sizes[self._n_steps] = step_size
        self._n_steps += 1


def make_store(block: Block, lam: Array, totals: Array | None, *, by_columns: bool) -> Store:
    """Return a store of a block."""
    return ColumnStore(block, lam, totals) if by_columns else WholeStore(block, lam)
