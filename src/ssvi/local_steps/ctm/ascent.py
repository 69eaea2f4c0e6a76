"""The best q(x) q(z) of a document of the correlated topic model, by Newton's steps.

Blei and Lafferty (2007) have a q(x) of independent coordinates; here it is any Gaussian N(m, S), which costs no more.
With E_q[log sum_k exp(x_k)] <= log sum_k exp(m_k + S_kk / 2) there is a bound in closed form, and at its maximum

    S = (Lambda + N diag(p))^-1,    p = softmax(m_k + S_kk / 2),    C - N p + h - Lambda m = 0,

where C_k is the expected number of words with topic k, phi_ik ~ exp(m_k + t_ik).
"""

from __future__ import annotations

import math

from ssvi.local_steps.ctm.documents import factor, invert, softmax_into, solve
from ssvi.local_steps.splits import pull_towards
from ssvi.numerics.compile import kernel
from ssvi.numerics.vectors import dot
from ssvi.typing import Array

_LONGEST_STEP = 3.0  # of one log weight in a round: far from the maximum Newton's steps are too bold
_SMALLEST = 1e-300


@kernel
def ascend(
    rows: Array,
    counts: Array,
    precision: Array,
    pull: Array,
    rounds: int,
    tolerance: float,
    x: Array,
    spread: Array,
    matrices: Array,
    vectors: Array,
) -> None:
    """Take x to the maximum; matrices[2] is L^-1 of S = (L L^T)^-1, as `invert` has it, and `spread` its diagonal.

    Newton's matrix is S^-1 - N p p^T, and so one factor serves both (Sherman and Morrison).
    """
    matrix, lower, turned = matrices[0], matrices[1], matrices[2]
    theta, share, held, slope, move, other, work = vectors
    n_topics, n_words = x.size, counts.sum()
    for _ in range(rounds):
        softmax_into(x, theta)
        for k in range(n_topics):
            theta[k] = max(theta[k], _SMALLEST)
            work[k] = x[k] + 0.5 * spread[k]
        softmax_into(work, share)
        pull_towards(rows, counts, theta, held)
        for i in range(n_topics):
            slope[i] = theta[i] * held[i] - n_words * share[i] + pull[i] - dot(precision[i], x)
            matrix[i, : i + 1] = precision[i, : i + 1]
            matrix[i, i] += n_words * share[i]
        factor(matrix, lower)
        invert(lower, turned)
        solve(lower, slope, work, move)
        solve(lower, share, work, other)
        moved = dot(share, move) * n_words / (1.0 - n_words * dot(share, other))
        largest = 0.0
        for k in range(n_topics):
            move[k] += moved * other[k]
            largest = max(largest, abs(move[k]))
        pace, change = min(1.0, _LONGEST_STEP / max(largest, _SMALLEST)), 0.0
        for k in range(n_topics):
            x[k] += pace * move[k]
            new = dot(turned[k, k:], turned[k, k:])
            change = max(change, abs(pace * move[k]), abs(new - spread[k]))
            spread[k] = new
        if change < tolerance:
            break


@kernel
def bound_of(
    counts: Array, precision: Array, pull: Array, x: Array, spread: Array, turned: Array, work: Array
) -> float:
    """Return what the bound has besides log p of the words given exp(x) for weights, and the constant of log p(x)."""
    for k in range(x.size):
        work[k] = x[k] + 0.5 * spread[k]
    largest = work.max()
    norm = 0.0
    for k in range(x.size):
        norm += math.exp(work[k] - largest)
    total = -counts.sum() * (largest + math.log(norm))
    for i in range(x.size):
        total += x[i] * (pull[i] - 0.5 * dot(precision[i], x)) + math.log(turned[i, i])
        for j in range(i + 1):
            weight = -0.5 if i == j else -1.0
            total += weight * precision[i, j] * dot(turned[i, i:], turned[j, i:])
    return float(total + 0.5 * x.size * (1.0 + math.log(2.0 * math.pi)))
