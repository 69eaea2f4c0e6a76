"""Sparse matrices in forms of all kinds, sound or not."""

import numpy as np
import pytest
from scipy import sparse

from ssvi.batches.documents import Documents
from ssvi.batches.frames import Frames
from ssvi.batches.matrices import canonical_rows

DENSE = np.array([[0, 2, 1, 0], [0, 0, 0, 0], [3, 0, 0, 1]])


def made(container, data, indices, indptr, shape, dtype=float):
    """Return a compressed matrix of these very arrays, sound or not: SciPy's constructors would look at them."""
    matrix = container(shape, dtype=dtype)
    matrix.data, matrix.indices = np.array(data, dtype=dtype), np.array(indices, dtype=np.int32)
    matrix.indptr = np.array(indptr, dtype=np.int32)
    return matrix


def messy(container=sparse.csr_array, dtype=float):
    """Return `DENSE` with duplicates, stored zeros, columns out of order, and room for two more entries."""
    data = [1, 1, 1, 0, 5, -5, 2, 1, 1, 0, 7, 9]
    indices = [2, 1, 1, 0, 3, 3, 0, 3, 0, 2, -7, 90]
    return made(container, data, indices, [0, 6, 6, 10], (3, 4), dtype)


@pytest.mark.parametrize("container", [sparse.csr_array, sparse.csr_matrix])
@pytest.mark.parametrize("dtype", [float, np.float32, np.int64, np.int8])
def test_entries_of_one_place_add_up_and_the_given_matrix_stays_as_it_is(container, dtype):
    matrix = messy(container, dtype)
    before = [part.copy() for part in (matrix.data, matrix.indices, matrix.indptr)]
    rows = canonical_rows(matrix)
    np.testing.assert_array_equal(rows.toarray(), DENSE)
    assert rows.dtype == dtype
    assert rows.indices.tolist() == [1, 2, 0, 3]
    assert rows.data.tolist() == [2, 1, 3, 1]
    for old, new in zip(before, (matrix.data, matrix.indices, matrix.indptr), strict=True):
        np.testing.assert_array_equal(new, old)


def test_documents_and_frames_are_the_same_however_a_matrix_is_laid_out():
    tidy, other = Documents.from_matrix(DENSE), Documents.from_matrix(messy())
    np.testing.assert_array_equal(other.words, tidy.words)
    np.testing.assert_array_equal(other.counts, tidy.counts)
    np.testing.assert_array_equal(other.content_keys(3), tidy.content_keys(3))
    mask = made(sparse.csr_array, [2, -2, 1, 1], [0, 0, 1, 1], [0, 4, 4, 4], (3, 4), int)
    frames = Frames.from_matrix(messy(), mask)
    assert frames.missing.words.tolist() == [1]
    assert frames.values.words.tolist() == [2, 0, 3]


def test_a_truth_twice_is_a_truth():
    matrix = made(sparse.csr_array, [True, True], [1, 1], [0, 2], (1, 2), bool)
    np.testing.assert_array_equal(canonical_rows(matrix).toarray(), [[False, True]])


UNSOUND = {
    "a negative column": (
        made(sparse.csr_array, [1, 1, 1], [0, -1, 1], [0, 2, 3], (2, 3)),
        "in column -1, and it has 3",
    ),
    "a column too far": (made(sparse.csr_matrix, [1, 1, 1], [0, 3, 1], [0, 2, 3], (2, 3)), "in column 3, and it has 3"),
    "a column far away": (made(sparse.csr_array, [1, 1], [0, 1 << 30], [0, 1, 2], (2, 3)), "in column 1073741824"),
    "pointers that go back": (
        made(sparse.csr_array, [1, 1, 1], [0, 2, 1], [0, 3, 2, 3], (3, 3)),
        "indptr that does not",
    ),
    "pointers below zero": (made(sparse.csr_array, [1, 1, 1], [0, 2, 1], [0, -1, 3], (2, 3)), "indptr that does not"),
    "pointers from one on": (made(sparse.csr_array, [1, 1, 1], [0, 2, 1], [1, 2, 3], (2, 3)), "indptr that does not"),
    "pointers past the end": (made(sparse.csr_array, [1, 1, 1], [0, 2, 1], [0, 2, 9], (2, 3)), "through its 3 entries"),
    "too many pointers": (made(sparse.csr_array, [1, 1, 1], [0, 2, 1], [0, 2, 3, 3], (2, 3)), "indptr that does not"),
    "too few values": (made(sparse.csr_array, [1, 1], [0, 2, 1], [0, 2, 3], (2, 3)), "indptr that does not"),
    "a negative row": (
        made(sparse.csc_array, [1, 1, 1], [0, -1, 1], [0, 2, 3], (3, 2)),
        "in row -1, and it has 3 rows",
    ),
    "a row too far": (made(sparse.csc_matrix, [1, 1, 1], [0, 3, 1], [0, 2, 3], (3, 2)), "in row 3, and it has 3 rows"),
    "a block too far": (sparse.bsr_array(np.eye(4), blocksize=(2, 2)), "in column 4, and it has 4 columns"),
    "a list too long": (sparse.lil_array(np.eye(3)), "in column 5, and it has 3 columns"),
    "a place out of reach": (sparse.coo_array(np.eye(3)), "in row -2, and it has 3 rows"),
    "half a column": (sparse.csr_array(np.eye(3)), "column numbers that are not integers but float64"),
}
UNSOUND["a block too far"][0].indices[0] = 2
UNSOUND["a list too long"][0].rows[1] = [5]
UNSOUND["a place out of reach"][0].coords[0][1] = -2
UNSOUND["half a column"][0].indices = np.array([0.5, 1.0, 2.0])


@pytest.mark.parametrize("name", UNSOUND)
def test_a_matrix_with_entries_outside_of_itself_is_refused(name):
    matrix, message = UNSOUND[name]
    for take in (canonical_rows, Documents.from_matrix, Frames.from_matrix, lambda m: Frames.from_matrix(np.eye(3), m)):
        with pytest.raises(ValueError, match=rf"^the sparse matrix has .*{message}[^.]*\.$"):
            take(matrix)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_matrices_of_nothing_are_sound(shape):
    for form in ("csr", "csc", "coo"):
        assert canonical_rows(sparse.coo_array(shape).asformat(form)).shape == shape
