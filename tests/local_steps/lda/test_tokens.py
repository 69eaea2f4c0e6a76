"""What the samplers of LDA share, against NumPy."""

import numpy as np
import pytest

from ssvi.local_steps.lda import tokens


@pytest.mark.parametrize("lengths", [[], [0], [0, 0], [3, 1, 3, 0, 7, 1], list(range(50)), [5] * 9])
def test_the_longest_documents_come_first_and_ties_in_order(lengths):
    lengths = np.array(lengths, dtype=np.int64)
    order = tokens.longest_first(lengths)
    assert sorted(order) == list(range(len(lengths)))
    assert [(-lengths[d], d) for d in order] == sorted((-length, d) for d, length in enumerate(lengths))


def test_lengths_are_sums_of_counts_and_of_a_slice_too():
    indptr, counts = np.array([0, 2, 2, 5]), np.array([3, 1, 2, 2, 4, 9], dtype=np.int32)
    np.testing.assert_array_equal(tokens.document_lengths(indptr, counts), [4, 0, 8])
    np.testing.assert_array_equal(tokens.document_lengths(indptr[1:], counts), [0, 8])


@pytest.mark.parametrize("size", [0, 1, 2, 9, 10, 100, 5_000])
@pytest.mark.parametrize("largest", [3, 2**60])
def test_numbers_are_sorted_in_place(size, largest):
    numbers = np.random.default_rng(size).integers(largest, size=size)
    expected = np.sort(numbers)
    tokens._sort(numbers)
    np.testing.assert_array_equal(numbers, expected)
