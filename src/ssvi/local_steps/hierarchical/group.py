"""One group of a multilevel regression whose rows are Gaussian, or are so given something else.

Row i has the precision omega_i and the working value k_i / omega_i: its log-likelihood is k_i eta_i - omega_i eta_i^2
/ 2 and a constant, eta_i = x_i . beta + v_i . b. Over a group let

    A = sum omega x x^T,  C = sum omega x v^T,  D = sum omega v v^T,  a = sum k x,  e = sum k v,  P = D + Q = L L^T.

Then b given beta ~ N(P^-1 (e - C^T beta), P^-1), and with b integrated out the group's log-likelihood is again
quadratic in beta: (a - C P^-1 e) . beta - beta^T (A - C P^-1 C^T) beta / 2. Those two are its statistics for beta,
under whatever view: q keeps how b depends on beta, and eta-hat has in it what is not known of b. With b in its place,
statistics (A, a) would say too much of beta whenever rows of a group are alike.

If the view of beta has a spread (its covariance, under means over q), then b's mean moves with beta by G = P^-1 C^T.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ssvi.numerics.cholesky import factor_into
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import normal
from ssvi.typing import Array

Columns = npt.NDArray[np.int64]


class Seen(NamedTuple):
    """What a view says: columns of x and v, E[beta], its covariance (empty for a draw), E[Q] and E[log|Q|]."""

    fixed: Columns
    varying: Columns
    coefficients: Array
    spread: Array
    precision: Array
    log_determinant: float


class Rows(NamedTuple):
    """A minibatch as arrays; see `Groups`."""

    indptr: Columns
    inputs: Array
    outputs: Array
    weights: Array


class Work(NamedTuple):
    """Room for one group: all of its columns' moments, and what is made of them."""

    joint: Array  # (columns, columns), sums of omega h h^T over whole rows h
    cross: Array  # (columns,), sums of k h
    precision: Array  # P
    lower: Array  # L
    inverse: Array  # L^-1
    whitened: Array  # L^-1 C^T
    projected: Array  # L^-1 e
    mean: Array  # of b at E[beta]
    covariance: Array  # P^-1
    gain: Array  # G
    drawn: Array  # b, or noise
    omega: Array  # of each row of the longest group
    k: Array
    eta: Array
    offset: Array  # x . E[beta]
    whole: Array  # coefficients of all columns


class Sums(NamedTuple):
    """Statistics of some groups: of beta, and sum of E[b b^T]."""

    linear: Array
    quadratic: Array
    scatter: Array


def make_work(columns: int, p: int, d: int, rows: int) -> Work:
    """Return room for groups of so many rows at most."""
    square = [np.zeros((d, d)) for _ in range(4)]
    each = [np.zeros(rows) for _ in range(4)]
    return Work(
        np.zeros((columns, columns)), np.zeros(columns), square[0], square[1], square[2], np.zeros((d, p)), np.zeros(d),
        np.zeros(d), square[3], np.zeros((d, p)), np.zeros(d), each[0], each[1], each[2], each[3], np.zeros(columns),
    )  # fmt: skip


def make_sums(p: int, d: int) -> Sums:
    """Return sums of no groups."""
    return Sums(np.zeros(p), np.zeros((p, p)), np.zeros((d, d)))


@kernel
def set_offsets(inputs: Array, first: int, last: int, seen: Seen, work: Work) -> None:
    """Fill in x . E[beta] of a group's rows."""
    for i in range(first, last):
        total = 0.0
        for j in range(seen.fixed.size):
            total += inputs[i, seen.fixed[j]] * seen.coefficients[j]
        work.offset[i - first] = total


@kernel
def set_predictors(inputs: Array, first: int, last: int, seen: Seen, effects: Array, work: Work) -> None:
    """Fill in eta of a group's rows, given their offsets and b."""
    for i in range(first, last):
        total = work.offset[i - first]
        for j in range(seen.varying.size):
            total += inputs[i, seen.varying[j]] * effects[j]
        work.eta[i - first] = total


@kernel
def set_moments(inputs: Array, first: int, last: int, work: Work) -> None:
    """Sum up omega h h^T and k h over a group's rows."""
    joint, cross, columns = work.joint, work.cross, inputs.shape[1]
    joint[:] = 0.0
    cross[:] = 0.0
    for i in range(first, last):
        omega, k = work.omega[i - first], work.k[i - first]
        for r in range(columns):
            value = inputs[i, r]
            cross[r] += k * value
            value *= omega
            for c in range(r + 1):
                joint[r, c] += value * inputs[i, c]
    for r in range(columns):
        for c in range(r):
            joint[c, r] = joint[r, c]


