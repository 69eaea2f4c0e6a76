"""The mode of a document's log weights x, z summed out, and the curvature there.

log p(y, x) has the slope C - N p + h - Lambda x, where p = softmax(x) and C are the expected numbers of words with each
topic, and the curvature

    Lambda + N (diag(p) - p p^T) - sum_i n_i (diag(phi_i) - phi_i phi_i^T),    phi_ik ~ p_k exp(t_ik).

The last sum is what is lost for not knowing z. Far from the mode the curvature may not be positive definite; there it
is left out, and steps are those of the EM algorithm.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ssvi.local_steps.ctm.documents import factor, invert, softmax_into, solve
from ssvi.local_steps.splits import pull_towards
from ssvi.numerics.bits import fast_log
from ssvi.numerics.compile import kernel, vector_kernel
from ssvi.numerics.vectors import dot
from ssvi.typing import Array

# No literals, for each of which numba would compile `find_mode` once more.
ROUNDS: Any = np.int64(20)
NEAR = 0.2
"""Of the search for a mode near which a chain is to begin."""
NEARLY: Any = np.bool_(True)
WHOLLY: Any = np.bool_(False)
"""Whether it is enough to be near."""

_LONGEST_STEP = 3.0  # of one log weight in a round
_SMALLEST = 1e-300
_HALVINGS = 30
_ROUGH, _FINE = 1e-3, 1e-7  # shares of a word's tokens that a curvature can do without, on the way and at the mode


@vector_kernel
def log_likelihood(rows: Array, counts: Array, theta: Array) -> float:
    """Return sum_i n_i log(rows_i . theta). Rows are at least 1e-20, and theta adds up to 1."""
    result = 0.0
    for i in range(counts.size):
        result += counts[i] * fast_log(dot(rows[i], theta))
    return result


@kernel
def joint_height(rows: Array, counts: Array, precision: Array, pull: Array, x: Array, theta: Array) -> float:
    """Return log p(y, x), but for a constant, and fill theta with softmax(x)."""
    softmax_into(x, theta)
    total = 0.0
    for k in range(x.size):
        theta[k] = max(theta[k], _SMALLEST)
        total += x[k] * (pull[k] - 0.5 * dot(precision[k], x))
    return total + log_likelihood(rows, counts, theta)


@kernel
def _add_unknown(rows: Array, counts: Array, theta: Array, negligible: float, shares: Array, matrix: Array) -> None:
    """Add sum_i n_i phi_i phi_i^T to the lower triangle of `matrix`, but for what is negligible; `shares` is 4 x K.

    Four words at a time: each pass over a line of the matrix costs a load and a store.
    """
    for first in range(0, counts.size, 4):
        for place in range(4):
            word, own = first + place, shares[place]
            if word < counts.size:
                scale = math.sqrt(counts[word]) / dot(rows[word], theta)
                for i in range(theta.size):
                    own[i] = rows[word, i] * theta[i] * scale
            else:
                own[:] = 0.0
        one, two, three, four = shares[0], shares[1], shares[2], shares[3]
        for i in range(theta.size):
            a, b, c, d = one[i], two[i], three[i], four[i]
            if max(a, b, c, d) < negligible:
                continue
            line = matrix[i]
            for j in range(i + 1):
                line[j] += (a * one[j] + b * two[j]) + (c * three[j] + d * four[j])


@kernel
def _factor_curve(
    rows: Array,
    counts: Array,
    precision: Array,
    theta: Array,
    held: Array,
    negligible: float,
    shares: Array,
    matrix: Array,
    lower: Array,
) -> None:
    """Fill `lower` with the factor of the curvature: as it is or, where that is not positive, as if z were known."""
    n_words = counts.sum()
    for known in (False, True):
        for i in range(theta.size):
            for j in range(i + 1):
                matrix[i, j] = precision[i, j] - n_words * theta[i] * theta[j]
            matrix[i, i] += n_words * theta[i] - (0.0 if known else theta[i] * held[i])
        if not known:
            _add_unknown(rows, counts, theta, negligible, shares, matrix)
        if factor(matrix, lower):
            return


@kernel
def find_mode(
    rows: Array,
    counts: Array,
    precision: Array,
    pull: Array,
    rounds: int,
    tolerance: float,
    near: bool,
    x: Array,
    matrices: Array,
    vectors: Array,
) -> None:
    """Take x to the mode; matrices[2] is L^-1 of the covariance (L L^T)^-1, as `invert` has it.

    If it is enough to be `near`, the covariance is the one by which the last step was found to be small, without what
    is negligible. `vectors` is 10 x K.
    """
    matrix, lower, turned = matrices[0], matrices[1], matrices[2]
    theta, held, slope, move = vectors[0], vectors[1], vectors[2], vectors[3]
    work, trial, shares = vectors[4], vectors[5], vectors[6:10]
    height = joint_height(rows, counts, precision, pull, x, theta)
    n_words, arrived = counts.sum(), False
    for _ in range(rounds):
        pull_towards(rows, counts, theta, held)
        _factor_curve(rows, counts, precision, theta, held, _ROUGH, shares, matrix, lower)
        largest = 0.0
        for k in range(x.size):
            slope[k] = theta[k] * held[k] - n_words * theta[k] + pull[k] - dot(precision[k], x)
        solve(lower, slope, work, move)
        for k in range(x.size):
            largest = max(largest, abs(move[k]))
        if largest < tolerance:
            arrived = True
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
    if not (near and arrived):
        pull_towards(rows, counts, theta, held)
        _factor_curve(rows, counts, precision, theta, held, _ROUGH if near else _FINE, shares, matrix, lower)
    invert(lower, turned)
