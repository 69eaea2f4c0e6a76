"""Gaussian approximations of a group's effects where its rows are successes out of trials.

b given y and beta is near a Gaussian N(m, P^-1), P = V^T H V + Q, H being the rows' curvatures. `laplace` has m at
the mode and curvatures there. `variational` has slopes and curvatures averaged over the Gaussian itself, which makes
it the one with the largest ELBO (Opper and Archambeau 2009). Either way the group is then one whose rows are
Gaussian, with precisions H and working values such that slopes are those averages; see `group`.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from ssvi.checks import require_count
from ssvi.local_steps.base import LocalResult
from ssvi.local_steps.hierarchical.base import HierarchicalStep, Prepared
from ssvi.local_steps.hierarchical.group import (
    Rows,
    Seen,
    Sums,
    Work,
    add_coefficients,
    add_scatter,
    factor,
    set_moments,
    set_offsets,
    set_predictors,
    solve,
    spread_of,
    trace_of_scatter,
    variance_of,
)
from ssvi.local_steps.hierarchical.links import expected_likelihood, likelihood, log_ways
from ssvi.models.hierarchical.base import HierarchicalRegression
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys
from ssvi.typing import Array

_HALVINGS = 30
_SMALLEST = 1e-10  # of a curvature: beyond, a row says nothing


@kernel
def log_joint(rows: Rows, first: int, last: int, seen: Seen, link: int, effects: Array, work: Work) -> float:
    """Return log p(y, b | beta) at some effects, but for constants; fill in omega and k of a Newton step from there."""
    set_predictors(rows.inputs, first, last, seen, effects, work)
    d, total = effects.size, 0.0
    for i in range(first, last):
        eta = work.eta[i - first]
        value, slope, curvature = likelihood(link, rows.outputs[i], rows.weights[i], eta)
        total += value
        work.omega[i - first] = max(curvature, _SMALLEST)
        work.k[i - first] = slope + work.omega[i - first] * eta
    for i in range(d):
        for j in range(d):
            total -= 0.5 * effects[i] * seen.precision[i, j] * effects[j]
    return total


@kernel
def find_mode(rows: Rows, first: int, last: int, seen: Seen, link: int, iterations: int, work: Work) -> float:
    """Fill in the mode of b, by Newton's steps, halved until they climb; return log|P| / 2."""
    set_offsets(rows.inputs, first, last, seen, work)
    d = work.mean.size
    work.mean[:] = 0.0
    work.drawn[:] = 0.0  # where the step begins
    height, half = log_joint(rows, first, last, seen, link, work.mean, work), 0.0
    for iteration in range(iterations + 1):
        set_moments(rows.inputs, first, last, work)
        half = factor(seen, work)
        if iteration == iterations:
            break
        for i in range(d):
            work.drawn[i] = work.mean[i]
        solve(seen, work)
        reached = log_joint(rows, first, last, seen, link, work.mean, work)
        for _ in range(_HALVINGS):
            if reached >= height - 1e-10 * abs(height):
                break
            for i in range(d):
                work.mean[i] = 0.5 * (work.mean[i] + work.drawn[i])
            reached = log_joint(rows, first, last, seen, link, work.mean, work)
        moved = 0.0
        for i in range(d):
            moved = max(moved, abs(work.mean[i] - work.drawn[i]) / (1e-3 + abs(work.mean[i])))
        height = reached
        if moved < 1e-9:
            set_moments(rows.inputs, first, last, work)
            half = factor(seen, work)
            break
    return half


@kernel
def _average(rows: Rows, first: int, last: int, seen: Seen, link: int, work: Work) -> float:
    """Fill in omega and k from slopes and curvatures averaged over N(m, P^-1); return the mean log-likelihood."""
    set_predictors(rows.inputs, first, last, seen, work.mean, work)
    total = 0.0
    for i in range(first, last):
        variance = variance_of(rows.inputs, i, seen, work) + spread_of(rows.inputs, i, seen, work)
        y, n, eta = rows.outputs[i], rows.weights[i], work.eta[i - first]
        value, slope, curvature = expected_likelihood(link, y, n, eta, variance)
        total += value + log_ways(y, n)
        work.omega[i - first] = max(curvature, _SMALLEST)
        work.k[i - first] = slope + work.omega[i - first] * eta
    return total


@kernel
def _improve(
    rows: Rows, first: int, last: int, seen: Seen, link: int, iterations: int, half: float, work: Work
) -> tuple[float, float]:
    """Go from the mode to the Gaussian with the largest ELBO; return log|P| / 2 and the mean log-likelihood."""
    d = work.mean.size
    for _ in range(iterations):
        for i in range(d):
            work.drawn[i] = work.mean[i]
        before = half
        _average(rows, first, last, seen, link, work)
        set_moments(rows.inputs, first, last, work)
        half = factor(seen, work)
        solve(seen, work)
        moved = abs(half - before)
        for i in range(d):
            moved = max(moved, abs(work.mean[i] - work.drawn[i]))
        if moved < 1e-9:
            break
    value = _average(rows, first, last, seen, link, work)
    return half, value


@kernel
def approximate_groups(
    rows: Rows, start: int, stop: int, seen: Seen, link: int, newton: int, iterations: int, work: Work, sums: Sums,
    effects: Array, covariances: Array, gains: Array,
) -> float:  # fmt: skip
    """Handle some groups; return the sum of their local ELBOs."""
    bound = 0.0
    for n in range(start, stop):
        first, last = rows.indptr[n], rows.indptr[n + 1]
        half = find_mode(rows, first, last, seen, link, newton, work)
        half, value = _improve(rows, first, last, seen, link, iterations, half, work)
        bound += value - half + 0.5 * (seen.log_determinant + work.mean.size - trace_of_scatter(seen, work))
        effects[n - start] = work.mean
        covariances[n - start] = work.covariance
        gains[n - start] = work.gain
        add_scatter(seen, work, work.mean, False, 1.0, sums)
        set_moments(rows.inputs, first, last, work)
        factor(seen, work)
        solve(seen, work)
        add_coefficients(seen, work, 1.0, sums)
    return bound


@dataclass(frozen=True)
class ApproximateStep(HierarchicalStep):
    """Effects of groups as Gaussians.

    Parameters
    ----------
    max_iter : int
        Steps at most: of Newton's to the mode, and where there are more from there.

    """

    max_iter: int = 50

    has_bound: ClassVar[bool]

    @property
    @abstractmethod
    def link(self) -> int:
        """How probabilities follow from eta; see `links`."""

    def __post_init__(self) -> None:
        require_count("max_iter", self.max_iter)

    def run(self, model: HierarchicalRegression, prepared: Prepared, start: int, stop: int, keys: Keys) -> LocalResult:
        """Handle groups start, ..., stop - 1."""
        found = self.room(model, prepared, start, stop)
        further = self.max_iter if self.has_bound else 0
        bound = approximate_groups(
            prepared.rows, start, stop, prepared.seen, self.link, self.max_iter, further, found.work, found.sums,
            found.effects, found.covariances, found.gains,
        )  # fmt: skip
        return self.result(model, found, float(bound) if self.has_bound else None)


@dataclass(frozen=True)
class LaplaceStep(ApproximateStep):
    """A Gaussian at the mode of p(b_n | y_n, beta, Q), as wide as the curvature there says; see `ApproximateStep`."""

    name = "laplace"
    has_bound = False


@dataclass(frozen=True)
class VariationalStep(ApproximateStep):
    """The Gaussian q(b_n) with the largest local ELBO, which is this step's bound; see `ApproximateStep`."""

    name = "variational"
    has_bound = True
