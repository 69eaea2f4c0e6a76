import numpy as np
import pytest

from ssvi import tallies
from ssvi.lookup import Trends, with_most_of
from ssvi.tallies import Best, MeansByLabel

RNG = np.random.default_rng(0)
SHARES = RNG.dirichlet([0.5] * 4, 200).round(2)  # so that some are equal


def parts(*tables):
    return [(start, *(table[start : start + 30] for table in tables)) for start in range(0, 200, 30)]


@pytest.mark.parametrize("count", [1, 7, 500])
def test_the_best_rows_are_those_of_the_whole_table(count):
    best = Best(4, count)
    for start, own in parts(SHARES):
        best.see(start, own)
    for column in range(4):
        expected = with_most_of(SHARES, [column], count)
        assert best.found(column).rows.tolist() == expected.rows.tolist()
        assert best.found(column).values.tolist() == expected.values.tolist()


@pytest.mark.parametrize("kind", ["group", "date"])
def test_means_are_those_of_the_whole_table(kind):
    labels = [
        ["b", "a", "", "c"][i % 7 % 4] if kind == "group" else f"20{i % 13 + 10}-0{i % 9 + 1}" for i in range(200)
    ]
    labels[3] = ""
    means = MeansByLabel()
    for _, own, shares in parts(labels, SHARES):
        means.see(own, shares)
    found = means.trends(kind)
    expected = Trends.by_group(SHARES, labels) if kind == "group" else Trends.over_time(SHARES, labels)
    assert (found.kind, found.names, found.counts.tolist()) == (expected.kind, expected.names, expected.counts.tolist())
    np.testing.assert_allclose(found.shares, expected.shares, rtol=1e-12)
    np.testing.assert_allclose(found.overall, expected.overall, rtol=1e-12)
    assert found.unknown == expected.unknown


def test_labels_beyond_a_number_are_left_out(monkeypatch):
    monkeypatch.setattr(tallies, "_MOST_LABELS", 5)
    means = MeansByLabel()
    means.see([str(i) for i in range(200)], SHARES)
    assert means.left_out == 195
    assert len(means.trends("group").names) == 5
    assert MeansByLabel().trends("group") is None
