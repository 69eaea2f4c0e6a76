"""Rows of counts or magnitudes, some entries of which may be missing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ssvi.batches.documents import Documents


@dataclass(frozen=True)
class Frames:
    """Samples of a factorisation, a row each: their entries that are not zero, and those that nobody knows.

    Attributes
    ----------
    values : Documents
        The entries that are known and not zero.
    missing : Documents
        The entries that are missing, as ones. All others are known zeros.

    """

    values: Documents
    missing: Documents

    @classmethod
    def from_matrix(cls, matrix: Any, mask: Any = None) -> Self:
        """Take frames x features, sparse or dense; `mask` is true where an entry is missing, whatever stands there."""
        values = Documents.from_matrix(matrix)
        if mask is None:
            nothing = np.zeros(len(values) + 1, np.int64)
            return cls(values, Documents(nothing, values.words[:0], values.counts[:0], values.n_words))
        return cls(values, Documents.from_matrix(mask)).without_hidden_values()

    def without_hidden_values(self) -> Self:
        """Return the same frames with no value where one is missing."""
        hidden, values = self.missing.tight(), self.values.tight()
        rows = [np.repeat(np.arange(len(part)), part.costs()) for part in (values, hidden)]
        places = [row * values.n_words + part.words for row, part in zip(rows, (values, hidden), strict=True)]
        keep = ~np.isin(places[0], places[1])
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows[0][keep], minlength=len(values)))])
        known = Documents(indptr, values.words[keep], values.counts[keep], values.n_words)
        return type(self)(known, hidden)

    @property
    def n_features(self) -> int:
        """The number of columns."""
        return self.values.n_words

    @property
    def n_known(self) -> int:
        """The number of entries that are not missing."""
        return len(self) * self.n_features - int(self.missing.costs().sum())

    def __len__(self) -> int:
        return len(self.values)

    def slice(self, start: int, stop: int) -> Self:
        """Return frames start, ..., stop - 1; they share the entries' arrays."""
        return type(self)(self.values.slice(start, stop), self.missing.slice(start, stop))

    def take(self, rows: npt.NDArray[np.int64]) -> Self:
        """Return the given frames in the given order, copied."""
        return type(self)(self.values.take(rows), self.missing.take(rows))

    def tight(self) -> Self:
        """Return the same frames with no entries but their own."""
        return type(self)(self.values.tight(), self.missing.tight())

    def costs(self) -> npt.NDArray[np.int64]:
        """Return the number of entries of each frame that are not known zeros."""
        return self.values.costs() + self.missing.costs()
