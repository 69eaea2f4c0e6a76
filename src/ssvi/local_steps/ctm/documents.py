"""What the local steps of the correlated topic model share: the views as kernels want them, and small kernels.

A document's log weights are x, its words i = 1, 2, ... of which there are n_i, N in all. Given the views,

    log p(y, x) = sum_i n_i log(sum_k softmax(x)_k exp(t_ik)) + h . x - x^T Lambda x / 2 + constant,    h = Lambda mu.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ssvi.batches.documents import Documents
from ssvi.local_steps.lda.drawn import drawn_word_tables
from ssvi.local_steps.lda.words import LdaStep, Prepared
from ssvi.models.ctm import CTM
from ssvi.numerics.bits import fast_exp
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys, normal
from ssvi.numerics.vectors import dot, total
from ssvi.tasks import Each
from ssvi.typing import Array

_NORMALS = 16
_OF_TABLES = np.uint64(0x9E3779B97F4A7C15)  # so that tokens are drawn from other streams than log weights


@dataclass(frozen=True)
class PreparedForCtm(Prepared):
    """A prepared minibatch, and the view of mu and Lambda.

    Attributes
    ----------
    precision : (K, K)
        Lambda.
    pull : (K,)
        h = Lambda mu.
    constant : float
        What log p(x) has besides: -mu^T Lambda mu / 2 + log|Lambda| / 2 - K / 2 log(2 pi).
    start : (K,)
        Lambda^-1 h, where documents begin.

    """

    precision: Array
    pull: Array
    constant: float
    start: Array

    def given(self, start: int, stop: int) -> tuple[Any, ...]:
        """Return what every kernel begins with: documents start, ..., stop - 1, and the views."""
        shard = self.documents.slice(start, stop)
        return (shard.indptr, shard.words, shard.counts, self.weights, self.precision, self.pull, self.start)


class CtmStep(LdaStep):
    """A local step of the correlated topic model: `prepare` is the same for all."""

    model = CTM.name
    precision: ClassVar[str] = "float64"  # type: ignore[misc]

    def prepare(self, model: CTM, views: Mapping[str, Any], batch: Documents, each: Each = map) -> PreparedForCtm:  # type: ignore[override]
        """Lay out the topics word by word, as for LDA, and mu and Lambda as a density of x."""
        topics: Any = model
        plain = vars(super().prepare(topics, views, batch, each))
        weights = model.family.expand(views["weights"][0])
        constant = 0.5 * float(weights.log_determinant - weights.square) - 0.5 * model.n_topics * math.log(2 * math.pi)
        precision = np.ascontiguousarray(weights.precision)
        start = np.asarray(np.linalg.solve(precision, weights.product), dtype=float)
        return PreparedForCtm(
            **plain, precision=precision, pull=np.array(weights.product), constant=constant, start=start
        )

    @staticmethod
    def said_of_eta(
        model: CTM, prepared: PreparedForCtm, start: int, stop: int, mixtures: Array, keys: Keys
    ) -> dict[str, Array]:
        """Return what documents with some weights of topics say of eta, if the model learns it."""
        own: Any = model
        return drawn_word_tables(own, prepared, prepared.documents.slice(start, stop), mixtures, keys ^ _OF_TABLES)


@kernel
def factor(matrix: Array, lower: Array) -> bool:
    """Fill the lower triangle of `lower` with L, matrix = L L^T; return whether there is one.

    Its diagonal has 1 / L_ii: nobody needs L_ii but to divide by it, and a product is faster.
    """
    for i in range(matrix.shape[0]):
        for j in range(i):
            lower[i, j] = (matrix[i, j] - dot(lower[i, :j], lower[j, :j])) * lower[j, j]
        square = matrix[i, i] - dot(lower[i, :i], lower[i, :i])
        if not (square > 0.0 and square < np.inf):
            return False
        lower[i, i] = 1.0 / math.sqrt(square)
    return True


@kernel
def invert(lower: Array, turned: Array) -> None:
    """Fill row j of `turned` with column j of L^-1, zeros first: (L L^T)^-1_ij is the inner product of two rows."""
    size = lower.shape[0]
    for j in range(size):
        turned[j, :j] = 0.0
        turned[j, j] = lower[j, j]
        for i in range(j + 1, size):
            turned[j, i] = -dot(lower[i, j:i], turned[j, j:i]) * lower[i, i]


@kernel
def solve(lower: Array, right: Array, work: Array, out: Array) -> None:
    """Fill `out` with (L L^T)^-1 right."""
    for i in range(right.size):
        work[i] = (right[i] - dot(lower[i, :i], work[:i])) * lower[i, i]
    for i in range(right.size - 1, -1, -1):
        out[i] = work[i] * lower[i, i]
        for j in range(i):
            work[j] -= lower[i, j] * out[i]


@kernel
def softmax_into(x: Array, out: Array) -> float:
    """Fill `out` with softmax(x); return log(sum_k exp(x_k))."""
    largest = x.max()
    for k in range(x.size):
        out[k] = fast_exp(x[k] - largest)
    norm = total(out)
    scale = 1.0 / norm
    for k in range(x.size):
        out[k] *= scale
    return float(largest + math.log(norm))


@kernel
def add_moments(x: Array, turned: Array, total: Array, squares: Array) -> None:
    """Add E[x] and E[x x^T], x with this mean and with the covariance (L L^T)^-1, to sums over documents."""
    for i in range(x.size):
        total[i] += x[i]
        for j in range(i + 1):
            squares[i, j] += x[i] * x[j] + dot(turned[i, i:], turned[j, i:])


@kernel
def add_point(x: Array, total: Array, squares: Array) -> None:
    """Add x and x x^T to sums over documents."""
    for i in range(x.size):
        total[i] += x[i]
        for j in range(i + 1):
            squares[i, j] += x[i] * x[j]


@kernel
def mean_softmax(x: Array, turned: Array, normals: Array, point: Array, work: Array, out: Array) -> None:
    """Fill `out` with the mean of softmax(x), x with this mean and covariance, over fixed numbers u.

    x + L^-T u has the covariance (L L^T)^-1 where u has the identity; row j of `turned` is column j of L^-1, and so
    row j of L^-T is row j of `turned`.
    """
    out[:] = 0.0
    for n in range(normals.shape[0]):
        for sign in (-1.0, 1.0):
            for j in range(x.size):
                point[j] = x[j] + sign * dot(turned[j, j:], normals[n, j:])
            softmax_into(point, work)
            for j in range(x.size):
                out[j] += work[j]
    for j in range(x.size):
        out[j] /= 2.0 * normals.shape[0]


@kernel
def draw_around(turned: Array, noise: Array, x: Array, state: np.uint64) -> np.uint64:
    """Add a draw from N(0, (L L^T)^-1) to x, and fill `noise` with the normal numbers that it was made of."""
    for k in range(x.size):
        noise[k], state = normal(state)
    for k in range(x.size):
        x[k] += dot(turned[k, k:], noise[k:])
    return state


@kernel
def mirror(matrix: Array) -> None:
    """Copy the lower triangle to the upper one."""
    for i in range(matrix.shape[0]):
        for j in range(i):
            matrix[j, i] = matrix[i, j]


def some_normals(n_topics: int) -> Array:
    """Return the normal numbers that `mean_softmax` takes: always the same, so that weights follow from x alone."""
    return np.random.Generator(np.random.PCG64(0)).normal(size=(_NORMALS, n_topics))
