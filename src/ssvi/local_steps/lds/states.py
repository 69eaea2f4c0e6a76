"""What the local steps of the linear dynamical system share: states expected or drawn, and their statistics."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ssvi.batches import Sequences
from ssvi.families.matrix_normal_wishart import RegressionStatistics
from ssvi.local_steps.base import LocalResult, LocalStep
from ssvi.local_steps.lds.chain import Moves, draw_back, pass_back, pass_forward
from ssvi.local_steps.linear_emissions import Emissions, Potentials
from ssvi.models.lds import LDS
from ssvi.models.regressions import Regression, RegressionSums, RegressionView
from ssvi.numerics.random import Keys, scramble_array
from ssvi.tasks import Each
from ssvi.typing import Array

_LOG_TWO_PI = math.log(2.0 * math.pi)
_MISSING_DRAWS = np.uint64(0x6D697373)  # tells the stream of missing entries from that of states


class Sums(NamedTuple):
    """Sums of covariances over states; see `chain.pass_back`."""

    by_pattern: Array
    crossed: Array
    heads: Array
    tails: Array


@dataclass(frozen=True)
class Prepared:
    """A minibatch, and the views in the form that the chain's passes want.

    Attributes
    ----------
    indptr : (sequences + 1,) integers
        The cuts between sequences, from 0.
    inputs : (rows, U)
        u.
    emissions, potentials
        What is seen of states.
    start, start_linear : (K, K), (K,)
        What is known of a first state.
    moves : Moves
        The dynamics.
    pushed, drawn : (rows, K)
        What inputs add to a state's linear term, and to that of the state before.
    views : (first, dynamics)
        The views of the other blocks.

    """

    indptr: npt.NDArray[np.int64]
    inputs: Array
    emissions: Emissions
    potentials: Potentials
    start: Array
    start_linear: Array
    moves: Moves
    pushed: Array
    drawn: Array
    views: tuple[RegressionStatistics, RegressionView]

    def cuts(self, start: int, stop: int) -> tuple[npt.NDArray[np.int64], int, int]:
        """Return the cuts of some sequences, their first row and the one after their last."""
        indptr = self.indptr[start : stop + 1]
        return indptr, int(indptr[0]), int(indptr[-1])

    def forward(self, start: int, stop: int, *, filtered: bool = False) -> tuple[Array, ...]:
        """Return factors, targets, log widths, and covariances and means given the past (empty if unwanted)."""
        indptr, first, last = self.cuts(start, stop)
        size, rows = len(self.start_linear), last - first
        kept = rows if filtered else 0
        factors, targets, widths = np.zeros((rows, size, size)), np.empty((rows, size)), np.empty(stop - start)
        covariances, means = np.empty((kept, size, size)), np.empty((kept, size))
        pass_forward(
            indptr, first, self.emissions.patterns.of_rows[first:last], self.potentials.own,
            self.potentials.linear[first:last], self.start, self.start_linear, self.moves,
            self.pushed[first:last], self.drawn[first:last], factors, targets, widths, covariances, means,
        )  # fmt: skip
        return factors, targets, widths, covariances, means

    def back(
        self, start: int, stop: int, factors: Array, targets: Array, *, whole: bool = False
    ) -> tuple[Array, Sums, Array]:
        """Return the states' means, sums of their covariances, and each one's covariance if these are wanted."""
        indptr, first, last = self.cuts(start, stop)
        rows, size = targets.shape
        covariances = np.empty((rows if whole else 0, size, size))
        means = np.empty((rows, size))
        sums = Sums(np.zeros((len(self.emissions.seen), size, size)), *np.zeros((3, size, size)))
        patterns = self.emissions.patterns.of_rows[first:last]
        pass_back(indptr, first, patterns, self.moves, factors, targets, means, *sums, covariances)
        return means, sums, covariances


class StateStep(LocalStep):
    """States of sequences, expected or drawn."""

    model = "lds"
    unit_cost = 4

    def check(self, batch: Sequences) -> None:
        """Raise if a number is infinite."""
        infinite = np.isinf(batch.values)
        if infinite.any():
            row, column = np.argwhere(infinite)[0]
            raise ValueError(
                f"there is an infinite number in row {row}, column {column}: a linear dynamical system needs finite "
                "ones, and NaN for those that are missing."
            )

    prepares_whole = True

    def prepare(self, model: LDS, views: Mapping[str, Array], batch: Sequences, each: Each = map) -> Prepared:
        """Turn the views into potentials of states."""
        rows = batch.values[batch.indptr[0] : batch.indptr[-1]]
        indptr, size = batch.indptr - batch.indptr[0], model.n_states
        outputs, inputs = rows[:, : model.n_features], rows[:, model.n_features :]
        known = np.concatenate([inputs, np.ones((len(rows), 1))], axis=1)
        emissions = Emissions(model.emissions, model.emissions.view(views["emissions"]), outputs, known)
        first: RegressionStatistics = model.first.expand(views["start"])
        dynamics = model.dynamics.view(views["dynamics"])
        gain, square = np.ascontiguousarray(dynamics.product[:, :size]), dynamics.square
        transition = np.linalg.solve(dynamics.precision, gain)
        excess = square[:size, :size] - gain.T @ transition
        moves = Moves(
            np.ascontiguousarray(dynamics.precision), gain, np.ascontiguousarray(square[:size, :size]),
            np.ascontiguousarray(transition), 0.5 * (excess + excess.T),
        )  # fmt: skip
        pushed, drawn = inputs @ dynamics.product[:, size:].T, -inputs @ square[size:, :size]
        return Prepared(
            indptr, inputs, emissions, emissions.potentials(size), np.ascontiguousarray(first.precision[0]),
            np.ascontiguousarray(first.product[0]), moves, pushed, drawn, (first, dynamics),
        )  # fmt: skip

    def run(self, model: LDS, prepared: Prepared, start: int, stop: int, keys: Keys) -> LocalResult:
        """Handle sequences start, ..., stop - 1."""
        factors, targets, widths, _, _ = prepared.forward(start, stop)
        if not np.isfinite(widths).all():
            raise FloatingPointError(
                f"the states of sequence {start + int(np.argmin(np.isfinite(widths)))} of a minibatch have no density: "
                "the dynamics have grown out of all bounds; take smaller steps, or fewer states."
            )
        return self._statistics(model, prepared, start, stop, factors, targets, widths, keys)

    @abstractmethod
    def _statistics(
        self, model: LDS, prepared: Prepared, start: int, stop: int, factors: Array, targets: Array, widths: Array,
        keys: Keys,
    ) -> LocalResult:  # fmt: skip
        """Return what the states of these sequences say."""


def expected_result(
    model: LDS, prepared: Prepared, start: int, stop: int, factors: Array, targets: Array, widths: Array
) -> LocalResult:
    """Return expected statistics, with the log probability for a bound."""
    _, first, last = prepared.cuts(start, stop)
    means, sums, _ = prepared.back(start, stop, factors, targets)
    seen = prepared.emissions.expected_sums(first, last, means, sums.by_pattern)
    eta_hat = {
        **state_statistics(model, prepared, start, stop, means, sums),
        "emissions": model.emissions.natural(seen),
    }
    logs = widths + log_densities(model, prepared, start, stop, means)
    return LocalResult(eta_hat, {"log_probability": logs}, float(logs.sum()))


def log_densities(model: LDS, prepared: Prepared, start: int, stop: int, states: Array) -> Array:
    """Return log p(states, what is seen) of sequences start, ..., stop - 1 at their means, as sums of squares."""
    indptr, first, last = prepared.cuts(start, stop)
    size, (begin, dynamics) = model.n_states, prepared.views
    logs = prepared.emissions.log_densities(first, last, states)
    before = np.concatenate([states[:-1], prepared.inputs[first + 1 : last]], axis=1)
    coefficients = np.linalg.solve(dynamics.precision, dynamics.product)
    excess = dynamics.square - dynamics.product.T @ coefficients
    errors = states[1:] - before @ coefficients.T
    moved = ((errors @ dynamics.precision) * errors).sum(axis=1) + ((before @ excess) * before).sum(axis=1)
    moves = 0.5 * (dynamics.log_determinant - size * _LOG_TWO_PI - moved)
    some = np.flatnonzero(np.diff(indptr) > 0)
    heads = indptr[some] - first
    moves[heads[heads > 0] - 1] = 0.0  # from one sequence to the next there is none
    logs[1:] += moves
    own = states[heads]
    logs[heads] += own @ begin.product[0] - 0.5 * ((own @ begin.precision[0]) * own).sum(axis=1)
    logs[heads] += 0.5 * float(begin.log_determinant[0] - begin.square[0] - size * _LOG_TWO_PI)
    totals = np.zeros(stop - start)
    if len(some):
        totals[some] = np.add.reduceat(logs, heads)
    return totals


def drawn_result(
    model: LDS, prepared: Prepared, start: int, stop: int, factors: Array, targets: Array, keys: Keys
) -> LocalResult:
    """Return statistics of drawn states."""
    indptr, first, last = prepared.cuts(start, stop)
    states = np.empty(targets.shape)
    draw_back(indptr, first, prepared.moves, factors, targets, keys, states)
    size = model.n_states
    sums = Sums(np.zeros((1, size, size)), *np.zeros((3, size, size)))
    seen = prepared.emissions.drawn_sums(first, last, states, indptr, scramble_array(keys ^ _MISSING_DRAWS))
    eta_hat = {
        **state_statistics(model, prepared, start, stop, states, sums),
        "emissions": model.emissions.natural(seen),
    }
    return LocalResult(eta_hat, {})


def state_statistics(
    model: LDS, prepared: Prepared, start: int, stop: int, means: Array, sums: Sums
) -> dict[str, Array]:
    """Return eta-hat of the first states and of the dynamics."""
    indptr, first, last = prepared.cuts(start, stop)
    lengths = np.diff(indptr)
    some = lengths > 0
    begins, ends = (indptr[:-1] - first)[some], (indptr[1:] - first - 1)[some]
    heads = means[begins]
    count = float(len(begins))
    own = RegressionSums(heads.sum(axis=0)[:, None], np.full((1, 1), count), heads.T @ heads + sums.heads, count)
    moving = np.ones(last - first, dtype=bool)
    moving[begins] = False
    after = means[moving]
    staying = np.ones(last - first, dtype=bool)
    staying[ends] = False
    before = np.concatenate([means[staying], prepared.inputs[first:last][moving]], axis=1)
    size = model.n_states
    whole = sums.by_pattern.sum(axis=0)
    squares, cross = before.T @ before, after.T @ before
    squares[:size, :size] += whole - sums.tails
    cross[:, :size] += sums.crossed.T
    moved = after.T @ after + whole - sums.heads
    counted = RegressionSums(cross, squares, moved, float(len(after)))
    return {"start": Regression(size, 1).natural(own), "dynamics": model.dynamics.natural(counted)}
