"""Groups whose rows are Gaussian: everything in closed form."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np

from ssvi.batches.moments import Moments
from ssvi.local_steps.base import LocalResult
from ssvi.local_steps.hierarchical.base import HierarchicalStep, Prepared
from ssvi.local_steps.hierarchical.group import (
    Seen,
    Sums,
    Work,
    add_coefficients,
    add_scatter,
    draw_effects,
    factor,
    solve,
    trace_of_scatter,
)
from ssvi.models.hierarchical.linear import HierarchicalLinear
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys
from ssvi.typing import Array

_LOG_TWO_PI = math.log(2.0 * math.pi)


@kernel
def _set_moments(moments: Moments, n: int, tau: float, work: Work) -> None:
    """Fill in the sums of omega h h^T and k h of a group: those of tau w and tau w y."""
    joint, reference = moments.joint[n], moments.reference
    for r in range(reference.size):
        total = moments.cross[n, r]
        for c in range(reference.size):
            total += joint[r, c] * reference[c]
            work.joint[r, c] = tau * joint[r, c]
        work.cross[r] = tau * total


@kernel
def _squares(moments: Moments, n: int, seen: Seen, work: Work, drawn: bool) -> float:
    """Return the sum of w_i E[(y_i - eta_i)^2] over a group's rows, b being drawn or not."""
    joint, whole, effects = moments.joint[n], work.whole, work.drawn if drawn else work.mean
    for c in range(whole.size):
        whole[c] = -moments.reference[c]
    for j in range(seen.fixed.size):
        whole[seen.fixed[j]] += seen.coefficients[j]
    for j in range(seen.varying.size):
        whole[seen.varying[j]] += effects[j]
    total = moments.squares[n]
    for r in range(whole.size):
        product = -2.0 * moments.cross[n, r]
        for c in range(whole.size):
            product += joint[r, c] * whole[c]
        total += whole[r] * product
    if not drawn:
        for r in range(seen.varying.size):
            for c in range(seen.varying.size):
                total += joint[seen.varying[r], seen.varying[c]] * work.covariance[r, c]
    if seen.spread.shape[0] > 0:
        total += _spread(joint, seen, work)
    return float(max(total, 0.0))


@kernel
def _spread(joint: Array, seen: Seen, work: Work) -> float:
    """Return what comes from beta, b moving with it: the sum of w_i (x - G^T v)^T Cov(beta) (x - G^T v)."""
    p, columns, total = seen.fixed.size, joint.shape[0], 0.0
    moved = np.zeros((p, columns))
    for r in range(p):
        moved[r, seen.fixed[r]] += 1.0
        for k in range(seen.varying.size):
            moved[r, seen.varying[k]] -= work.gain[k, r]
    for r in range(p):
        for c in range(p):
            for i in range(columns):
                for j in range(columns):
                    total += seen.spread[r, c] * moved[r, i] * joint[i, j] * moved[c, j]
    return total


@kernel
def gaussian_groups(
    moments: Moments, start: int, stop: int, seen: Seen, tau: float, log_tau: float, keys: Keys, sampled: bool,
    work: Work, sums: Sums, effects: Array, covariances: Array, gains: Array,
) -> tuple[float, float, float]:  # fmt: skip
    """Handle some groups; return the sums of rows, of weighted squares, and of local ELBOs."""
    count, squares, bound = 0.0, 0.0, 0.0
    for n in range(start, stop):
        _set_moments(moments, n, tau, work)
        half = factor(seen, work)
        solve(seen, work)
        add_coefficients(seen, work, 1.0, sums)
        if sampled:
            draw_effects(work, keys[n - start])
        add_scatter(seen, work, work.drawn if sampled else work.mean, sampled, 1.0, sums)
        own = _squares(moments, n, seen, work, sampled)
        count += moments.counts[n]
        squares += own
        bound += 0.5 * (moments.counts[n] * (log_tau - _LOG_TWO_PI) + moments.log_weights[n])
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
        moments = prepared.moments
        if moments is None:
            moments = Moments.of(prepared.rows.indptr[start : stop + 1], *prepared.rows[1:])
            start, stop = 0, stop - start
        count, squares, bound = gaussian_groups(
            moments, start, stop, prepared.seen, prepared.tau, prepared.log_tau, keys, self.sampled, found.work,
            found.sums, found.effects, found.covariances, found.gains,
        )  # fmt: skip
        return self.result(model, found, None if self.sampled else bound, (0.5 * count, 0.5 * squares))
