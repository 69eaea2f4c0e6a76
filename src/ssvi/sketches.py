"""A few numbers that tell whether documents were in a fit: the smallest hashes of its documents' counts.

The hash of a document depends on its columns and counts alone, so that it is the same wherever and whenever it is read
over the words of a model. Of documents whose hash is below the largest that was kept, a share is in a sketch that is,
but for chance, the share of all that were in the fit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.batches.documents import Documents

Hashes = npt.NDArray[np.int64]

SIZE = 1_024
"""How many hashes a sketch has at most."""

_AT_ONCE = 1 << 20  # entries
_FEWEST = 5  # documents that can tell anything


def document_hashes(documents: Any) -> Hashes:
    """Return a number of 63 bits for each document that has something in it; equal documents have the same.

    >>> document_hashes(np.array([[1, 2], [2, 1], [0, 0], [1, 2]])).tolist()[0] == document_hashes([[1.0, 2.0]])[0]
    np.True_
    """
    own = Documents.of(documents) if not isinstance(documents, list) else Documents.from_matrix(np.array(documents))
    bounds = np.searchsorted(own.indptr, np.arange(own.indptr[0], own.indptr[-1] + _AT_ONCE, _AT_ONCE))
    parts = [_hashes(own.slice(int(start), int(stop))) for start, stop in _pairs(bounds, len(own))]
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _pairs(bounds: npt.NDArray[Any], size: int) -> list[tuple[int, int]]:
    cuts = np.unique(np.clip([0, *bounds, size], 0, size))
    return list(zip(cuts[:-1].tolist(), cuts[1:].tolist(), strict=True))


def _hashes(documents: Documents) -> Hashes:
    begin, end = int(documents.indptr[0]), int(documents.indptr[-1])
    words, counts = documents.words[begin:end], documents.counts[begin:end]
    values = np.ascontiguousarray(counts, dtype=np.float64).view(np.uint64)
    mixed = _mixed(_mixed(words.astype(np.uint64) + np.uint64(1)) ^ values)
    starts = documents.indptr[:-1][np.diff(documents.indptr) > 0] - begin
    if not len(starts):
        return np.zeros(0, np.int64)
    return (_mixed(np.add.reduceat(mixed, starts)) >> np.uint64(1)).astype(np.int64)


def _mixed(values: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    """Return numbers whose bits all depend on all bits of the given ones (SplitMix64)."""
    with np.errstate(over="ignore"):
        values = values + np.uint64(0x9E3779B97F4A7C15)
        values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return values ^ (values >> np.uint64(31))


def sketch_of(hashes: Hashes, before: Hashes | None = None) -> Hashes:
    """Return the smallest different hashes of documents, and of those of a sketch from before."""
    every = hashes if before is None else np.concatenate([hashes, before])
    return np.unique(every)[:SIZE]


def share_seen(sketch: Hashes, hashes: Hashes) -> float | None:
    """Return about which share of some documents are among those of a sketch; None where too few can tell.

    >>> seen = np.arange(100)
    >>> share_seen(sketch_of(seen), np.arange(50, 150)), share_seen(sketch_of(seen), np.arange(3))
    (0.5, None)
    """
    comparable = hashes if len(sketch) < SIZE else hashes[hashes <= sketch[-1]]
    if len(comparable) < _FEWEST:
        return None
    return float(np.isin(comparable, sketch).mean())
