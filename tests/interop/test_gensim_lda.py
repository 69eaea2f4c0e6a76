import sys

import numpy as np
import pandas as pd
import pytest
from gensim.corpora import Dictionary
from gensim.models import CoherenceModel, LdaModel, LdaMulticore
from sklearn.exceptions import NotFittedError

import ssvi
from ssvi import LatentDirichletAllocation
from ssvi.interop import from_gensim, from_sklearn, to_gensim, to_sklearn

ONCE_ROUNDED = 2.0**-24  # the largest relative error of a number in single precision


@pytest.fixture(scope="session")
def corpus(counts):
    return [[(int(word), int(row[word])) for word in np.flatnonzero(row)] for row in counts]


@pytest.fixture
def train(corpus, words):
    def train(**parameters):
        usual = {"passes": 3, "chunksize": 40, "random_state": 1, "eval_every": None}
        return LdaModel(corpus, 4, dict(enumerate(words)), **usual | parameters)

    return train


@pytest.fixture
def ours(counts):
    return LatentDirichletAllocation(4, max_iter=3, batch_size=30, random_state=1).fit(counts)


def _weights(model, corpus):
    gamma, _ = model.inference(corpus)
    return gamma / gamma.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("alpha", ["symmetric", "asymmetric", "auto"])
def test_theirs_comes_back_bit_for_bit(train, alpha, words):
    theirs = train(alpha=alpha)
    ours = from_gensim(theirs)
    assert ours.vocabulary_.tolist() == words
    np.testing.assert_array_equal(ours.doc_topic_prior_, theirs.alpha)
    assert ours.topic_word_prior_ == theirs.eta[0]
    np.testing.assert_allclose(ours.components_, theirs.state.get_lambda(), rtol=ONCE_ROUNDED)
    back = to_gensim(ours)
    np.testing.assert_array_equal(back.state.get_lambda(), theirs.state.get_lambda())
    np.testing.assert_array_equal(back.expElogbeta, theirs.expElogbeta)
    np.testing.assert_array_equal(back.alpha, theirs.alpha)
    np.testing.assert_array_equal(back.eta, theirs.eta)
    for name in ("chunksize", "passes", "decay", "offset", "iterations", "gamma_threshold", "num_updates", "dtype"):
        assert getattr(back, name) == getattr(theirs, name), name
    assert back.state.numdocs == theirs.state.numdocs == 120


def test_ours_comes_back_up_to_their_precision(counts):
    ours = LatentDirichletAllocation(3, doc_topic_prior=[0.1, 0.2, 0.4], topic_word_prior=0.1, random_state=0)
    ours.fit(counts)
    back = from_gensim(to_gensim(ours))
    # Both parts of lambda = eta + statistics are rounded, and each is at most lambda.
    np.testing.assert_allclose(back.components_, ours.components_, rtol=2 * ONCE_ROUNDED)
    np.testing.assert_allclose(back.doc_topic_prior_, ours.doc_topic_prior_, rtol=ONCE_ROUNDED)
    assert back.topic_word_prior_ == np.float32(0.1)
    exact = from_gensim(to_gensim(ours, dtype=np.float64))
    np.testing.assert_allclose(exact.components_, ours.components_, rtol=1e-15)
    np.testing.assert_array_equal(exact.doc_topic_prior_, ours.doc_topic_prior_)
    assert exact.topic_word_prior_ == 0.1


def test_a_converted_model_has_all_that_a_fit_leaves(train, ours):
    assert set(vars(from_gensim(train()))) == set(vars(ours)) | {"vocabulary_"}
    assert set(vars(to_gensim(ours))) == set(vars(LdaModel(num_topics=2, id2word={0: "a"})))


