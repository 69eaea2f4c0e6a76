import numpy as np
import pytest
from scipy import sparse

from ssvi.batches.documents import Documents

COUNTS = np.array([[0, 2, 0, 1], [0, 0, 0, 0], [3, 0, 0, 0], [1, 1, 1, 1]])


def _dense(documents):
    tight = documents.tight()
    return sparse.csr_array((tight.counts, tight.words, tight.indptr), shape=(len(tight), tight.n_words)).toarray()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, sparse.csr_matrix, sparse.coo_array, sparse.csc_array])
def test_from_matrix(form):
    documents = Documents.from_matrix(form(COUNTS))
    assert len(documents) == 4
    assert documents.n_words == 4
    assert documents.indptr.dtype == np.int64
    np.testing.assert_array_equal(_dense(documents), COUNTS)
    np.testing.assert_array_equal(documents.lengths(), [3, 0, 3, 4])
    np.testing.assert_array_equal(documents.costs(), [2, 0, 1, 4])


def test_csr_is_not_copied():
    matrix = sparse.csr_array(COUNTS)
    assert np.shares_memory(Documents.from_matrix(matrix).counts, matrix.data)


def test_slice_and_take():
    documents = Documents.from_matrix(COUNTS)
    part = documents.slice(1, 4)
    assert part.counts is documents.counts
    np.testing.assert_array_equal(_dense(part), COUNTS[1:4])
    np.testing.assert_array_equal(part.lengths(), [0, 3, 4])
    rows = np.array([3, 0, 1, 3])
    np.testing.assert_array_equal(_dense(documents.take(rows)), COUNTS[rows])
    np.testing.assert_array_equal(_dense(part.take(np.array([2, 0]))), COUNTS[[3, 1]])


@pytest.mark.parametrize("at_once", [2, 1_000])
@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_sums_of_documents_and_of_words(at_once, dtype, monkeypatch):
    """Documents without words at both ends and between others, whole corpora and slices of them."""
    monkeypatch.setattr("ssvi.batches.documents._ENTRIES_AT_ONCE", at_once)
    matrix = np.random.default_rng(0).poisson(0.5, (30, 4)).astype(dtype)
    matrix[[0, 7, 8, 20, 29]] = 0
    documents = Documents.from_matrix(matrix)
    for start, stop in ((0, 30), (0, 1), (7, 9), (5, 21), (8, 30), (3, 3)):
        own = documents.slice(start, stop)
        np.testing.assert_array_equal(own.lengths(), matrix[start:stop].sum(axis=1))
        np.testing.assert_array_equal(own.column_sums(), matrix[start:stop].sum(axis=0))


def test_is_whole():
    assert Documents.from_matrix(COUNTS).is_whole()
    assert Documents.from_matrix(COUNTS.astype(float)).is_whole()
    assert not Documents.from_matrix(COUNTS * 0.5).is_whole()


def test_content_keys_know_the_document_and_not_its_place():
    documents = Documents.from_matrix(COUNTS)
    keys = documents.content_keys(5)
    assert len(set(keys.tolist())) == 4
    rows = np.array([2, 0, 3])
    np.testing.assert_array_equal(documents.take(rows).content_keys(5), keys[rows])
    np.testing.assert_array_equal(documents.slice(1, 3).content_keys(5), keys[1:3])
    np.testing.assert_array_equal(Documents.from_matrix(COUNTS.astype(float)).content_keys(5), keys)
    assert not np.any(documents.content_keys(6) == keys)


def test_documents_become_a_matrix_again():
    counts = np.array([[0, 2, 0], [0, 0, 0], [1, 0, 3], [4, 0, 0]])
    documents = Documents.from_matrix(counts)
    np.testing.assert_array_equal(documents.to_matrix().toarray(), counts)
    np.testing.assert_array_equal(documents.slice(1, 3).to_matrix().toarray(), counts[1:3])
    assert documents.take(np.array([], dtype=np.int64)).to_matrix().shape == (0, 3)
