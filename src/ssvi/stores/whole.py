"""A block that every step sees and moves whole."""

from __future__ import annotations

import numpy as np

from ssvi.families.restricted import Statistics
from ssvi.global_steps.base import GlobalStep, View
from ssvi.models.base import Block
from ssvi.numerics.random import derive_keys
from ssvi.stores.base import Chosen, Store, Update, moved_rows
from ssvi.tasks import Each, row_tasks
from ssvi.typing import Array


class WholeStore(Store):
    """A block of any shape, cut into runs of rows."""

    def __init__(self, block: Block, lam: Array, average: Array | None = None) -> None:
        self._block, self._lam, self._average = block, lam, average
        self._prior = np.broadcast_to(block.prior, block.shape)
        self._view = View(lam)

    def view(self, global_step: GlobalStep, touched: Chosen | None, key: int, each: Each) -> Array:
        """Return the view of the whole block, drawn row by row."""
        lam, shape = self._lam, self._block.shape
        rows_below = int(np.prod(shape[1:-1]))
        keys = derive_keys(key, shape[0] * rows_below)

        def view(rows: slice) -> View:
            own = keys[rows.start * rows_below : rows.stop * rows_below]
            return global_step.view(self._block.family, lam[rows], own)

        self._view = View.join(list(each(view, row_tasks(shape))))
        return self._view.stats

    def advance(self, update: Update, eta_hat: Statistics) -> int:
        """Move every row."""
        lam, updated = self._lam, np.empty_like(self._lam)

        def advance(rows: slice) -> int:
            updated[rows], moved = moved_rows(
                self._block.family, update, self._prior[rows], lam[rows], self._view.rows(rows), eta_hat.of(rows)
            )
            return moved

        guarded = sum(update.each(advance, row_tasks(lam.shape)))
        self._lam = updated
        if self._average is not None:
            self._average = self._average + update.weight * (updated - self._average)
        return guarded

    def set_prior(self, prior: Array) -> None:
        """Take another eta."""
        self._prior = np.broadcast_to(prior, self._block.shape)

    def is_finite(self) -> bool:
        """Look at the sum, which clears almost every lambda in a quarter of the time, and at all if need be."""
        return bool(np.isfinite(self._lam.sum()) or np.isfinite(self._lam).all())

    def lam(self) -> Array:
        """Return lambda."""
        return self._lam

    def average(self) -> Array | None:
        """Return the average."""
        return self._average