def test_weights_agree_given_the_same_topics(train, corpus, counts, to_the_end):
    """They take exp(E[log beta]) for the topics, we E[beta]: given ours, their weights are ours."""
    theirs = train(iterations=3000, gamma_threshold=1e-10, dtype=np.float64)
    ours = from_gensim(theirs)
    theirs.expElogbeta = ours.topic_word_
    weights = _weights(theirs, corpus[:40])
    # As it comes, our step works in single precision.
    np.testing.assert_allclose(ours.transform(counts[:40]), weights, atol=1e-5)
    np.testing.assert_allclose(ours.set_params(local_step=to_the_end).transform(counts[:40]), weights, atol=1e-7)


def test_partial_fit_goes_on_as_update(train, corpus, counts, to_the_end):
    theirs = train(iterations=3000, gamma_threshold=1e-10, dtype=np.float64)
    ours = from_gensim(theirs).set_params(local_step=to_the_end)
    back = to_gensim(from_gensim(theirs), dtype=np.float64)
    before = theirs.state.get_lambda().copy()
    theirs.update(corpus[:40], passes=1)
    back.update(corpus[:40], passes=1)
    ours.partial_fit(counts[:40])
    assert ours.history_[0].population == theirs.state.numdocs == back.state.numdocs == 160
    assert np.abs(theirs.state.get_lambda() / before - 1).max() > 0.1
    np.testing.assert_allclose(ours.components_, theirs.state.get_lambda(), rtol=1e-6)
    np.testing.assert_allclose(back.state.get_lambda(), theirs.state.get_lambda(), rtol=1e-6)


def test_the_first_step_does_not_forget_a_small_corpus(train, counts):
    """gensim's clock is near 0 for a corpus smaller than a chunk, and a step size of 1 leaves nothing of the past."""
    ours = from_gensim(train(chunksize=2000))
    assert ours.n_batch_iter_ == 1
    assert ours.partial_fit(counts[:40]).history_[0].step_size == pytest.approx(2**-0.5)


def test_to_gensim_gives_a_model_that_works(ours, corpus, counts, words):
    theirs = to_gensim(ours, vocabulary=words)
    np.testing.assert_allclose(theirs.get_topics(), ours.topic_word_, rtol=1e-5)
    weights = _weights(theirs, corpus)
    assert (weights.argmax(axis=1) == ours.transform(counts).argmax(axis=1)).mean() > 0.9
    top = [word for word, _ in theirs.show_topics(formatted=False, num_words=3)[0][1]]
    assert top == [words[column] for column in ours.components_[0].argsort()[::-1][:3]]
    assert theirs.id2word.doc2bow(["word3", "word1", "word3"]) == [(1, 1), (3, 2)]
    assert theirs.get_document_topics(corpus[0])
    assert np.isfinite(theirs.log_perplexity(corpus))
    assert np.isfinite(CoherenceModel(theirs, corpus=corpus, coherence="u_mass").get_coherence())
    theirs.update(corpus, passes=1)
    assert theirs.state.numdocs == 240


def test_to_gensim_saves_and_loads_there(ours, corpus, tmp_path):
    theirs = to_gensim(ours)
    theirs.save(str(tmp_path / "model"))
    loaded = LdaModel.load(str(tmp_path / "model"))
    np.testing.assert_array_equal(loaded.state.get_lambda(), theirs.state.get_lambda())
    np.testing.assert_array_equal(from_gensim(loaded).components_, from_gensim(theirs).components_)


def test_names_of_columns_are_their_words(counts, words):
    ours = LatentDirichletAllocation(3, max_iter=1, random_state=0).fit(pd.DataFrame(counts, columns=words))
    assert to_gensim(ours).id2word[7] == "word7"
    assert to_gensim(LatentDirichletAllocation(3, max_iter=1, random_state=0).fit(counts)).id2word[7] == "7"


def test_words_that_gensim_has_not(train, words, corpus):
    gaps = train()
    del gaps.id2word[7]
    assert from_gensim(gaps).vocabulary_.tolist() == [*words[:7], "7", *words[8:]]
    assert not hasattr(from_gensim(LdaModel(corpus, 2, random_state=0)), "vocabulary_")


