"""Labels and marks, against topics of which it is known what sets them apart."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.spatial.distance import jensenshannon

from ssvi.labels import (
    beside,
    copies,
    cosines,
    distinct,
    distinctive_columns,
    distinctive_words,
    divergence_from_others,
    is_in,
    labels,
    marks,
    overall_weights,
    without_repeats,
    worth_reading_first,
)
from ssvi.report.components import Components

WORDS = ["the", "oil", "price", "prices", "film", "actor", "court", "judge"]


def _topics():
    """Three topics that share their most probable word, with two words of their own each."""
    rows = np.full((3, 8), 0.01)
    rows[:, 0] = 0.3
    for k, own in enumerate(([1, 2, 3], [4, 5], [6, 7])):
        rows[k, own] = [0.3, 0.2, 0.15][: len(own)]
    return rows / rows.sum(axis=1, keepdims=True), np.array([0.5, 0.3, 0.2])


def test_the_word_that_all_share_distinguishes_none():
    topics, shares = _topics()
    assert [row[0] for row in distinctive_words(topics, shares, WORDS, 1, relevance=1.0)] == ["the"] * 3
    assert [row[0] for row in distinctive_words(topics, shares, WORDS, 2)] == ["oil", "film", "court"]


@pytest.mark.parametrize("weight", [0.0, 0.3, 0.6, 1.0])
def test_the_order_is_that_of_the_formula_written_out(weight):
    topics, shares = _topics()
    rng = np.random.default_rng(0)
    topics = rng.dirichlet(np.full(40, 0.3), 5)
    shares = rng.dirichlet(np.ones(5))
    overall = sum(share * row for share, row in zip(shares, topics, strict=True))
    found = distinctive_columns(topics, shares, 7, weight)
    for k, row in enumerate(topics):
        said = [weight * np.log(p) + (1 - weight) * np.log(p / q) for p, q in zip(row, overall, strict=True)]
        assert found[k].tolist() == sorted(range(40), key=lambda v: -said[v])[:7]
    np.testing.assert_allclose(overall_weights(topics, shares), overall)


def test_labels_say_nothing_twice_and_no_two_are_the_same():
    topics, shares = _topics()
    assert labels(topics, shares, WORDS) == ["oil, price, the", "film, actor, the", "court, judge, the"]
    twice = np.vstack([topics, topics[:1]])
    found = labels(twice, np.array([0.4, 0.3, 0.2, 0.1]), WORDS)
    assert len(set(found)) == 4
    assert found[3].startswith("oil, price, the, ")  # the smaller of the two takes further words
    many = labels(np.ones((30, 2)) / 2, np.ones(30), ["a", "b"])
    assert len(set(many)) == 30


def test_labels_that_a_person_gave_stay_and_are_not_given_twice():
    topics, shares = _topics()
    assert labels(topics, shares, WORDS, given=["", "Cinema ", ""]) == [
        "oil, price, the",
        "Cinema",
        "court, judge, the",
    ]
    found = labels(topics, shares, WORDS, given=["", "oil, price, the", ""])
    assert found[1] == "oil, price, the"
    assert found[0] != found[1]
    with pytest.raises(ValueError, match="there are 2 labels for 3 components"):
        labels(topics, shares, WORDS, given=["a", "b"])


def test_phrases_and_endings_repeat():
    assert list(without_repeats(["new york", "york", "yorker", "new_york_city", "stock"])) == [
        "new york",
        "yorker",
        "stock",
    ]
    assert list(without_repeats(["car", "cart", "carts"])) == ["car", "cart"]  # short words may begin alike


def test_a_component_of_nothing_has_a_label_all_the_same():
    assert distinct([[], ["oil"]], np.array([0.5, 0.5])) == ["nothing", "oil"]
    assert labels(np.zeros((1, 2)), np.ones(1), ["a", "b"]) == ["a"]


def test_marks_find_what_was_planted():
    rng = np.random.default_rng(1)
    topics = rng.dirichlet(np.full(300, 0.05), 12)
    shares = np.full(12, 1.0)
    assert marks(topics, shares) == [[]] * 12
    junk = 0.9 * topics.mean(axis=0) + 0.1 * topics[0]
    copy = 0.95 * topics[3] + 0.05 * topics[4]
    planted = np.vstack([topics, junk, copy, topics[5]])
    sizes = np.array([*shares, 0.9, 0.5, 0.04])
    found = marks(planted, sizes, numbers=range(100, 115))
    assert found[:12] == [[]] * 12
    assert found[12:] == [["junk"], ["copy of #103"], ["dust", "copy of #105"]]


def test_a_topic_of_what_all_documents_have_is_common():
    """Three even shares or more, and a fifth of all."""
    topics = np.random.default_rng(1).dirichlet(np.full(300, 0.05), 30)
    sizes = np.full(30, 0.7 / 29)
    sizes[4] = 0.3
    assert marks(topics, sizes)[4] == ["common"]
    sizes[4] = 0.1
    assert marks(topics, sizes)[4] == []
    assert marks(topics[:4], np.array([0.7, 0.1, 0.1, 0.1])) == [[]] * 4  # of four, one may well be large


def test_a_large_topic_is_not_junk_for_making_up_most_of_the_data():
    topics, _ = _topics()
    assert "junk" not in marks(topics, np.array([0.98, 0.01, 0.01]))[0]
    assert marks(topics[:1], np.ones(1)) == [[]]


def test_divergence_is_jensen_shannon_from_the_mean_of_the_others():
    rng = np.random.default_rng(2)
    topics, shares = rng.dirichlet(np.ones(20), 4), rng.dirichlet(np.ones(4))
    for k, found in enumerate(divergence_from_others(topics, shares)):
        others = np.average(np.delete(topics, k, axis=0), axis=0, weights=np.delete(shares, k))
        assert found == pytest.approx(jensenshannon(topics[k], others, base=2) ** 2, rel=1e-9)


def test_copies_point_at_the_larger_and_of_equals_at_the_first():
    topics = np.array([[1.0, 0.1], [1.0, 0.1], [0.0, 1.0], [1.0, 0.15]])
    assert copies(topics, np.array([1.0, 1.0, 1.0, 5.0])) == [3, 0, None, None]  # the nearest of those before it
    assert copies(topics[:3], np.ones(3)) == [None, 0, None]
    np.testing.assert_allclose(cosines(topics)[0, 2], 0.1 / np.hypot(1.0, 0.1))


def test_what_does_not_fit_together_is_refused():
    topics, shares = _topics()
    for wrong, message in (
        (lambda: distinctive_words(topics, shares[:2], WORDS), "do not go with 2 weights"),
        (lambda: distinctive_words(topics, shares, WORDS[:3]), "3 words for 8 columns"),
        (lambda: distinctive_words(topics, shares, WORDS, 0), "n must be 1 or more"),
        (lambda: distinctive_words(topics, shares, WORDS, relevance=1.5), "relevance must be from 0 to 1"),
    ):
        with pytest.raises(ValueError, match=message):
            wrong()


def _estimator(**more):
    topics, shares = _topics()
    settings = {"nouns": ("Topics", "topic", "word"), "rows_are_means": False, "column_widths": lambda: 1.0, **more}
    return SimpleNamespace(summarize_components=lambda: (shares[[1, 0, 2]], topics[[1, 0, 2]], 0 * topics), **settings)


def test_components_take_the_labels_of_their_estimator_along():
    parts = Components.of(_estimator(labels_=["Cinema", "", ""]))
    assert parts.labels(WORDS) == ["oil, price, the", "Cinema", "court, judge, the"]
    assert parts.take([1, 2]).labels(None) == ["Cinema", "topic 2"]
    assert Components.of(_estimator(labels_=np.array([1, 2, 3]))).labels(None) == ["topic 1", "topic 0", "topic 2"]


def test_means_are_told_apart_by_direction():
    parts = Components.of(_estimator(rows_are_means=True))
    assert parts.distinctive(0, WORDS, 1)[0][-1] in "↑↓"
    assert "oil ↑" in parts.distinctive(0, WORDS, 8)
    assert "film ↓" in parts.distinctive(0, WORDS, 8)
    assert parts.marks() == [[], [], []]


def test_words_of_a_label_are_known_in_it():
    """Also if they were cut, if a number was added, or if more words were needed to tell two components apart."""
    long = "od280/od315_of_diluted_wines ↓"
    ranked = [["oil", "price", "barrel"], ["oil", "price"], [long, "oil"], ["oil", "price"]]
    called = distinct(ranked, np.array([0.4, 0.3, 0.2, 0.1]), n=2)
    assert called == ["oil, price", "oil, price (1)", "od280/od315_of_dilute… ↓, oil", "oil, price (3)"]
    for words, label in zip(ranked, called, strict=True):
        assert [word for word in words if is_in(word, label)] == words[:2]
        assert beside(label, words, given=False) == words[2:]
        assert beside(label, words, given=True) == words
    assert not is_in("price (1", "oil, price (1)")


def test_a_report_begins_with_a_large_topic_that_is_coherent_and_distinctive():
    topics = np.full((6, 12), 0.02)
    for k in range(6):
        topics[k, 2 * k : 2 * k + 2] = 0.39
    topics[0] = 1.0 / 12.0
    topics /= topics.sum(axis=1, keepdims=True)
    shares, clean = np.array([0.4, 0.2, 0.15, 0.1, 0.1, 0.05]), [[] for _ in range(6)]
    assert worth_reading_first(topics, shares, clean) in (1, 2, 3)
    assert worth_reading_first(topics, shares, clean, [0.0, 0.1, 0.5, 0.1, 0.9, 0.9]) == 2  # others are small
    marked = [["common"], [], ["junk"], [], [], []]
    assert worth_reading_first(topics, shares, marked, [0.0, 0.1, 0.9, None, 0.9, 0.9]) == 1
    assert worth_reading_first(topics, shares, [["dust"]] * 6) == 0
    assert worth_reading_first(topics[:1], shares[:1], [[]]) == 0
