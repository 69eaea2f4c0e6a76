"""Rows of several blocks of documents, put together."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.batches.documents import Documents
from ssvi.numerics.compile import kernel


@kernel
def _copy_rows(
    indptr: npt.NDArray[np.int64],
    words: npt.NDArray[Any],
    counts: npt.NDArray[Any],
    rows: npt.NDArray[np.int32],
    cuts: npt.NDArray[np.int64],
    new_words: npt.NDArray[np.int32],
    new_counts: npt.NDArray[Any],
) -> None:
    """Copy some documents to where they belong; it holds no interpreter lock, as kernels may be at work."""
    for i in range(rows.size):
        first, last = indptr[rows[i]], indptr[rows[i] + 1]
        own_words, own_counts = words[first:last], counts[first:last]
        to_words, to_counts = new_words[cuts[i] : cuts[i + 1]], new_counts[cuts[i] : cuts[i + 1]]
        for entry in range(to_words.size):
            to_words[entry] = own_words[entry]
            to_counts[entry] = own_counts[entry]


def joined(parts: list[tuple[Documents, npt.NDArray[np.int32]]], n_words: int, *, are_small: bool) -> Documents:
    """Return some rows of each of some blocks, one after the other; small counts are whole and have 32 bits."""
    costs = [np.diff(block.indptr)[rows] for block, rows in parts]
    indptr = np.concatenate([[0], np.cumsum(np.concatenate(costs) if costs else [], dtype=np.int64)]).astype(np.int64)
    words = np.empty(indptr[-1], np.int32)
    counts = np.empty(indptr[-1], np.int32 if are_small else np.float64)
    done = 0
    for block, rows in parts:
        _copy_rows(block.indptr, block.words, block.counts, rows, indptr[done : done + len(rows) + 1], words, counts)
        done += len(rows)
    return Documents(indptr, words, counts, n_words)