def test_a_dictionary_and_a_subclass(words):
    dictionary = Dictionary([words[:5], words[3:9]])
    corpus = [dictionary.doc2bow(words[:4]), dictionary.doc2bow(words[4:9])]
    # Without a corpus it starts no workers; it is trained as its parent is.
    theirs = LdaMulticore(id2word=dictionary, num_topics=2, workers=1, chunksize=2, random_state=0)
    LdaModel.update(theirs, corpus)
    assert from_gensim(theirs).learning_method == "online"
    theirs.batch = True
    assert from_gensim(theirs).learning_method == "batch"
    assert from_gensim(theirs).vocabulary_.tolist() == [dictionary[column] for column in range(9)]


@pytest.mark.parametrize("eta", ["auto", "words", "matrix"])
def test_an_eta_that_is_not_one_number_is_kept_or_chosen(train, eta, counts):
    prior = {"auto": "auto", "words": np.linspace(0.1, 0.5, 30), "matrix": np.linspace(0.1, 0.5, 120).reshape(4, 30)}
    theirs = train(eta=prior[eta])
    kept, chosen = from_gensim(theirs), from_gensim(theirs, topic_word_prior=0.2)
    np.testing.assert_array_equal(kept.topic_word_prior_, theirs.eta)
    assert chosen.topic_word_prior_ == 0.2
    for ours in (kept, chosen):
        np.testing.assert_allclose(ours.components_, theirs.state.get_lambda(), rtol=ONCE_ROUNDED)
        ours.partial_fit(counts)
    back = to_gensim(from_gensim(theirs))
    np.testing.assert_allclose(back.eta, theirs.eta, rtol=ONCE_ROUNDED)
    np.testing.assert_allclose(back.state.get_lambda(), theirs.state.get_lambda(), rtol=10 * ONCE_ROUNDED)


def test_a_constant_eta_is_one_number_in_any_shape(train):
    for eta in (0.25, np.full(30, 0.25), np.full((4, 30), 0.25)):
        assert from_gensim(train(eta=eta)).topic_word_prior_ == 0.25


def test_a_converted_model_can_be_saved(train, counts, tmp_path):
    ours = from_gensim(train(alpha="asymmetric"))
    ours.save(tmp_path / "model.ssvi")
    loaded = ssvi.load(tmp_path / "model.ssvi")
    assert loaded.get_params() == ours.get_params()
    for model in (ours, loaded):
        model.partial_fit(counts)
    np.testing.assert_array_equal(loaded.components_, ours.components_)
    assert np.isfinite(loaded.score(counts))


def test_from_gensim_to_scikit_learn_and_back(train, counts):
    theirs = to_sklearn(from_gensim(train()))
    theirs.partial_fit(counts)
    np.testing.assert_array_equal(from_sklearn(theirs).components_, theirs.components_)


def test_errors(train, ours, words):
    with pytest.raises(NotFittedError, match="seen no documents yet: call its update"):
        from_gensim(LdaModel(num_topics=2, id2word={0: "a", 1: "b"}))
    with pytest.raises(TypeError, match=r"takes a fitted gensim.models.LdaModel, not a ssvi"):
        from_gensim(ours)
    with pytest.raises(ValueError, match="vocabulary has 31 words, and the model 30 columns"):
        to_gensim(ours, vocabulary=[*words, "more"])
    with pytest.raises(ValueError, match="has 'word1' 2 times"):
        to_gensim(ours, vocabulary=["word1", *words[1:]])
    with pytest.raises(ValueError, match="dtype must be float32 or float64, not int64"):
        to_gensim(ours, dtype=np.int64)
    with pytest.raises(ValueError, match="topic_word_prior must be a positive number"):
        from_gensim(train(), topic_word_prior=-1.0)


def test_without_gensim_there_is_one_sentence(ours, monkeypatch):
    monkeypatch.setitem(sys.modules, "gensim.models", None)
    for convert in (to_gensim, from_gensim):
        with pytest.raises(ImportError, match=r"^gensim is not installed, and this needs it: pip install gensim.$"):
            convert(ours)
