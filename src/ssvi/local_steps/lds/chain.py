"""Gaussian chains in natural parameters: a pass forward that integrates states out, and passes back.

The density of the states of a sequence is, but for a constant, the exponential of

    sum_t (h_t . z_t - z_t^T J_t z_t / 2)  +  sum_(t > 1) (z_t^T G z_(t-1) - z_t^T P z_t / 2 - z_(t-1)^T S z_(t-1) / 2
                                                           + z_t . o_t + z_(t-1) . i_t)

with P = E[Lambda], G = E[Lambda A] and S = E[A^T Lambda A] of the dynamics. A view may be a draw, a mode or a mean over
q: S need not be G^T P^-1 G, but exceeds it by something that is not negative. Then the chain is a proper Gaussian.

Going forward, what is known of z_t by the past is exp(g . z - z^T F z / 2). With M = F + S and b = g + i the state
before is N(M^-1 (b + G^T z_t), M^-1) given the next one. F of the next state is P - G M^-1 G^T; it is computed as
N^T P N + B^T (F + E) B with B = M^-1 G^T, N = I - P^-1 G B and E = S - G^T P^-1 G, a sum of squares that rounding
cannot make indefinite. A log integral is that of the width (from the determinants) and the log density at the states'
means, where it is largest: taken there as a sum of squares it loses no digits to differences of large numbers.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ssvi.numerics.cholesky import factor_into
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys, normal
from ssvi.typing import Array

Cuts = npt.NDArray[np.int64]
_HALF_LOG_TWO_PI = 0.5 * math.log(2.0 * math.pi)


class Moves(NamedTuple):
    """The dynamics as the chain's passes want them; see the module.

    Attributes
    ----------
    precision, gain, square : (K, K)
        P, G and S.
    transition, excess : (K, K)
        P^-1 G and E.

    """

    precision: Array
    gain: Array
    square: Array
    transition: Array
    excess: Array


@kernel
def _multiply(first: Array, second: Array, out: Array) -> None:
    """Fill out = first second."""
    for i in range(first.shape[0]):
        for j in range(second.shape[1]):
            total = 0.0
            for k in range(first.shape[1]):
                total += first[i, k] * second[k, j]
            out[i, j] = total


@kernel
def _sandwich(middle: Array, side: Array, scratch: Array, out: Array, kept: float) -> None:
    """Fill out = kept out + side^T middle side, exactly symmetric."""
    _multiply(middle, side, scratch)
    size = side.shape[0]
    for i in range(size):
        for j in range(i + 1):
            total = 0.0
            for k in range(size):
                total += side[k, i] * scratch[k, j]
            out[i, j] = kept * out[i, j] + total
            out[j, i] = out[i, j]


@kernel
def _inverse(factor: Array, scratch: Array, out: Array) -> None:
    """Fill out = (L L^T)^-1, with L^-1 in scratch."""
    size = factor.shape[0]
    for j in range(size):
        scratch[j, j] = 1.0 / factor[j, j]
        for i in range(j + 1, size):
            total = 0.0
            for k in range(j, i):
                total -= factor[i, k] * scratch[k, j]
            scratch[i, j] = total / factor[i, i]
    for i in range(size):
        for j in range(i + 1):
            total = 0.0
            for k in range(i, size):
                total += scratch[k, i] * scratch[k, j]
            out[i, j] = total
            out[j, i] = total


@kernel
def _apply(matrix: Array, vector: Array, out: Array) -> None:
    """Fill out = matrix vector."""
    for i in range(vector.size):
        value = 0.0
        for j in range(vector.size):
            value += matrix[i, j] * vector[j]
        out[i] = value


@kernel
def _log_width(factor: Array) -> float:
    """Return the log integral of exp(-z^T L L^T z / 2)."""
    total = 0.0
    for i in range(factor.shape[0]):
        total += _HALF_LOG_TWO_PI - math.log(factor[i, i])
    return total


@kernel
def pass_forward(
    indptr: Cuts, first: int, patterns: Cuts, own: Array, linear: Array, start: Array, start_linear: Array,
    moves: Moves, pushed: Array, drawn: Array, factors: Array, targets: Array, widths: Array, filtered: Array,
    filtered_means: Array,
) -> None:  # fmt: skip
    """Integrate the states of each sequence out, from the first on.

    `own` (patterns x K x K) are J, `patterns` says whose row t has; `linear` are h; `pushed` and `drawn` are o and i,
    i_t in the row of t. Rows are counted from `first`. Filled in are the Cholesky factors of M and b of each row (of
    the last row of a sequence F and g) and the log width of each sequence's density, its integral over its largest
    value; and, if `filtered` has rows, the covariances and means given the past and the present.
    """
    size = start_linear.size
    known, known_linear, matrix = np.empty((size, size)), np.empty(size), np.empty((size, size))
    inverse, scratch, back, rest = (
        np.empty((size, size)), np.empty((size, size)), np.empty((size, size)), np.empty((size, size)),
    )  # fmt: skip
    turned_gain, mean = np.ascontiguousarray(moves.gain.T), np.empty(size)
    for n in range(indptr.size - 1):
        widths[n] = 0.0
        begin, end = indptr[n] - first, indptr[n + 1] - first
        for t in range(begin, end):
            if t == begin:
                for i in range(size):
                    known_linear[i] = start_linear[i]
                    for j in range(size):
                        known[i, j] = start[i, j]
            else:
                for i in range(size):
                    targets[t - 1, i] = known_linear[i] + drawn[t, i]
                    for j in range(size):
                        matrix[i, j] = known[i, j] + moves.square[i, j]
                if not factor_into(matrix, factors[t - 1]):
                    widths[n] = np.nan
                    break
                _inverse(factors[t - 1], scratch, inverse)
                widths[n] += _log_width(factors[t - 1])
                _apply(inverse, targets[t - 1], mean)
                _multiply(inverse, turned_gain, back)
                _multiply(moves.transition, back, rest)
                for i in range(size):
                    value = pushed[t, i]
                    for j in range(size):
                        value += moves.gain[i, j] * mean[j]
                        rest[i, j] = (1.0 if i == j else 0.0) - rest[i, j]
                        known[i, j] += moves.excess[i, j]
                    known_linear[i] = value
                _sandwich(known, back, scratch, matrix, 0.0)
                _sandwich(moves.precision, rest, scratch, matrix, 1.0)
                known[:] = matrix
            pattern = patterns[t]
            for i in range(size):
                known_linear[i] += linear[t, i]
                for j in range(size):
                    known[i, j] += own[pattern, i, j]
            if filtered.shape[0] or t == end - 1:
                targets[t] = known_linear
                if not factor_into(known, factors[t]):
                    widths[n] = np.nan
                    break
                _inverse(factors[t], scratch, inverse)
                if t == end - 1:
                    widths[n] += _log_width(factors[t])
                if filtered.shape[0]:
                    filtered[t] = inverse
                    _apply(inverse, targets[t], filtered_means[t])


@kernel
def pass_back(
    indptr: Cuts, first: int, patterns: Cuts, moves: Moves, factors: Array, targets: Array,
    means: Array, spreads: Array, crossed: Array, heads: Array, tails: Array, covariances: Array,
) -> None:  # fmt: skip
    """Fill in the states' means; add up their covariances, given all that was seen.

    `spreads` (patterns x K x K) has the sums over the rows of a pattern, `crossed` those of cov(z_t, z_(t+1)), `heads`
    and `tails` those of the first and the last states. If `covariances` has rows, each row's goes there.
    """
    size = means.shape[1]
    inverse, scratch, back, moved = (
        np.empty((size, size)), np.empty((size, size)), np.empty((size, size)), np.empty((size, size)),
    )  # fmt: skip
    spread, turned_gain = np.empty((size, size)), np.ascontiguousarray(moves.gain.T)
    for n in range(indptr.size - 1):
        begin, end = indptr[n] - first, indptr[n + 1] - first
        for t in range(end - 1, begin - 1, -1):
            _inverse(factors[t], scratch, inverse)
            for i in range(size):
                value = 0.0
                for j in range(size):
                    value += inverse[i, j] * targets[t, j]
                means[t, i] = value
            if t < end - 1:
                _multiply(inverse, turned_gain, back)
                for i in range(size):
                    for j in range(size):
                        means[t, i] += back[i, j] * means[t + 1, j]
                _multiply(back, spread, moved)  # cov(z_t, z_(t+1))
                for i in range(size):
                    for j in range(size):
                        crossed[i, j] += moved[i, j]
                        scratch[i, j] = back[j, i]
                for i in range(size):
                    for j in range(i + 1):
                        total = inverse[i, j]
                        for k in range(size):
                            total += moved[i, k] * scratch[k, j]
                        spread[i, j] = total
                        spread[j, i] = total
            else:
                spread[:] = inverse
                tails += spread
            if t == begin:
                heads += spread
            spreads[patterns[t]] += spread
            if covariances.shape[0]:
                covariances[t] = spread


@kernel
def draw_back(
    indptr: Cuts, first: int, moves: Moves, factors: Array, targets: Array, keys: Keys, states: Array
) -> None:
    """Fill in a draw of the states of each sequence, given all that was seen; sequence n draws from `keys[n]`."""
    size = states.shape[1]
    aim = np.empty(size)
    for n in range(indptr.size - 1):
        begin, end = indptr[n] - first, indptr[n + 1] - first
        state = keys[n]
        for t in range(end - 1, begin - 1, -1):
            factor = factors[t]
            for i in range(size):
                aim[i] = targets[t, i]
                if t < end - 1:
                    for j in range(size):
                        aim[i] += moves.gain[j, i] * states[t + 1, j]
            for i in range(size):  # L^-1 aim, to which noise is added
                total = aim[i]
                for k in range(i):
                    total -= factor[i, k] * aim[k]
                aim[i] = total / factor[i, i]
            for i in range(size):
                noise, state = normal(state)
                aim[i] += noise
            for i in range(size - 1, -1, -1):  # L^-T of that
                total = aim[i]
                for k in range(i + 1, size):
                    total -= factor[k, i] * aim[k]
                aim[i] = total / factor[i, i]
                states[t, i] = aim[i]