@kernel
def factor(seen: Seen, work: Work) -> float:
    """Fill in P, L, L^-1, P^-1 and G from the moments; return log|P| / 2, NaN if P is not positive definite."""
    d, p, varying = seen.varying.size, seen.fixed.size, seen.varying
    lower, inverse = work.lower, work.inverse
    for i in range(d):
        for j in range(d):
            work.precision[i, j] = seen.precision[i, j] + work.joint[varying[i], varying[j]]
    if not factor_into(work.precision, lower):
        return np.nan
    half = 0.0
    for j in range(d):
        half += np.log(lower[j, j])
        inverse[j, j] = 1.0 / lower[j, j]
        for i in range(j + 1, d):
            total = 0.0
            for k in range(j, i):
                total -= lower[i, k] * inverse[k, j]
            inverse[i, j] = total / lower[i, i]
    for i in range(d):
        for j in range(d):
            total = 0.0
            for k in range(max(i, j), d):
                total += inverse[k, i] * inverse[k, j]
            work.covariance[i, j] = total
        for j in range(p):
            total = 0.0
            for k in range(i + 1):
                total += inverse[i, k] * work.joint[varying[k], seen.fixed[j]]
            work.whitened[i, j] = total
    for i in range(d):
        for j in range(p):
            total = 0.0
            for k in range(i, d):
                total += inverse[k, i] * work.whitened[k, j]
            work.gain[i, j] = total
    return half


@kernel
def solve(seen: Seen, work: Work) -> None:
    """Fill in L^-1 e and the mean of b at E[beta]."""
    d, p = seen.varying.size, seen.fixed.size
    for i in range(d):
        total = 0.0
        for k in range(i + 1):
            total += work.inverse[i, k] * work.cross[seen.varying[k]]
        work.projected[i] = total
    for i in range(d):
        total = 0.0
        for k in range(i, d):
            at_beta = work.projected[k]
            for j in range(p):
                at_beta -= work.whitened[k, j] * seen.coefficients[j]
            total += work.inverse[k, i] * at_beta
        work.mean[i] = total


@kernel
def add_coefficients(seen: Seen, work: Work, share: float, sums: Sums) -> None:
    """Add what the group says of beta, b being integrated out: a - C P^-1 e and A - C P^-1 C^T, times a share."""
    fixed, d, p = seen.fixed, seen.varying.size, seen.fixed.size
    for r in range(p):
        total = work.cross[fixed[r]]
        for k in range(d):
            total -= work.whitened[k, r] * work.projected[k]
        sums.linear[r] += share * total
        for c in range(r + 1):
            total = work.joint[fixed[r], fixed[c]]
            for k in range(d):
                total -= work.whitened[k, r] * work.whitened[k, c]
            sums.quadratic[r, c] += share * total
            if c < r:
                sums.quadratic[c, r] += share * total


@kernel
def add_scatter(seen: Seen, work: Work, effects: Array, known: bool, share: float, sums: Sums) -> None:
    """Add E[b b^T], times a share: b's square, G Cov(beta) G^T, and P^-1 unless b is known."""
    d, p, has_spread = seen.varying.size, seen.fixed.size, seen.spread.shape[0] > 0
    for i in range(d):
        for j in range(d):
            total = effects[i] * effects[j]
            if not known:
                total += work.covariance[i, j]
            if has_spread:
                for r in range(p):
                    for c in range(p):
                        total += work.gain[i, r] * seen.spread[r, c] * work.gain[j, c]
            sums.scatter[i, j] += share * total


@kernel
def draw_effects(work: Work, state: np.uint64) -> np.uint64:
    """Fill `drawn` with b ~ N(mean, P^-1), and return the state that follows."""
    d = work.mean.size
    for i in range(d):
        work.drawn[i] = work.mean[i]
    for k in range(d):
        value, state = normal(state)
        for i in range(k + 1):
            work.drawn[i] += work.inverse[k, i] * value
    return state


@kernel
def spread_of(inputs: Array, i: int, seen: Seen, work: Work) -> float:
    """Return the variance of eta_i that comes from beta, b moving with it: (x - G^T v)^T Cov(beta) (x - G^T v)."""
    p, d = seen.fixed.size, seen.varying.size
    if seen.spread.shape[0] == 0:
        return 0.0
    total = 0.0
    for r in range(p):
        left = inputs[i, seen.fixed[r]]
        for k in range(d):
            left -= work.gain[k, r] * inputs[i, seen.varying[k]]
        for c in range(p):
            right = inputs[i, seen.fixed[c]]
            for k in range(d):
                right -= work.gain[k, c] * inputs[i, seen.varying[k]]
            total += left * seen.spread[r, c] * right
    return total


@kernel
def variance_of(inputs: Array, i: int, seen: Seen, work: Work) -> float:
    """Return the variance of v_i . b given beta."""
    d, total = seen.varying.size, 0.0
    for r in range(d):
        for c in range(d):
            total += inputs[i, seen.varying[r]] * work.covariance[r, c] * inputs[i, seen.varying[c]]
    return total


@kernel
def trace_of_scatter(seen: Seen, work: Work) -> float:
    """Return tr(Q E[b b^T])."""
    d, p, has_spread = seen.varying.size, seen.fixed.size, seen.spread.shape[0] > 0
    total = 0.0
    for i in range(d):
        for j in range(d):
            square = work.mean[i] * work.mean[j] + work.covariance[i, j]
            if has_spread:
                for r in range(p):
                    for c in range(p):
                        square += work.gain[i, r] * seen.spread[r, c] * work.gain[j, c]
            total += seen.precision[i, j] * square
    return total
