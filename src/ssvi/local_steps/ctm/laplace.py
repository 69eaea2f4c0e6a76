"""Laplace's approximation for the correlated topic model: z summed out, and x Gaussian around its mode.

log p(y, x) has the slope C - N p + h - Lambda x, where p = softmax(x) and C are the expected numbers of words with each
topic, and the curvature

    Lambda + N (diag(p) - p p^T) - sum_i n_i (diag(phi_i) - phi_i phi_i^T),    phi_ik ~ p_k exp(t_ik).

The last sum is what is lost for not knowing z. Far from the mode the curvature may not be positive definite; there it
is left out, and steps are those of the EM algorithm.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.local_steps.ctm.documents import add_moments, factor, invert, mean_softmax, mirror, softmax_into, solve
from ssvi.local_steps.ctm.gaussian import GaussianStep
from ssvi.local_steps.splits import add_shares, gather, most_entries, pull_towards
from ssvi.numerics.compile import kernel
from ssvi.numerics.vectors import dot
from ssvi.typing import Array

ROUNDS: Any = np.int64(20)  # not a literal, for which numba would compile `find_mode` once more
NEAR = 0.2
"""Of the search for a mode near which a chain is to begin."""

_LONGEST_STEP = 3.0  # of one log weight in a round
_SMALLEST = 1e-300
_HALVINGS = 30
_ROUGH, _FINE = 1e-3, 1e-7  # shares of a word's tokens that a curvature can do without, on the way and at the mode


@kernel
def joint_height(rows: Array, counts: Array, precision: Array, pull: Array, x: Array, theta: Array) -> float:
    """Return log p(y, x), but for a constant, and fill theta with softmax(x)."""
    softmax_into(x, theta)
    total = 0.0
    for k in range(x.size):
        theta[k] = max(theta[k], _SMALLEST)
        total += x[k] * (pull[k] - 0.5 * dot(precision[k], x))
    for i in range(counts.size):
        total += counts[i] * math.log(dot(rows[i], theta))
    return total


@kernel
def _curve(
    rows: Array,
    counts: Array,
    precision: Array,
    theta: Array,
    held: Array,
    known: bool,
    negligible: float,
    shares: Array,
    matrix: Array,
) -> None:
    """Fill the lower triangle of `matrix` with the curvature: as if z were known, or as it is."""
    n_words = counts.sum()
    for i in range(theta.size):
        for j in range(i + 1):
            matrix[i, j] = precision[i, j] - n_words * theta[i] * theta[j]
        matrix[i, i] += n_words * theta[i] - (0.0 if known else theta[i] * held[i])
    if known:
        return
    for word in range(counts.size):
        norm = dot(rows[word], theta)
        for i in range(theta.size):
            shares[i] = rows[word, i] * theta[i] / norm
        for i in range(theta.size):
            if shares[i] < negligible:
                continue
            weight = counts[word] * shares[i]
            for j in range(i + 1):
                matrix[i, j] += weight * shares[j]


@kernel
def _factor_curve(
    rows: Array,
    counts: Array,
    precision: Array,
    theta: Array,
    held: Array,
    negligible: float,
    work: Array,
    matrix: Array,
    lower: Array,
) -> None:
    """Fill `lower` with the factor L of the curvature L L^T."""
    _curve(rows, counts, precision, theta, held, False, negligible, work, matrix)
    if not factor(matrix, lower):
        _curve(rows, counts, precision, theta, held, True, negligible, work, matrix)
        factor(matrix, lower)


@kernel
def find_mode(
    rows: Array,
    counts: Array,
    precision: Array,
    pull: Array,
    rounds: int,
    tolerance: float,
    x: Array,
    matrices: Array,
    vectors: Array,
) -> None:
    """Take x to the mode; matrices[2] is L^-1 of the covariance (L L^T)^-1, as `invert` has it."""
    matrix, lower, turned = matrices
    theta, held, slope, move, work, trial = vectors
    height = joint_height(rows, counts, precision, pull, x, theta)
    n_words = counts.sum()
    for _ in range(rounds):
        pull_towards(rows, counts, theta, held)
        _factor_curve(rows, counts, precision, theta, held, _ROUGH, work, matrix, lower)
        largest = 0.0
        for k in range(x.size):
            slope[k] = theta[k] * held[k] - n_words * theta[k] + pull[k] - dot(precision[k], x)
        solve(lower, slope, work, move)
        for k in range(x.size):
            largest = max(largest, abs(move[k]))
        if largest < tolerance:
            break
        pace = min(1.0, _LONGEST_STEP / largest)
        for _ in range(_HALVINGS):
            for k in range(x.size):
                trial[k] = x[k] + pace * move[k]
            reached = joint_height(rows, counts, precision, pull, trial, theta)
            if reached >= height:
                break
            pace *= 0.5
        if reached < height:  # rounding has the last word
            joint_height(rows, counts, precision, pull, x, theta)
            break
        height = reached
        x[:] = trial
    pull_towards(rows, counts, theta, held)
    _factor_curve(rows, counts, precision, theta, held, _FINE, work, matrix, lower)
    invert(lower, turned)


@kernel
def laplace_documents(
    indptr: npt.NDArray[np.int64],
    columns: npt.NDArray[np.uint32],
    counts: Array,
    weights: Array,
    precision: Array,
    pull: Array,
    begin: Array,
    rounds: int,
    tolerance: float,
    normals: Array,
    statistics: Array,
    total: Array,
    squares: Array,
    mixtures: Array,
) -> float:
    """Add what documents say to statistics (words x topics, but for the words' weights), total and squares.

    With no room in `total`, and without rows in `mixtures`, these are not filled. There is no bound: it returns NaN.
    """
    n_topics = begin.size
    buffer = np.empty((most_entries(indptr), n_topics))
    matrices, vectors = np.zeros((3, n_topics, n_topics)), np.empty((6, n_topics))
    for d in range(indptr.size - 1):
        first, last = indptr[d], indptr[d + 1]
        words, own = columns[first:last], counts[first:last]
        rows = gather(words, weights, buffer)
        x = begin.copy()
        find_mode(rows, own, precision, pull, rounds, tolerance, x, matrices, vectors)
        if total.size:
            softmax_into(x, vectors[0])
            add_shares(rows, words, own, vectors[0], statistics)
            add_moments(x, matrices[2], total, squares)
        if mixtures.shape[0]:
            mean_softmax(x, matrices[2], normals, vectors[0], vectors[1], mixtures[d])
    mirror(squares)
    return np.nan


@dataclass(frozen=True)
class Laplace(GaussianStep):
    """x_d Gaussian around its mode given the words, z summed out; its parameters are those of `GaussianStep`."""

    name = "laplace"

    @property
    def documents(self) -> Callable[..., float]:
        """The kernel."""
        return laplace_documents
