"""A block of which a minibatch touches some coordinates of all distributions: the words of the topics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ssvi.families.draws import Draw
from ssvi.families.restricted import Others, Restricted, Statistics, TargetFormulas
from ssvi.global_steps.base import GlobalStep, View
from ssvi.local_steps.base import Part
from ssvi.models.base import Block
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import derive_keys
from ssvi.stores.base import Chosen, Store, Update
from ssvi.stores.put_off import PutOff
from ssvi.tasks import Each, column_sums, row_tasks
from ssvi.typing import Array

LARGE = 50_000
"""Coordinates that are too many to keep a second copy of."""


@kernel
def _add_rows(values: Array, sums: Array) -> None:
    for row in range(values.shape[0]):
        for k in range(values.shape[1]):
            sums[k] += values[row, k]


@kernel
def _go_towards(current: Array, target: Array, step_size: float) -> None:
    """Fill `target` with (1 - rho) current + rho target."""
    for row in range(current.shape[0]):
        for k in range(current.shape[1]):
            target[row, k] = (1.0 - step_size) * current[row, k] + step_size * target[row, k]


@dataclass(frozen=True)
class Moved:
    """What is known of some coordinates that were moved.

    Attributes
    ----------
    sums : (K,)
        What they add up to.
    guarded : int
        How many were kept in the domain.

    """

    sums: Array
    guarded: int


class CoordinateStore(Store):
    """A block of rows of a family that can be `restricted`, held coordinate by coordinate.

    A global step is shown the coordinates that are touched, and what all others add up to. The others are put off,
    unless the step corrects draws as they are, which moves them too. A step with softened draws corrects what it has
    drawn, and of the others that is their sum only: looked at in the touched coordinates and that sum, a Dirichlet is a
    Dirichlet, with a natural gradient of its own.

    Parameters
    ----------
    block : Block
        The block, of shape (K, V).
    lam : (K, V)
        lambda.
    totals : (K,), optional
        The sums of lambda's rows that the fit which lambda comes from had kept up to date. They differ from what adding
        up gives, by rounding only; with them, a fit that is taken up again goes on bit for bit.
    average : (K, V), optional
        The average of lambda over the path so far, if it is to be kept.

    """

    def __init__(self, block: Block, lam: Array, totals: Array | None = None, average: Array | None = None) -> None:
        self._block = block
        mean = None if average is None else np.array(average.T, order="C")
        self._rows = PutOff(np.array(lam.T, order="C"), _by_coordinates(block.prior, block.shape), mean)
        self._totals = lam.sum(axis=1) if totals is None else totals
        self._prior_totals = np.ascontiguousarray(self._rows.prior.sum(axis=0))
        self._chosen, self._left_out = np.arange(0), np.arange(0)
        self._current, self._rest = lam.T[:0], self._totals
        self._others = Others(0, _looked_at(self._rows, self._left_out))
        self._family: Restricted = block.family.restricted(self._rest)
        self._view = View(lam.T[:0])

    @property
    def totals(self) -> Array:
        """The sums of lambda's rows."""
        return self._totals

    def view(self, global_step: GlobalStep, touched: Chosen | None, key: int, each: Each) -> Part:
        """Return the view of some coordinates."""
        size = self._rows.shape[0]
        chosen = np.arange(size) if touched is None else touched
        current = self._rows.gather(chosen, each)
        rest = np.zeros(len(self._totals))
        if len(chosen) < size:
            # Rounding of the totals must not leave the others with nothing.
            least = 1e-3 * (1.0 - len(chosen) / size) * self._prior_totals
            rest = np.maximum(self._totals - column_sums(current, each), least)
        self._touch(chosen, current, rest, each)
        keys = derive_keys(key, self._family.streams(current.shape))
        self._view = global_step.view(self._family, current, keys)
        return Part(chosen, self._view.stats)

    def advance(self, update: Update, eta_hat: Statistics) -> int:
        """Move the coordinates of the last view; put off the others, or move them too."""
        draw = self._view.draw
        if update.global_step.corrects and draw is not None and not draw.least:
            results = self._advance_all(update, eta_hat, draw)
            written: Chosen | slice = slice(None)
            rest = np.zeros_like(self._rest)
        else:
            families: list[TargetFormulas] = [self._block.family] * len(self._tasks())
            if update.global_step.corrects:
                assert draw is not None, "a step that corrects draws its view"
                families = self._corrections(eta_hat, draw, _sum_of(self._others, self._rest))[0]
            results = self._advance_chosen(update, eta_hat, families)
            written, rest = self._chosen, self._put_off(update)
        self._rows.remember(update.step_size, update.weight, written)
        self._totals = sum((part.sums for part in results), rest)
        self._others = Others(0, _looked_at(self._rows, self._left_out[:0]))  # the rows looked at are of the past
        return sum(part.guarded for part in results)

    def _put_off(self, update: Update) -> Array:
        """Return what the others add up to when they will have moved towards their prior."""
        if not self._others.count:
            return np.zeros_like(self._rest)
        eta = self._rows.prior
        # Mostly eta is the same for all words.
        chosen = eta[self._chosen].sum(axis=0) if eta.strides[0] else len(self._chosen) * eta[0]
        prior = self._prior_totals - chosen
        rest: Array = (1.0 - update.step_size) * self._rest + update.step_size * prior
        return rest

    def set_prior(self, prior: Array) -> None:
        """Take another eta."""
        self._rows.set_prior(_by_coordinates(prior, self._block.shape))
        self._prior_totals = np.ascontiguousarray(self._rows.prior.sum(axis=0))

    def is_finite(self) -> bool:
        """Look at the sums that the last step left."""
        return bool(np.isfinite(self._totals).all())

    def lam(self) -> Array:
        """Return a copy of lambda, rows of the block by coordinates."""
        return np.array(self._rows.all().T, order="C")  # also where there is one row, which lies as its transpose does

    def average(self) -> Array | None:
        """Return a copy of the average, rows of the block by coordinates."""
        average = self._rows.averages()
        return None if average is None else np.array(average.T, order="C")

    def _touch(self, chosen: Chosen, current: Array, rest: Array, each: Each) -> None:
        """Set what the step that begins is about."""
        left_out = np.ones(self._rows.shape[0], dtype=np.bool_)
        left_out[chosen] = False
        self._left_out = others = np.flatnonzero(left_out)
        self._others = Others(len(others), _looked_at(self._rows, others))
        self._chosen, self._current, self._rest = chosen, current, rest
        self._family = self._block.family.restricted(rest, each)

    def _tasks(self) -> list[slice]:
        return row_tasks(self._current.shape)

    def _corrections(
        self, eta_hat: Statistics, draw: Draw, others: Others
    ) -> tuple[list[TargetFormulas], TargetFormulas]:
        """Return the corrections of the chosen coordinates, task by task, and that of others."""
        correction = self._family.correction(self._current, draw, eta_hat, others)
        return [correction.of(task) for task in self._tasks()], correction.of_others()

    def _advance_all(self, update: Update, eta_hat: Statistics, draw: Draw) -> list[Moved]:
        """Move all coordinates: the chosen ones by their statistics, all by the correction."""
        families, family = self._corrections(eta_hat, draw, self._others)
        chosen = self._advance_chosen(update, eta_hat, families)

        def advance(task: slice) -> Moved:
            coordinates, current = self._left_out[task], self._others.lam(task)
            return self._move(update, family, coordinates, current, View(current, draw), np.zeros_like(current))

        return [*chosen, *update.each(advance, row_tasks((self._others.count, self._current.shape[1])))]

    def _advance_chosen(self, update: Update, eta_hat: Statistics, families: list[TargetFormulas]) -> list[Moved]:
        """Move the chosen coordinates, task by task."""
        draw, stats = self._view.draw, self._view.stats

        def advance(task_and_family: tuple[slice, TargetFormulas]) -> Moved:
            task, family = task_and_family
            view = View(stats[task], None if draw is None else replace(draw, stats=draw.stats[task]))
            return self._move(update, family, self._chosen[task], self._current[task], view, eta_hat.of(task))

        return list(update.each(advance, list(zip(self._tasks(), families, strict=True))))

    def _move(
        self, update: Update, family: TargetFormulas, coordinates: Chosen, current: Array, view: View, eta_hat: Array
    ) -> Moved:
        """Move some coordinates."""
        prior, guarded = self._rows.prior[coordinates], 0
        values = update.global_step.target(family, prior, current, view, eta_hat, update.clock)
        _go_towards(current, values, update.step_size)
        if update.global_step.corrects:
            guarded = self._family.project(values, current, prior)
        self._rows.write(coordinates, values, update.weight)
        sums = np.zeros(values.shape[1])
        _add_rows(values, sums)
        return Moved(sums, guarded)


def _sum_of(others: Others, rest: Array) -> Others:
    """Return the others as one coordinate, if there are any."""
    return Others(min(others.count, 1), lambda _: rest[None])


def _looked_at(rows: PutOff, chosen: Chosen) -> Callable[[slice], Array]:
    """Return a way to some rows, which are looked at once in a step, unless there are too many to keep.

    It knows what it needs, and not the store: a cycle would keep the store's arrays alive after the fit.
    """
    seen: dict[int, Array] = {}

    def look_at(task: slice) -> Array:
        if task.start in seen:
            return seen[task.start]
        found = rows.look_at(chosen[task])
        if len(chosen) < LARGE:
            seen[task.start] = found
        return found

    return look_at


def _by_coordinates(prior: Array, shape: tuple[int, ...]) -> Array:
    """Return eta as coordinates x rows of the block; where it is different everywhere, a copy that lies as lambda."""
    whole = np.broadcast_to(prior, shape).T
    return np.ascontiguousarray(whole) if whole.strides[1] and whole.strides[0] else whole
