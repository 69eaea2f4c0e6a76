"""From entries to documents: what is checked whatever the format, and how entries that repeat are added up."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ssvi.batches.documents import Documents
from ssvi.data.readers.base import CorpusError
from ssvi.data.readers.numbers import LARGEST

LARGEST_DIMENSION = 2**31 - 1
_FREE_ROWS = 1 << 20  # so many documents may be empty without a question
_ROWS_PER_ENTRY = 64


class Entries:
    """Entries of a matrix, a chunk at a time: 12 or 16 bytes each."""

    def __init__(self) -> None:
        self._rows: list[npt.NDArray[Any]] = []
        self._words: list[npt.NDArray[Any]] = []
        self._counts: list[npt.NDArray[Any]] = []
        self.number = 0

    def add(self, rows: npt.NDArray[Any], words: npt.NDArray[Any], counts: npt.NDArray[Any]) -> None:
        """Add entries that were found to be in range."""
        small = counts.dtype.kind in "iu" and counts.max(initial=0) < LARGEST_DIMENSION
        self._rows.append(rows.astype(np.int32))
        self._words.append(words.astype(np.int32))
        self._counts.append(counts.astype(np.int32) if small else counts)
        self.number += len(rows)

    def documents(self, path: Path, n_rows: int, n_words: int, first_word: int = 0) -> Documents:
        """Return the matrix; entries of one place are added up, and words were numbered from `first_word`."""
        check_entries(path, n_rows, n_words, self.number)
        rows, words, counts = _joined(self._rows), _joined(self._words), _joined(self._counts)
        words -= first_word
        return checked(path, sparse.coo_array((counts, (rows, words)), shape=(n_rows, n_words)))


def _joined(parts: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Put arrays together and forget the parts, so that not all of them are in memory twice."""
    whole = np.concatenate(parts)
    parts.clear()
    return whole


def check_dimension(path: Path, what: str, number: int) -> None:
    """Refuse more documents or words than indices of 32 bits can number."""
    if not 0 <= number <= LARGEST_DIMENSION:
        raise CorpusError(f"{path} says it has {number:,} {what}: at most {LARGEST_DIMENSION:,} can be read.")


def check_shape(path: Path, n_rows: int, n_words: int, n_entries: int) -> None:
    """Refuse sizes that a header claims and the entries make implausible, before memory is taken for them."""
    check_dimension(path, "documents", n_rows)
    check_dimension(path, "words", n_words)
    if n_rows > max(_FREE_ROWS, _ROWS_PER_ENTRY * n_entries):
        raise CorpusError(
            f"{path} says it has {n_rows:,} documents but has only {n_entries:,} entries: mend the number of documents."
        )


def check_entries(path: Path, n_rows: int, n_words: int, n_entries: int) -> None:
    """Refuse implausible sizes, and a matrix without entries."""
    check_shape(path, n_rows, n_words, n_entries)
    if not n_entries:
        raise CorpusError(f"{path} has no entries: give a corpus with at least one word.")


def check_total(path: Path, total: float) -> None:
    """Refuse counts whose sum is beyond the whole numbers that doubles hold."""
    if total >= LARGEST:
        raise CorpusError(f"{path} has counts that add up to more than {LARGEST:,}: mend them.")


def checked(path: Path, matrix: Any, first_row: int = 0) -> Documents:
    """Return a sparse matrix as documents if its entries are numbers, finite and not negative.

    Its indices must be in range already; it may be a part of one, from `first_row` on.
    """
    matrix.data = plain(path, matrix.data)
    faulty = np.flatnonzero(~(np.isfinite(matrix.data) & (matrix.data >= 0)))
    if len(faulty):
        entries = matrix.tocoo()
        faulty = np.flatnonzero(~(np.isfinite(entries.data) & (entries.data >= 0)))
        row, word = int(entries.row[faulty[0]]) + 1 + first_row, int(entries.col[faulty[0]]) + 1
        raise CorpusError(
            f"{path}: the entry of document {row} and word {word} is {entries.data[faulty[0]]}, and entries "
            "must be finite and not negative: mend it."
        )
    documents = Documents.from_matrix(matrix.tocsr())
    if not np.isfinite(documents.counts).all():
        raise CorpusError(f"{path} has entries that repeat and add up to infinity: mend them.")
    return documents


def plain(path: Path, data: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return entries as int32, int64, float32 or float64, such that sums of entries that repeat do not overflow."""
    if data.dtype.kind == "f":
        wanted: Any = np.float64 if data.dtype.itemsize > 4 else np.float32
    elif data.dtype.kind in "biu":
        if data.min(initial=0) < 0:
            return data
        total = float(data.sum(dtype=np.float64))
        check_total(path, total)
        wanted = np.int64 if data.dtype.itemsize > 4 or total > LARGEST_DIMENSION else np.int32
    else:
        raise CorpusError(f"{path} has entries of type {data.dtype}: give whole or decimal numbers.")
    with np.errstate(over="ignore"):  # to infinity, which is refused
        return data.astype(wanted, copy=False)
