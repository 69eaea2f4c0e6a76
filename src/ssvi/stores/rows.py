"""A block of which a minibatch touches some rows: whole distributions, the others of which are put off."""

from __future__ import annotations

import numpy as np

from ssvi.families.restricted import Statistics
from ssvi.global_steps.base import GlobalStep, View
from ssvi.local_steps.base import Part
from ssvi.models.base import Block
from ssvi.numerics.random import keys_of
from ssvi.stores.base import Chosen, Store, Update, moved_rows
from ssvi.stores.put_off import PutOff
from ssvi.tasks import Each, row_tasks
from ssvi.typing import Array


class RowStore(Store):
    """A block of any family, of which a step sees some rows, along its first axis.

    Rows are distributions apart from each other: one without statistics has nothing that SSVI could correct, and moves
    towards its prior whichever the global step is.
    """

    def __init__(self, block: Block, lam: Array, average: Array | None = None) -> None:
        self._block = block
        mean = None if average is None else np.array(average, order="C").reshape(len(lam), -1)
        self._rows = PutOff(np.array(lam, order="C").reshape(len(lam), -1), _flat(block.prior, block.shape), mean)
        self._chosen, self._current, self._view = np.arange(0), lam[:0], View(lam[:0])
        self._finite = True

    def view(self, global_step: GlobalStep, touched: Chosen | None, key: int, each: Each) -> Part:
        """Return the view of some rows; each row's draw is the same whatever else is touched."""
        shape = self._block.shape
        chosen = np.arange(shape[0]) if touched is None else touched
        self._chosen = chosen
        self._current = current = self._rows.gather(chosen, each).reshape(len(chosen), *shape[1:])
        rows_below = int(np.prod(shape[1:-1]))

        def view(task: slice) -> View:
            rows = chosen[task, None] * rows_below + np.arange(rows_below)
            return global_step.view(self._block.family, current[task], keys_of(key, rows.reshape(-1)))

        self._view = View.join(list(each(view, row_tasks(current.shape) or [slice(0, 0)])))
        return Part(chosen, self._view.stats, "rows")

    def advance(self, update: Update, eta_hat: Statistics) -> int:
        """Move the rows of the last view; put off the others."""
        prior = self._rows.prior[self._chosen].reshape(self._current.shape)

        def advance(task: slice) -> tuple[bool, int]:
            values, moved = moved_rows(
                self._block.family, update, prior[task], self._current[task], self._view.rows(task), eta_hat.of(task)
            )
            self._rows.write(self._chosen[task], values.reshape(len(values), -1), update.weight)
            return bool(np.isfinite(values).all()), moved

        results = list(update.each(advance, row_tasks(self._current.shape)))
        self._rows.remember(update.step_size, update.weight, self._chosen)
        self._finite = all(finite for finite, _ in results)
        return sum(moved for _, moved in results)

    def set_prior(self, prior: Array) -> None:
        """Take another eta."""
        self._rows.set_prior(_flat(prior, self._block.shape))

    def is_finite(self) -> bool:
        """Tell what was seen of the rows that the last step moved."""
        return self._finite

    def lam(self) -> Array:
        """Return a copy of lambda."""
        return self._rows.all().reshape(self._block.shape).copy()

    def average(self) -> Array | None:
        """Return a copy of the average."""
        average = self._rows.averages()
        return None if average is None else average.reshape(self._block.shape).copy()


def _flat(prior: Array, shape: tuple[int, ...]) -> Array:
    """Return eta as rows x anything, without a copy for each row where all have the same."""
    whole = np.broadcast_to(prior, shape)
    if whole.strides[0] == 0:
        return np.broadcast_to(np.ascontiguousarray(whole[:1]).reshape(1, -1), (shape[0], whole[0].size))
    return np.ascontiguousarray(whole).reshape(shape[0], -1)
