"""Groups whose rows are Gaussian: everything in closed form."""

from __future__ import annotations

import math
from abc import abstractmethod

from ssvi.local_steps.base import LocalResult
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
    set_offsets,
    set_predictors,
    solve,
    spread_of,
    trace_of_scatter,
    variance_of,
)
from ssvi.models.hierarchical.linear import HierarchicalLinear
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys
from ssvi.typing import Array

_LOG_TWO_PI = math.log(2.0 * math.pi)


@kernel
def _squares(rows: Rows, first: int, last: int, seen: Seen, work: Work, drawn: bool) -> float:
    """Return the sum of w_i E[(y_i - eta_i)^2] over a group's rows, b being drawn or not."""
    set_predictors(rows.inputs, first, last, seen, work.drawn if drawn else work.mean, work)
    total = 0.0
    for i in range(first, last):
        residual = rows.outputs[i] - work.eta[i - first]
        square = residual * residual + spread_of(rows.inputs, i, seen, work)
        if not drawn:
            square += variance_of(rows.inputs, i, seen, work)
        total += rows.weights[i] * square
    return total


@kernel
def gaussian_groups(
    rows: Rows, start: int, stop: int, seen: Seen, tau: float, log_tau: float, keys: Keys, sampled: bool, work: Work,
    sums: Sums, effects: Array, covariances: Array, gains: Array,
) -> tuple[float, float, float]:  # fmt: skip
    """Handle some groups; return the sums of rows, of weighted squares, and of local ELBOs."""
    count, squares, bound = 0.0, 0.0, 0.0
    for n in range(start, stop):
        first, last = rows.indptr[n], rows.indptr[n + 1]
        for i in range(first, last):
            work.omega[i - first] = tau * rows.weights[i]
            work.k[i - first] = work.omega[i - first] * rows.outputs[i]
            bound += 0.5 * (log_tau + math.log(rows.weights[i]) - _LOG_TWO_PI)
        set_offsets(rows.inputs, first, last, seen, work)
        set_moments(rows.inputs, first, last, work)
        half = factor(seen, work)
        solve(seen, work)
        add_coefficients(seen, work, 1.0, sums)
        if sampled:
            draw_effects(work, keys[n - start])
        add_scatter(seen, work, work.drawn if sampled else work.mean, sampled, 1.0, sums)
        own = _squares(rows, first, last, seen, work, sampled)
        count += last - first
        squares += own
        bound += 0.5 * (seen.log_determinant + work.mean.size - tau * own - trace_of_scatter(seen, work)) - half
        effects[n - start] = work.drawn if sampled else work.mean
        covariances[n - start] = work.covariance
        gains[n - start] = work.gain
    return count, squares, bound


class GaussianStep(HierarchicalStep):
    """Effects of groups, expected or drawn."""

    model = "hierarchical_linear"

    @property
    @abstractmethod
    def sampled(self) -> bool:
        """Whether effects are drawn."""

    def run(self, model: HierarchicalLinear, prepared: Prepared, start: int, stop: int, keys: Keys) -> LocalResult:  # type: ignore[override]
        """Handle groups start, ..., stop - 1."""
        found = self.room(model, prepared, start, stop)
        count, squares, bound = gaussian_groups(
            prepared.rows, start, stop, prepared.seen, prepared.tau, prepared.log_tau, keys, self.sampled, found.work,
            found.sums, found.effects, found.covariances, found.gains,
        )  # fmt: skip
        return self.result(model, found, None if self.sampled else bound, (0.5 * count, 0.5 * squares))
