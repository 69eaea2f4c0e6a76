"""What documents tell of components, against counts by hand."""

import numpy as np
import pytest
from tests.report.made import Made, documents_of

from ssvi.evaluation.coherence import document_occurrences, npmi, top_words
from ssvi.report.components import Components
from ssvi.report.corpus import CorpusFacts, coherence
from ssvi.report.packing import unpack


def _shares():
    return np.array([[0.8, 0.2], [0.6, 0.4], [0.1, 0.9], [0.3, 0.7]])


def test_shares_over_time_are_means_of_each_period():
    facts = CorpusFacts(_shares(), dates=["2020-01-05", "2020-01-20", "2020-03-01", ""])
    found = facts.over_time(_shares())
    assert found["unit"] == "day"
    assert len(found["names"]) == 57
    assert found["unknown"] == 1
    values = unpack(found["shares"]).reshape(2, 57)
    np.testing.assert_allclose(values[:, [0, 15, 56]], [[0.8, 0.6, 0.1], [0.2, 0.4, 0.9]], rtol=1e-6)
    assert sum(found["counts"]) == 3
    facts = CorpusFacts(_shares(), dates=["2018", "2018-06", "2021-01-01", np.datetime64("2021-12-31")])
    found = facts.over_time(_shares())
    assert (found["unit"], found["names"][0], found["names"][-1]) == ("month", "2018-01", "2021-12")


def test_groups_have_the_means_of_their_documents_the_largest_first():
    found = CorpusFacts(_shares(), groups=["b", "a", "b", None]).by_group(_shares())
    assert (found["names"], found["counts"]) == (["b", "a"], [2, 1])
    np.testing.assert_allclose(unpack(found["shares"]).reshape(2, 2), [[0.45, 0.6], [0.55, 0.4]], rtol=1e-6)
    many = CorpusFacts(np.ones((30, 2)), groups=[f"g{row}" for row in range(30)]).by_group(np.ones((30, 2)))
    assert (len(many["names"]), many["left_out"]) == (20, 10)
    assert CorpusFacts(_shares()).by_group(_shares()) is None
    assert CorpusFacts(_shares(), groups=[""] * 4).by_group(_shares()) is None


def test_examples_are_the_documents_with_most_of_each():
    asked = []

    def beginnings(rows, length):
        asked.append((sorted(rows), length))
        return {row: f"text {row}" for row in rows if row}

    facts = CorpusFacts(_shares(), titles=["A", "B", "C", ""], dates=["2020", None, "2021", ""], beginnings=beginnings)
    documents, chosen = facts.examples(_shares())
    assert asked == [([0, 1, 2, 3], 280)]
    assert [documents[place]["name"] for place, _ in chosen[1]] == [
        "document 3",
        "document 4",
        "document 2",
        "document 1",
    ]
    assert [share for _, share in chosen[1]] == [0.9, 0.7, 0.4, 0.2]
    assert documents[0] == {"name": "document 1", "parts": [[0, 0.8], [1, 0.2]], "title": "A", "date": "2020"}
    assert documents[3]["text"] == "text 3"
    assert "title" not in documents[3]


@pytest.mark.parametrize("name", ["names", "titles", "dates", "groups"])
def test_what_has_another_length_is_refused(name):
    with pytest.raises(ValueError, match=f"{name} has 2 entries, and the data 4 rows"):
        CorpusFacts(_shares(), **{name: ["a", "b"]})


def test_coherence_is_that_of_the_evaluation_and_passes_over_words_that_do_not_occur():
    made = Made(5, 80)
    counts = documents_of(made, 60)["data"]
    parts = Components.of(made)
    tops = top_words(parts.rows, 10)
    found = coherence(parts, counts)
    occurs = counts.sum(axis=0) > 0
    for k, top in enumerate(tops):
        own = top[occurs[top]]
        assert found[k] == pytest.approx(npmi(own[None], document_occurrences(counts, own[None]))[0], abs=5e-4)
    assert coherence(parts, np.zeros((3, 80), dtype=int)) == [None] * 5


def test_rows_of_a_table_are_not_called_documents():
    assert CorpusFacts(_shares(), noun="row").about(1, _shares()[1], "")["name"] == "row 2"


def test_periods_with_too_few_documents_are_not_believed():
    shares = np.array([[0.9, 0.1]] + [[0.1, 0.9]] * 40 + [[0.2, 0.8]] * 60)
    found = CorpusFacts(shares, dates=["2018"] + ["2020"] * 40 + ["2025"] * 60).over_time(shares)
    assert found["counts"][0] == 1
    assert [value for value in found["trust"] if value] == [0.8, 1.0]
    values = unpack(found["shares"]).reshape(2, -1)
    assert values[0, 0] == pytest.approx(0.9)  # a download has means as they are
