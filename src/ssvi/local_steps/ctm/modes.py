"""The mode of a document's log weights x, z summed out, and the curvature there.

log p(y, x) has the slope C - N p + h - Lambda x, where p = softmax(x) and C are the expected numbers of words with each
topic, and the curvature

    Lambda + N (diag(p) - p p^T) - sum_i n_i (diag(phi_i) - phi_i phi_i^T),    phi_ik ~ p_k exp(t_ik).

The last sum is what is lost for not knowing z. Far from the mode the curvature may not be positive definite; there it
is left out, and steps are those of the EM algorithm.
"""

from __future__ import annotations

from ssvi.local_steps.ctm.documents import factor, invert, softmax_into, solve
from ssvi.local_steps.splits import pull_towards
from ssvi.numerics.bits import fast_log
from ssvi.numerics.compile import kernel, vector_kernel
from ssvi.numerics.vectors import dot
from ssvi.typing import Array

ROUNDS, NEAR = 20, 0.2
"""Of the search for a mode near which a chain is to begin."""

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
        scale = 1.0 / dot(rows[word], theta)
        for i in range(theta.size):
            shares[i] = rows[word, i] * theta[i] * scale
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
