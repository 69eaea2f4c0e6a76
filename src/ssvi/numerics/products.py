"""Sums of outer products, a few at a time, so that what they are added to is read and written less often."""

from __future__ import annotations

from ssvi.numerics.compile import fused_kernel
from ssvi.typing import Array


@fused_kernel
def add_products(lefts: Array, rights: Array, count: int, counts: Array) -> None:
    """Add to `counts` the outer products of up to four pairs of vectors."""
    for j in range(counts.shape[0]):
        own = counts[j]
        if count == 4:
            a, b, c, d = lefts[0, j], lefts[1, j], lefts[2, j], lefts[3, j]
            for k in range(own.size):
                own[k] += (a * rights[0, k] + b * rights[1, k]) + (c * rights[2, k] + d * rights[3, k])
        else:
            for i in range(count):
                a = lefts[i, j]
                for k in range(own.size):
                    own[k] += a * rights[i, k]
