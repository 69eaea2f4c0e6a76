"""What is said of a text, against the model it comes from."""

import numpy as np
import pytest
from scipy import sparse
from tests.serve.conftest import THEMES, WORDS

from ssvi import BernoulliMixture, GaussianMixture
from ssvi.serve.answers import Answers, KnownDocuments

TEXT = "The JUDGE heard an appeal; the verdict, said the court, moved the price."


def _counts(*words):
    return sparse.csr_array([[words.count(word) for word in WORDS]])


def test_topics_are_those_of_transform(answers, model):
    said = answers.about(TEXT)
    expected = model.transform(_counts("judge", "appeal", "verdict", "court", "price"))[0]
    assert said["words"] == 5
    weights = [own["weight"] for own in said["components"]]
    assert weights == sorted(weights, reverse=True)
    np.testing.assert_allclose(weights, [expected[own["component"]] for own in said["components"]])
    assert set(said["components"][0]["distinctive"][:4]) == set(THEMES[1].split())


def test_pieces_are_the_text_and_words_have_their_most_likely_topic(answers, model):
    said = answers.about(TEXT)
    assert "".join(piece["text"] for piece in said["pieces"]) == TEXT
    marked = [piece for piece in said["pieces"] if "component" in piece]
    assert [piece["text"] for piece in marked] == ["JUDGE", "appeal", "verdict", "court", "price"]
    theta = model.transform(_counts("judge", "appeal", "verdict", "court", "price"))[0]
    phi = model.components_ / model.components_.sum(axis=1, keepdims=True)
    for piece in marked:
        joint = theta * phi[:, WORDS.index(piece["term"])]
        assert piece["component"] == joint.argmax()
        assert piece["probability"] == pytest.approx(joint.max() / joint.sum(), rel=1e-5)


def test_the_score_is_that_of_the_model(answers, model):
    said = answers.about(TEXT)
    assert said["score"] == model.score(_counts("judge", "appeal", "verdict", "court", "price"))
    assert said["meaning"] == model.explain_score(said["score"])


def test_similar_documents_are_in_the_order_of_the_bhattacharyya_coefficient(answers):
    assert answers.about(TEXT)["similar"][0]["number"] == 2
    documents = KnownDocuments(np.array([[1.0, 0, 0], [0, 2, 0], [1, 1, 0]]), [{"number": n} for n in (1, 2, 3)])
    found = documents.like(np.array([3.0, 1, 0]))
    assert [own["number"] for own in found] == [3, 1, 2]
    expected = [np.sqrt(0.375) + np.sqrt(0.125), np.sqrt(0.75), 0.5]
    np.testing.assert_allclose([own["likeness"] for own in found], expected)


def test_a_text_without_known_words_is_refused(answers):
    with pytest.raises(ValueError, match="no word that the model knows"):
        answers.about("nothing of that kind")


def test_models_that_cannot_read_text_are_refused():
    X = np.random.default_rng(0).normal(size=(50, 3))
    gaussian = GaussianMixture(2, max_iter=2, random_state=0, verbose=0).fit(X)
    with pytest.raises(ValueError, match="has no words"):
        Answers(gaussian, "model")
    gaussian.vocabulary_ = ("a", "b", "c")
    with pytest.raises(ValueError, match="a model of measurements"):
        Answers(gaussian, "model")


def test_clusters_of_words_answer_too():
    rows = np.repeat([[1, 1, 0, 0], [0, 0, 1, 1]], 30, axis=0)
    mixture = BernoulliMixture(2, max_iter=20, random_state=0, verbose=0).fit(rows)
    mixture.vocabulary_ = ("oil", "price", "court", "judge")
    said = Answers(mixture, "model").about("oil price oil")
    assert said["components"][0]["weight"] > 0.9
    assert {"oil", "price"} == set(said["components"][0]["distinctive"][:2])
