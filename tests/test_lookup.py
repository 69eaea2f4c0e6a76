"""Finding documents, against what one works out by hand, and trends."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from ssvi.lookup import Trends, most_like, shares_of, with_most_of, with_words

SHARES = np.array([[0.9, 0.1, 0.0], [0.2, 0.8, 0.0], [0.2, 0.7, 0.1], [0.0, 0.0, 1.0]])


def test_documents_with_most_of_a_component():
    found = with_most_of(SHARES, [1], 10)
    assert found.rows.tolist() == [1, 2, 0]  # the last has nothing of it
    np.testing.assert_allclose(found.values, [0.8, 0.7, 0.1])
    assert with_most_of(SHARES, [1, 2], 2).rows.tolist() == [3, 1]
    assert with_most_of(np.zeros((0, 3)), [0], 3).rows.tolist() == []


def test_likeness_is_the_sum_of_square_roots_of_products():
    found = most_like(SHARES, np.eye(4), 1, 10)
    assert found.rows.tolist() == [2, 0]
    np.testing.assert_allclose(found.values, [0.2 + math.sqrt(0.56), math.sqrt(0.18) + math.sqrt(0.08)])


def test_of_one_cluster_the_documents_with_the_same_words_come_first():
    shares = np.array([[1.0, 0.0]] * 4)
    counts = sparse.csr_array(np.array([[2, 0, 1], [0, 3, 0], [4, 0, 2], [1, 1, 1]]))
    assert most_like(shares, counts, 0, 10).rows.tolist() == [2, 3, 1]


def test_search_is_bm25():
    counts = np.array([[2, 0, 3], [1, 1, 0], [0, 0, 5], [0, 4, 0]])
    found = with_words(sparse.csr_array(counts), [0, 1, 0], 10)
    typical = (5 + 2 + 5 + 4) / 4

    def score(row):
        total = 0.0
        for column in (0, 1):
            holding = sum(1 for other in counts if other[column])
            room = 1.2 * (0.25 + 0.75 * sum(row) / typical)
            total += math.log(1 + (4 - holding + 0.5) / (holding + 0.5)) * row[column] * 2.2 / (row[column] + room)
        return total

    expected = {place: score(row) for place, row in enumerate(counts.tolist()) if score(row) > 0}
    assert found.rows.tolist() == sorted(expected, key=lambda place: -expected[place])
    np.testing.assert_allclose(found.values, sorted(expected.values(), reverse=True))


def test_trends_are_means_by_period_and_group():
    over = Trends.over_time(SHARES, ["1990", "1992", "", "1990"], "year")
    assert (over.kind, over.names, over.counts.tolist(), over.unknown) == (
        "year",
        ("1990", "1991", "1992"),
        [2, 0, 1],
        1,
    )
    np.testing.assert_allclose(over.shares, [[0.45, 0.05, 0.5], [0, 0, 0], [0.2, 0.8, 0.0]])
    np.testing.assert_allclose(over.overall, (SHARES[0] + SHARES[1] + SHARES[3]) / 3)
    assert over.most(1) == 2
    stray = replace(
        over, counts=np.array([200, 1, 50]), shares=np.array([[0.1], [0.9], [0.4]]), overall=np.array([0.2])
    )
    assert stray.most(0) == 2  # a single document is no proof
    # Nor is it where topics are many, so that it has many times the share of all.
    many = replace(
        over, counts=np.array([1042, 1, 43]), shares=np.array([[0.03], [0.9], [0.02]]), overall=np.array([0.03])
    )
    assert many.most(0) == 0
    by = Trends.by_group(SHARES, ["b", "a", "b", None])
    assert (by.kind, by.names, by.counts.tolist(), by.unknown) == ("group", ("b", "a"), [2, 1], 1)
    np.testing.assert_allclose(by.shares, [[0.55, 0.4, 0.05], [0.2, 0.8, 0.0]])
    with pytest.raises(ValueError, match="no document has a group"):
        Trends.by_group(SHARES, [""] * 4)
    with pytest.raises(ValueError, match="3 dates or groups for 4 documents"):
        Trends.over_time(SHARES, ["1990"] * 3)


def test_shares_of_a_document_without_anything_are_zero():
    np.testing.assert_array_equal(shares_of(np.array([[0.0, 0.0], [2.0, 2.0]])), [[0, 0], [0.5, 0.5]])
