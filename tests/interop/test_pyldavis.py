import json
import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import NotFittedError

from ssvi import LatentDirichletAllocation
from ssvi.interop import prepare_pyldavis, to_pyldavis

SHAPES = {"topic_term_dists": (4, 30), "doc_topic_dists": (120, 4), "doc_lengths": (120,), "term_frequency": (30,)}


@pytest.fixture(scope="module")
def lda(counts):
    return LatentDirichletAllocation(4, max_iter=3, random_state=1).fit(counts)


def _check(data):
    """Check what pyLDAvis 3.4 checks of its input, and that the frequencies of topics are no NaN."""
    topics, weights = data["topic_term_dists"], data["doc_topic_dists"]
    assert weights.shape[1] == topics.shape[0]
    assert len(data["doc_lengths"]) == len(weights)
    assert len(data["vocab"]) == len(data["term_frequency"]) == topics.shape[1]
    np.testing.assert_allclose(topics.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(weights.sum(axis=1), 1, atol=1e-12)
    assert (topics > 0).all()
    assert (weights.T @ data["doc_lengths"] > 0).all()


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array, lambda counts: counts.astype(np.float32)])
def test_the_arguments_are_what_prepare_takes(lda, counts, words, form):
    data = to_pyldavis(lda, form(counts), vocabulary=words)
    _check(data)
    assert {name: value.shape for name, value in data.items() if name != "vocab"} == SHAPES
    np.testing.assert_array_equal(data["doc_lengths"], counts.sum(axis=1))
    np.testing.assert_array_equal(data["term_frequency"], counts.sum(axis=0))
    np.testing.assert_array_equal(data["topic_term_dists"], lda.topic_word_)
    np.testing.assert_allclose(data["doc_topic_dists"], lda.transform(counts), rtol=1e-6)
    assert data["vocab"] == words


def test_documents_and_words_that_do_not_occur(lda, counts):
    holes = counts.copy()
    holes[[3, 17]], holes[:, 5] = 0, 0
    data = to_pyldavis(lda, holes)
    _check(data)
    assert data["doc_lengths"][3] == data["term_frequency"][5] == 0
    filled = to_pyldavis(lda, holes[holes.any(axis=1)])
    frequencies = [each["doc_topic_dists"].T @ each["doc_lengths"] for each in (data, filled)]
    np.testing.assert_allclose(*frequencies, rtol=1e-12)


def test_the_vocabulary_is_what_the_model_knows(counts, words):
    table = pd.DataFrame(counts, columns=words)
    named = LatentDirichletAllocation(3, max_iter=1, random_state=0).fit(table)
    assert to_pyldavis(named, table)["vocab"] == words
    assert to_pyldavis(named, table, vocabulary=words[::-1])["vocab"] == words[::-1]


def test_errors(lda, counts, words, monkeypatch):
    with pytest.raises(NotFittedError, match="call fit before to_pyldavis"):
        to_pyldavis(LatentDirichletAllocation(3), counts)
    with pytest.raises(TypeError, match=r"takes a fitted ssvi.LatentDirichletAllocation"):
        to_pyldavis(counts, counts)
    with pytest.raises(ValueError, match="vocabulary has 29 words"):
        to_pyldavis(lda, counts, vocabulary=words[1:])
    with pytest.raises(ValueError, match="no words in X"):
        to_pyldavis(lda, np.zeros_like(counts))
    with pytest.raises(ValueError, match="at least two topics"):
        prepare_pyldavis(LatentDirichletAllocation(1, max_iter=1, random_state=0).fit(counts), counts)
    monkeypatch.setitem(sys.modules, "pyLDAvis", None)
    with pytest.raises(ImportError, match=r"^pyLDAvis is not installed, and this needs it: pip install pyLDAvis.$"):
        prepare_pyldavis(lda, counts)


def test_prepare_hands_everything_over(lda, counts, words, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyLDAvis", SimpleNamespace(prepare=lambda **given: given))
    given = prepare_pyldavis(lda, counts, words, sort_topics=False)
    assert set(given) == {*SHAPES, "vocab", "sort_topics"}
    assert given["vocab"] == words


def test_pyldavis_itself(lda, counts, words):
    pytest.importorskip("pyLDAvis")
    holes = counts.copy()
    holes[[3, 17]], holes[:, 5] = 0, 0
    prepared = prepare_pyldavis(lda, holes, words, sort_topics=False, n_jobs=1)
    form = json.loads(prepared.to_json())
    assert set(form) == {"mdsDat", "tinfo", "token.table", "R", "lambda.step", "plot.opts", "topic.order"}
    assert form["topic.order"] == [1, 2, 3, 4]
    weights = lda.transform(holes).T @ holes.sum(axis=1)
    np.testing.assert_allclose(form["mdsDat"]["Freq"], 100 * weights / weights.sum(), rtol=1e-6)
