"""Frames with missing entries."""

import numpy as np
from scipy import sparse

from ssvi.batches.frames import Frames

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(0.8, (9, 6))
MASK = RNG.uniform(size=(9, 6)) < 0.2


def _dense(part):
    rows = np.repeat(np.arange(len(part)), part.costs())
    dense = np.zeros((len(part), part.n_words))
    tight = part.tight()
    dense[rows, tight.words] = tight.counts
    return dense


def test_values_and_missing_entries_are_apart():
    for matrix in (COUNTS, sparse.csr_array(COUNTS)):
        for mask in (MASK, sparse.csr_array(MASK)):
            frames = Frames.from_matrix(matrix, mask)
            np.testing.assert_array_equal(_dense(frames.values), np.where(MASK, 0, COUNTS))
            np.testing.assert_array_equal(_dense(frames.missing), MASK)
            assert frames.n_known == (~MASK).sum()
            assert frames.n_features == 6


def test_nothing_is_missing_by_default():
    frames = Frames.from_matrix(COUNTS)
    assert frames.n_known == COUNTS.size
    np.testing.assert_array_equal(frames.costs(), (COUNTS > 0).sum(axis=1))


def test_rows_can_be_cut_and_taken():
    frames = Frames.from_matrix(COUNTS, MASK)
    for chosen, rows in ((frames.slice(2, 6), np.arange(2, 6)), (frames.take(np.array([7, 0, 3])), [7, 0, 3])):
        np.testing.assert_array_equal(_dense(chosen.values), np.where(MASK, 0, COUNTS)[rows])
        np.testing.assert_array_equal(_dense(chosen.missing), MASK[rows])
        np.testing.assert_array_equal(chosen.tight().costs(), chosen.costs())
        assert len(chosen) == len(rows)
