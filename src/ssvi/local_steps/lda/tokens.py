"""Documents as runs of tokens: what the samplers of LDA share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.numerics.compile import kernel
from ssvi.numerics.simd import LINE, prefetch
from ssvi.numerics.special import digamma

TABLE_UNIT = 2.0**-24
"""What expected numbers of tables are whole multiples of."""

_AHEAD = np.uint64(6)  # tokens between asking for memory and using it


@kernel
def aligned(size: int, like: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a vector of zeros that begins with a cache line."""
    memory = np.zeros(size + LINE // like.itemsize, like.dtype)
    start = (-memory.ctypes.data % LINE) // like.itemsize
    return memory[start : start + size]


@kernel
def expand(columns: npt.NDArray[np.uint32], counts: npt.NDArray[Any], words: npt.NDArray[np.uint32]) -> None:
    """Write out each entry as often as it counts."""
    token = 0
    for i in range(columns.size):
        for _ in range(counts[i]):
            words[token] = columns[i]
            token += 1


@kernel
def document_lengths(indptr: npt.NDArray[np.int64], counts: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Return the number of tokens of each document."""
    lengths = np.zeros(indptr.size - 1, np.int64)
    for d in range(indptr.size - 1):
        for i in range(indptr[d], indptr[d + 1]):
            lengths[d] += counts[i]
    return lengths


@kernel
def record(
    words: npt.NDArray[np.uint32],
    length: int,
    topics: npt.NDArray[np.uint32],
    sweeps: int,
    kept: int,
    statistics: npt.NDArray[Any],
) -> None:
    """Count the topics of the kept sweeps, token by token: then all that a word adds to lies close together.

    `topics` is a ring of kept + 1 sweeps x tokens.
    """
    for token in range(np.uint64(length)):
        soon = token + _AHEAD
        if soon < np.uint64(length):
            for sweep in range(sweeps - kept, sweeps):
                topic = topics[np.uint64(sweep % (kept + 1)), soon]
                prefetch(statistics, np.uint64(words[soon]), np.uint64(topic))
        word = words[token]
        for sweep in range(sweeps - kept, sweeps):
            statistics[word, topics[np.uint64(sweep % (kept + 1)), token]] += 1


@kernel
def count_tables(
    topics: npt.NDArray[np.uint32],
    length: int,
    alpha: npt.NDArray[Any],
    seen: npt.NDArray[Any],
    tables: npt.NDArray[Any],
) -> None:
    """Add what a document's topics say of alpha to `tables`, in units of `TABLE_UNIT`; `seen` is zeros, and stays so.

    For each topic it is alpha_k (psi(n_k + alpha_k) - psi(alpha_k)), the expected number of tables of n_k guests, and
    in the last place psi(n + sum alpha) - psi(sum alpha). Whole numbers add up to the same in any order.
    """
    for token in range(np.uint64(length)):
        topic = topics[token]
        share = float(alpha[topic]) / (float(alpha[topic]) + seen[topic])
        tables[topic] += np.int64(share / TABLE_UNIT + 0.5)
        seen[topic] += 1
    for token in range(np.uint64(length)):
        seen[topics[token]] = 0
    total = 0.0
    for k in range(alpha.size):
        total += float(alpha[k])
    tables[tables.size - 1] += np.int64((digamma(length + total) - digamma(total)) / TABLE_UNIT + 0.5)
