"""Bags of words, a row a document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ssvi.batches.matrices import canonical_rows
from ssvi.batches.runs import take_runs
from ssvi.numerics.random import Keys

_ENTRIES_AT_ONCE = 1 << 20  # where temporary arrays would be as long as the corpus


@dataclass(frozen=True)
class Documents:
    """Some documents over a vocabulary, as the three arrays of a CSR matrix.

    Attributes
    ----------
    indptr : (documents + 1,) integers
        Document d owns entries indptr[d], ..., indptr[d + 1] - 1. It need not start at 0.
    words : integers
        The word of each entry.
    counts : numbers
        How often it occurs; whole or not.
    n_words : int
        The size of the vocabulary.

    """

    indptr: npt.NDArray[np.int64]
    words: npt.NDArray[Any]
    counts: npt.NDArray[Any]
    n_words: int

    @classmethod
    def from_matrix(cls, matrix: Any) -> Self:
        """Take documents x words counts, sparse or dense; a CSR matrix in canonical form is not copied.

        In that form (see `canonical_rows`) equal documents look equal.
        """
        rows = canonical_rows(matrix)
        return cls(rows.indptr.astype(np.int64, copy=False), rows.indices, rows.data, int(rows.shape[1]))

    @classmethod
    def of(cls, data: Any) -> Documents:
        """Return documents as they are, and a documents x words matrix of counts as documents."""
        return data if isinstance(data, Documents) else cls.from_matrix(data)

    def to_matrix(self) -> Any:
        """Return documents x words counts as a sparse matrix in CSR form, as scikit-learn has them."""
        own = self.tight()
        return sparse.csr_array((own.counts, own.words, own.indptr), shape=(len(own), own.n_words))

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def slice(self, start: int, stop: int) -> Documents:
        """Return documents start, ..., stop - 1; they share the entries' arrays."""
        return Documents(self.indptr[start : stop + 1], self.words, self.counts, self.n_words)

    def take(self, rows: npt.NDArray[np.int64]) -> Documents:
        """Return the given documents in the given order, copied."""
        indptr, entries = take_runs(self.indptr, rows)
        return Documents(indptr, self.words[entries], self.counts[entries], self.n_words)

    def group(self, n: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the words of document n and how often each occurs."""
        own = slice(self.indptr[n], self.indptr[n + 1])
        return self.words[own], self.counts[own]

    def costs(self) -> npt.NDArray[np.int64]:
        """Return the number of entries of each document."""
        return np.diff(self.indptr)

    def tight(self) -> Documents:
        """Return the same documents with no entries but their own before or after them."""
        start, stop = self.indptr[0], self.indptr[-1]
        return Documents(self.indptr - start, self.words[start:stop], self.counts[start:stop], self.n_words)

    def locate(self, entry: int) -> tuple[int, int]:
        """Return the document and the word, that is row and column, of an entry."""
        return int(np.searchsorted(self.indptr, entry, side="right")) - 1, int(self.words[entry])

    def lengths(self) -> npt.NDArray[np.float64]:
        """Return the number of words (the sum of counts) of each document."""
        lengths = np.zeros(len(self))
        filled = self.costs() > 0
        if filled.any():
            # A sum goes on to the next beginning: documents without entries have none.
            stop = self.indptr[-1]
            lengths[filled] = np.add.reduceat(self.counts[:stop], self.indptr[:-1][filled], dtype=np.float64)
        return lengths

    def total_length(self) -> float:
        """Return the number of words of all documents."""
        return float(self.lengths().sum())

    def mean_length(self) -> float:
        """Return the mean number of words of a document."""
        return float(self.lengths().mean())

    def longest(self) -> float:
        """Return the number of words of the longest document."""
        return float(self.lengths().max(initial=0.0))

    def column_sums(self) -> npt.NDArray[np.float64]:
        """Return the sum of counts of each word."""
        tight, sums = self.tight(), np.zeros(self.n_words)
        for start in range(0, len(tight.words), _ENTRIES_AT_ONCE):  # each takes two arrays of doubles
            own = slice(start, start + _ENTRIES_AT_ONCE)
            sums += np.bincount(tight.words[own], weights=tight.counts[own], minlength=self.n_words)
        return sums

    def is_whole(self) -> bool:
        """Tell whether every count is a whole number."""
        counts = self.tight().counts
        return bool(np.issubdtype(counts.dtype, np.integer) or np.array_equal(counts, np.floor(counts)))

    def check_not_negative(self, where: str) -> None:
        """Raise a `ValueError` that says where the documents were passed to if a count is negative."""
        tight = self.tight()
        if tight.counts.min(initial=0) < 0:
            entry = int(np.argmin(tight.counts))
            row, column = tight.locate(entry)
            raise ValueError(
                f"Negative values in data passed to {where}: {tight.counts[entry]} at row {row}, column {column}; "
                "counts must be 0 or more."
            )

    def content_keys(self, key: int) -> Keys:
        """Return one random stream a document that depends on its words and counts, not on its place in the batch."""
        tight = self.tight()
        entry = tight.words.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        entry ^= tight.counts.astype(np.float64).view(np.uint64) * np.uint64(0xD1B54A32D192ED03)
        entry = (entry ^ (entry >> np.uint64(32))) * np.uint64(0xBF58476D1CE4E5B9)
        entry ^= entry >> np.uint64(29)
        # Sums wrap around and do not depend on the order of the words.
        totals = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(entry, dtype=np.uint64)])
        keys: Keys = totals[tight.indptr[1:]] - totals[tight.indptr[:-1]] + np.uint64(key)
        return keys
