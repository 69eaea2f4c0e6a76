"""Hashes of documents, and which share of some were among others."""

import numpy as np
import pytest
from scipy import sparse

from ssvi import sketches
from ssvi.batches.documents import Documents
from ssvi.sketches import SIZE, document_hashes, share_seen, sketch_of

KNOWN = [3052291039052778991, 974511280432283505]  # of the documents below, by the first version


def _counts(rows, seed=0):
    return np.random.default_rng(seed).poisson(0.7, (rows, 40))


def test_equal_documents_have_equal_hashes_in_any_form_and_others_not():
    counts = _counts(2_000)
    found = document_hashes(counts)
    assert len(np.unique(found)) == len(np.unique(counts, axis=0))
    assert (found >= 0).all()
    for same in (counts.astype(np.float32), sparse.csr_array(counts), sparse.coo_array(counts), Documents.of(counts)):
        np.testing.assert_array_equal(document_hashes(same), found)
    wider = np.hstack([counts, np.zeros((2_000, 3), int)])  # a vocabulary that grew
    np.testing.assert_array_equal(document_hashes(wider), found)


def test_hashes_are_the_same_on_every_machine():
    """Files hold them."""
    assert document_hashes(np.array([[1, 0, 2], [0, 1, 0]])).tolist() == KNOWN


@pytest.mark.parametrize("at_once", [1, 7, 100])
def test_documents_are_taken_some_at_a_time(at_once, monkeypatch):
    counts = _counts(100)
    counts[[0, 50, 51, 99]] = 0
    found = document_hashes(counts)
    assert len(found) == 96  # empty documents say nothing
    monkeypatch.setattr(sketches, "_AT_ONCE", at_once)
    np.testing.assert_array_equal(document_hashes(counts), found)
    part = Documents.of(counts).slice(20, 60)
    np.testing.assert_array_equal(document_hashes(part), document_hashes(counts[20:60]))


def test_negative_numbers_and_gaps_count():
    rows = np.array([[1.5, -2.0], [1.5, 2.0], [1.5, np.nan], [1.5, -2.0]])
    found = document_hashes(rows)
    assert found[0] == found[3]
    assert len(np.unique(found)) == 3


def test_the_share_of_large_corpora_is_about_right():
    """Of 20,000 documents half are in the fit; by a sketch of 1,024 the standard error is 0.016: 0.08 is five."""
    hashes = np.random.default_rng(1).integers(0, 2**63 - 1, 30_000)
    sketch = sketch_of(hashes[:20_000])
    assert len(sketch) == SIZE
    assert share_seen(sketch, hashes[:20_000]) == 1.0
    assert share_seen(sketch, hashes[20_000:]) == 0.0
    assert share_seen(sketch, hashes[10_000:]) == pytest.approx(0.5, abs=0.08)


def test_a_sketch_goes_on():
    hashes = np.random.default_rng(2).integers(0, 2**63 - 1, 5_000)
    parts = sketch_of(hashes[2_000:], sketch_of(hashes[:2_000]))
    np.testing.assert_array_equal(parts, sketch_of(hashes))
