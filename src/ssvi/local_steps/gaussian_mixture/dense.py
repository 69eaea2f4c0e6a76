"""Rows and Gaussians with whole precision matrices: distances, what missing entries are expected to be, and sums.

With Lambda = L L^T a row x is |L^T (x - m)| away from a component. For known columns o and missing ones u,

    x_u given x_o and z:  mean m_u - Lambda_uu^-1 Lambda_uo (x_o - m_o), precision Lambda_uu,
    log p(x_o, z):        the square of the distance is w^T Lambda w - b^T Lambda_uu^-1 b, where w is x - m with zeros
                          for missing entries and b = (Lambda w)_u; -log|Lambda_uu| / 2 + |u| / 2 log 2 pi are added.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.models.covariances import Sums
from ssvi.numerics.cholesky import factor_into, nearly_cholesky
from ssvi.numerics.compile import fused_kernel, kernel, widest_vectors
from ssvi.numerics.distances import pack_factors, pad_centres, triangular_squares
from ssvi.numerics.random import Keys, next_bits, normal
from ssvi.typing import Array

Rows = npt.NDArray[np.int64]

_LANES = 16
_CHUNK = 256  # rows that stay in a near cache while every component sums over them
_VECTOR = 8


@dataclass(frozen=True)
class DenseGaussians:
    """Precisions (K or 1, D, D) and means (K, D), in the forms that kernels want."""

    means: Array
    precisions: Array
    packed: Array
    centres: Array

    @classmethod
    def of(cls, means: Array, precisions: Array) -> DenseGaussians:
        """Factor the precisions."""
        precisions, factors = nearly_cholesky(np.ascontiguousarray(precisions))
        centres = np.einsum("kji,kj->ki", np.broadcast_to(factors, (len(means), *factors.shape[1:])), means)
        return cls(np.ascontiguousarray(means), precisions, pack_factors(factors), pad_centres(centres))

    def squares(self, values: Array, complete: Rows, partial: Rows, out: Array, lost: Array) -> None:
        """Fill in squared distances, rows x K, and log|Lambda_uu| of the partial rows, these rows x K."""
        complete_squares(values, complete, self.packed, self.centres, out)
        if len(partial):
            partial_squares(values, partial, self.precisions, self.means, out, lost)

    def sums(self, values: Array, complete: Rows, partial: Rows, local: Array, keys: Keys, sampled: bool) -> Sums:
        """Return the sums that eta-hat is made of, by the shares that `local` has of each row."""
        size, shared = values.shape[1], len(self.precisions) < len(self.means)
        width = -(-(size + 1) // _VECTOR) * _VECTOR
        moments = np.zeros((len(self.precisions), size + 1, width))
        counts, firsts = np.zeros(len(self.means)), np.zeros(self.means.shape)
        if shared:
            outer_sums(values, complete, np.ones((len(values), 1)), moments)
            first_sums(values, complete, local, counts, firsts)
        else:
            outer_sums(values, complete, local, moments)
            counts += moments[:, size, size]
            firsts += moments[:, :size, size]
        seconds = np.ascontiguousarray(moments[:, :size, :size])
        if len(partial):
            partial_sums(values, partial, local, keys, sampled, self.precisions, self.means, counts, firsts, seconds)
        return Sums(counts, firsts, np.triu(seconds) + np.swapaxes(np.triu(seconds, 1), 1, 2))


@kernel
def gather(values: Array, rows: Rows, start: int, block: Array) -> int:
    """Fill `block`, columns x 16, with rows start, start + 1, ... of those listed; return how many there are."""
    count = int(min(block.shape[1], rows.size - start))
    for lane in range(block.shape[1]):
        row = values[rows[start + min(lane, count - 1)]]
        for d in range(block.shape[0]):
            block[d, lane] = row[d]
    return count


@kernel
def complete_squares(values: Array, rows: Rows, packed: Array, centres: Array, out: Array) -> None:
    """Fill `out`, rows x K, with the squared distances of rows without missing entries."""
    widest_vectors()
    block, squares = np.empty((values.shape[1], _LANES)), np.empty((out.shape[1], _LANES))
    for start in range(0, rows.size, _LANES):
        count = gather(values, rows, start, block)
        for k in range(out.shape[1]):
            triangular_squares(block, packed[k if packed.shape[0] > 1 else 0], centres[k], squares[k])
        for lane in range(count):
            row = out[rows[start + lane]]
            for k in range(out.shape[1]):
                row[k] = squares[k, lane]


@fused_kernel
def _add_outer(moments: Array, first: Array, second: Array, third: Array, fourth: Array, weights: Array) -> None:
    """Add four weighted outer products to a matrix, from about the diagonal on."""
    for i in range(moments.shape[0]):
        line = moments[i]
        a, b = weights[0] * first[i], weights[1] * second[i]
        c, d = weights[2] * third[i], weights[3] * fourth[i]
        for j in range(i - i % _VECTOR, line.size):
            line[j] += (a * first[j] + b * second[j]) + (c * third[j] + d * fourth[j])


@fused_kernel
def outer_sums(values: Array, rows: Rows, local: Array, moments: Array) -> None:
    """Add to `moments` (K, D + 1, wide) the products of each row (x, 1) with itself, weighted by its shares.

    Only the upper triangles are filled in. A share is 0 where it is under 4e-18 of a row (`normalise`): that is left
    out.
    """
    widest_vectors()
    size = values.shape[1]
    chunk, found = np.zeros((_CHUNK + 1, moments.shape[2])), np.empty(_CHUNK + 3, np.int64)
    chunk[:_CHUNK, size] = 1.0  # and the last row stays empty
    weights = np.zeros(4)
    for start in range(0, rows.size, _CHUNK):
        own = rows[start : start + _CHUNK]
        for i in range(own.size):
            for d in range(size):
                chunk[i, d] = values[own[i], d]
        for k in range(local.shape[1]):
            active = 0
            for i in range(own.size):
                found[active] = i
                active += local[own[i], k] > 0.0
            found[active : active + 3] = _CHUNK
            for i in range(0, active, 4):
                for lane in range(4):
                    weights[lane] = local[own[found[i + lane]], k] if i + lane < active else 0.0
                _add_outer(
                    moments[k], chunk[found[i]], chunk[found[i + 1]], chunk[found[i + 2]], chunk[found[i + 3]], weights
                )


@kernel
def first_sums(values: Array, rows: Rows, local: Array, counts: Array, firsts: Array) -> None:
    """Add the shares of rows to `counts`, and the rows themselves, weighted, to `firsts`."""
    for n in rows:
        for k in range(local.shape[1]):
            share = local[n, k]
            if share > 0.0:
                counts[k] += share
                for d in range(values.shape[1]):
                    firsts[k, d] += share * values[n, d]


@kernel
def _split(row: Array, known: Rows, missing: Rows) -> tuple[int, bool]:
    """Fill in which columns of a row are known and missing; return how many are, and whether they were before."""
    same, count, lost = True, 0, 0
    for d in range(row.size):
        if math.isnan(row[d]):
            same = same and missing[lost] == d
            missing[lost] = d
            lost += 1
        else:
            known[count] = d
            count += 1
    same = same and missing[lost] == -1
    missing[lost] = -1
    return lost, same


@kernel
def _factor_missing(precision: Array, missing: Rows, count: int, room: Array, factor: Array) -> float:
    """Fill in the factor of Lambda_uu; return log|Lambda_uu|."""
    for i in range(count):
        for j in range(i + 1):
            room[i, j] = precision[missing[i], missing[j]]
    factor_into(room[:count, :count], factor[:count, :count])
    total = 0.0
    for i in range(count):
        total += 2.0 * math.log(factor[i, i])
    return total


@kernel
def _solve_row(
    row: Array, mean: Array, precision: Array, known: Rows, missing: Rows, lost: int, factor: Array, solved: Array
) -> float:
    """Fill `solved` with C^-1 b, Lambda_uu = C C^T; return the squared distance of what is known."""
    total = 0.0
    for i in range(row.size - lost):
        here = known[i]
        product = 0.0
        for j in range(row.size - lost):
            product += precision[here, known[j]] * (row[known[j]] - mean[known[j]])
        total += product * (row[here] - mean[here])
    for i in range(lost):
        product = 0.0
        for j in range(row.size - lost):
            product += precision[missing[i], known[j]] * (row[known[j]] - mean[known[j]])
        for j in range(i):
            product -= factor[i, j] * solved[j]
        solved[i] = product / factor[i, i]
        total -= solved[i] * solved[i]
    return max(total, 0.0)


@kernel
def partial_squares(values: Array, rows: Rows, precisions: Array, means: Array, out: Array, lost: Array) -> None:
    """Fill in squared distances of rows by what is known of them, and log|Lambda_uu|.

    Rows with the same columns missing should follow each other: Lambda_uu is factored once for them.
    """
    size, kinds = values.shape[1], precisions.shape[0]
    known, missing = np.empty(size + 1, np.int64), np.full(size + 1, -1)
    room, factors = np.empty((size, size)), np.empty((kinds, size, size))
    logs, solved = np.empty(kinds), np.empty(size)
    for place in range(rows.size):
        n = rows[place]
        count, same = _split(values[n], known, missing)
        if not same:
            for f in range(kinds):
                logs[f] = _factor_missing(precisions[f], missing, count, room, factors[f])
        for k in range(means.shape[0]):
            f = k if kinds > 1 else 0
            out[n, k] = _solve_row(values[n], means[k], precisions[f], known, missing, count, factors[f], solved)
            lost[place, k] = logs[f]


@kernel
def _fill_in(
    filled: Array, mean: Array, missing: Rows, count: int, factor: Array, solved: Array, noisy: bool, state: np.uint64
) -> np.uint64:
    """Put m_u - C^-T (C^-1 b) for missing entries, plus C^-T noise if that is wanted; return the next random state."""
    for i in range(count):
        solved[i] = -solved[i]
        if noisy:
            noise, state = normal(state)
            solved[i] += noise
    for step in range(count):
        i = count - 1 - step
        for j in range(i + 1, count):
            solved[i] -= factor[j, i] * solved[j]
        solved[i] /= factor[i, i]
        filled[missing[i]] = mean[missing[i]] + solved[i]
    return state


@kernel
def _add_spread(seconds: Array, share: float, missing: Rows, count: int, factor: Array, room: Any) -> None:
    """Add to the upper triangle of `seconds` a share of Lambda_uu^-1, column by column."""
    for column in range(count):
        for i in range(column, count):
            value = 1.0 if i == column else 0.0
            for j in range(column, i):
                value -= factor[i, j] * room[j]
            room[i] = value / factor[i, i]
        for step in range(count - column):
            i = count - 1 - step
            for j in range(i + 1, count):
                room[i] -= factor[j, i] * room[j]
            room[i] /= factor[i, i]
            seconds[missing[column], missing[i]] += share * room[i]


@kernel
def partial_sums(
    values: Array,
    rows: Rows,
    local: Array,
    keys: Keys,
    sampled: bool,
    precisions: Array,
    means: Array,
    counts: Array,
    firsts: Array,
    seconds: Array,
) -> None:
    """Add to the sums those of rows with missing entries: expected ones, or drawn ones. See `partial_squares`."""
    size, kinds = values.shape[1], precisions.shape[0]
    known, missing = np.empty(size + 1, np.int64), np.full(size + 1, -1)
    room, factors = np.empty((size, size)), np.empty((kinds, size, size))
    ready, solved, filled = np.zeros(kinds, np.bool_), np.empty(size), np.empty(size)
    for n in rows:
        count, same = _split(values[n], known, missing)
        if not same:
            ready[:] = False
        _, state = next_bits(keys[n])  # the first number has drawn the component
        for k in range(means.shape[0]):
            share = local[n, k]
            if share == 0.0:
                continue
            f = k if kinds > 1 else 0
            if not ready[f]:
                _factor_missing(precisions[f], missing, count, room, factors[f])
                ready[f] = True
            filled[:] = values[n]
            _solve_row(values[n], means[k], precisions[f], known, missing, count, factors[f], solved)
            state = _fill_in(filled, means[k], missing, count, factors[f], solved, sampled, state)
            counts[k] += share
            for i in range(size):
                firsts[k, i] += share * filled[i]
                for j in range(i, size):
                    seconds[f, i, j] += share * filled[i] * filled[j]
            if not sampled:
                _add_spread(seconds[f], share, missing, count, factors[f], solved)
