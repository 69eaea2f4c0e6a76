"""Rows and Gaussians with independent columns: distances, and sums. An entry that is missing is left out of both."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ssvi.local_steps.gaussian_mixture.dense import Rows, gather
from ssvi.models.covariances import Sums
from ssvi.numerics.compile import kernel, widest_vectors
from ssvi.numerics.distances import diagonal_squares
from ssvi.numerics.products import add_products
from ssvi.typing import Array

_LANES = 16


@dataclass(frozen=True)
class ColumnGaussians:
    """Means (K, D), the roots of precisions, and what each known entry adds to log p(x, z) besides its distance."""

    means: Array
    roots: Array
    constants: Array

    def log_joint(self, values: Array, complete: Rows, partial: Rows, log_weights: Array, out: Array) -> None:
        """Fill in log p(x_o, z = k), rows x K."""
        base = log_weights + self.constants.sum(axis=1)
        complete_scores(values, complete, self.means, self.roots, base, out)
        partial_scores(values, partial, self.means, self.roots, self.constants, log_weights, out)

    def sums(self, values: Array, complete: Rows, partial: Rows, local: Array) -> Sums:
        """Return the sums that eta-hat is made of, by the shares that `local` has of each row."""
        size = values.shape[1]
        sums = np.zeros((len(self.means), 2 * size + 1))
        complete_sums(values, complete, local, sums)
        counts = np.repeat(sums[:, 2 * size :], size, axis=1)
        firsts, seconds = np.ascontiguousarray(sums[:, :size]), np.ascontiguousarray(sums[:, size : 2 * size])
        partial_sums(values, partial, local, counts, firsts, seconds)
        return Sums(counts, firsts, seconds)


@kernel
def complete_scores(values: Array, rows: Rows, means: Array, roots: Array, base: Array, out: Array) -> None:
    """Fill `out` for rows without missing entries, sixteen at a time."""
    widest_vectors()
    block, squares = np.empty((values.shape[1], _LANES)), np.empty((out.shape[1], _LANES))
    for start in range(0, rows.size, _LANES):
        count = gather(values, rows, start, block)
        for k in range(out.shape[1]):
            diagonal_squares(block, roots[k], means[k], squares[k])
        for lane in range(count):
            row = out[rows[start + lane]]
            for k in range(out.shape[1]):
                row[k] = base[k] - 0.5 * squares[k, lane]


@kernel
def partial_scores(
    values: Array, rows: Rows, means: Array, roots: Array, constants: Array, log_weights: Array, out: Array
) -> None:
    """Fill `out` for rows with missing entries."""
    for n in rows:
        for k in range(out.shape[1]):
            total = log_weights[k]
            for d in range(values.shape[1]):
                if not math.isnan(values[n, d]):
                    away = roots[k, d] * (values[n, d] - means[k, d])
                    total += constants[k, d] - 0.5 * away * away
            out[n, k] = total


@kernel
def complete_sums(values: Array, rows: Rows, local: Array, sums: Array) -> None:
    """Add to `sums` (K, 2 D + 1) each row (x, x^2, 1), weighted by its shares, for rows without missing entries."""
    size, waiting = values.shape[1], 0
    shares, terms = np.empty((4, local.shape[1])), np.ones((4, 2 * size + 1))
    for n in rows:
        for d in range(size):
            terms[waiting, d] = values[n, d]
            terms[waiting, size + d] = values[n, d] * values[n, d]
        for k in range(local.shape[1]):
            shares[waiting, k] = local[n, k]
        waiting += 1
        if waiting == 4:
            add_products(shares, terms, 4, sums)
            waiting = 0
    add_products(shares, terms, waiting, sums)


@kernel
def partial_sums(values: Array, rows: Rows, local: Array, counts: Array, firsts: Array, seconds: Array) -> None:
    """Add up shares, entries and squares, for rows with missing entries."""
    for n in rows:
        for k in range(local.shape[1]):
            share = local[n, k]
            for d in range(values.shape[1]):
                if share > 0.0 and not math.isnan(values[n, d]):
                    counts[k, d] += share
                    firsts[k, d] += share * values[n, d]
                    seconds[k, d] += share * values[n, d] * values[n, d]
