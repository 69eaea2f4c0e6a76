"""Sparse matrices as they come: found to be sound before anything reads them, then brought into one form."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

_AGAIN = "make the matrix again from its rows, columns and values"
_POINTED = {"csr": (0, 1), "bsr": (0, 1), "csc": (1, 0)}
"""For each form with pointers, the axis that these go along, and the axis whose places the indices are."""


def canonical_rows(matrix: Any) -> Any:
    """Return a matrix, sparse or dense, in CSR form: columns in order, none twice, no stored zeros.

    Entries of one place add up, as they do where a matrix becomes dense. A CSR matrix that is in this form already is
    not copied, and none is changed.
    """
    given = sparse.issparse(matrix)
    if given:
        check_sparse(matrix)
    rows = sparse.csr_array(matrix)
    if given and matrix.format != "csr":
        check_sparse(rows)  # forms without indices of their own, such as lists, are looked at here
    stop = rows.indptr[-1]
    if len(rows.data) > stop:  # room that was kept for more entries
        rows = sparse.csr_array((rows.data[:stop], rows.indices[:stop], rows.indptr), shape=rows.shape)
    if not rows.has_canonical_format or not rows.data.all():
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return rows


def check_sparse(matrix: Any) -> None:
    """Raise a `ValueError` if a sparse matrix has entries outside of itself: SciPy does not look, and may crash."""
    if matrix.format == "coo":
        for axis, places in enumerate(matrix.coords):
            _check_places(places, axis, matrix.shape[axis])
    elif matrix.format in _POINTED:
        along, across = _POINTED[matrix.format]
        height, width = matrix.blocksize if matrix.format == "bsr" else (1, 1)
        _check_pointers(matrix, matrix.shape[along] // height)
        _check_places(matrix.indices[: matrix.indptr[-1]], across, matrix.shape[across], width)


def _check_places(places: Any, axis: int, size: int, width: int = 1) -> None:
    """Raise unless all places, of blocks of some width, lie along an axis of some size."""
    noun = ("row", "column")[axis]
    if places.dtype.kind not in "iu":
        raise ValueError(f"the sparse matrix has {noun} numbers that are not integers but {places.dtype}: {_AGAIN}.")
    if len(places) and not 0 <= places.min() <= places.max() < size // width:
        outside = places[np.argmax((places < 0) | (places >= size // width))] * width
        raise ValueError(f"the sparse matrix has an entry in {noun} {outside}, and it has {size:,} {noun}s: {_AGAIN}.")


def _check_pointers(matrix: Any, size: int) -> None:
    """Raise unless pointers go up from 0, a step for each row (or column), and stay within the entries."""
    indptr, entries = matrix.indptr, min(len(matrix.indices), len(matrix.data))
    fits = len(indptr) == size + 1 and indptr.dtype.kind in "iu" and len(matrix.indices) == len(matrix.data)
    if not (fits and indptr[0] == 0 and indptr[-1] <= entries and np.all(indptr[1:] >= indptr[:-1])):
        raise ValueError(
            f"the sparse matrix has an indptr that does not lead through its {entries:,} entries from the first on: "
            f"{_AGAIN}."
        )
