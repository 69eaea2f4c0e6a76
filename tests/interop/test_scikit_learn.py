import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.decomposition import LatentDirichletAllocation as Theirs
from sklearn.exceptions import NotFittedError

import ssvi
from ssvi import BernoulliMixture, LatentDirichletAllocation
from ssvi.interop import from_sklearn, to_gensim, to_sklearn
from ssvi.report import write_report

EXACT = {"mean_change_tol": 1e-10, "max_doc_update_iter": 3000}


@pytest.fixture
def theirs(counts):
    return Theirs(4, learning_method="online", batch_size=30, total_samples=240, random_state=1, **EXACT).fit(counts)


@pytest.fixture
def ours(counts):
    return LatentDirichletAllocation(4, max_iter=3, batch_size=30, random_state=1).fit(counts)


def test_theirs_comes_back_bit_for_bit(theirs):
    back = to_sklearn(from_sklearn(theirs))
    assert back.get_params() == theirs.get_params()
    np.testing.assert_array_equal(back.components_, theirs.components_)
    for name in ("doc_topic_prior_", "topic_word_prior_", "n_batch_iter_", "n_iter_", "n_features_in_"):
        assert getattr(back, name) == getattr(theirs, name)
    assert back.bound_ == pytest.approx(theirs.bound_, rel=1e-14)
    # Their digamma is an approximation: scipy's, too, is 2e-9 away from it.
    np.testing.assert_allclose(back.exp_dirichlet_component_, theirs.exp_dirichlet_component_, rtol=1e-8)


@pytest.mark.parametrize("priors", [{}, {"doc_topic_prior": 0.3, "topic_word_prior": 0.7}])
def test_ours_comes_back_bit_for_bit(counts, priors):
    ours = LatentDirichletAllocation(4, max_iter=2, random_state=1, **priors).fit(counts)
    back = from_sklearn(to_sklearn(ours))
    np.testing.assert_array_equal(back.components_, ours.components_)
    np.testing.assert_array_equal(back.doc_topic_prior_, ours.doc_topic_prior_)
    # scikit-learn's None is another alpha than ours.
    assert (back.doc_topic_prior, back.topic_word_prior) == (ours.doc_topic_prior_[0], ours.topic_word_prior)
    for name in ("topic_word_prior_", "n_batch_iter_", "n_iter_", "n_features_in_", "random_state_"):
        assert getattr(back, name) == getattr(ours, name)
    assert back.score(counts) == ours.score(counts)


def test_a_converted_model_has_all_that_a_fit_leaves(theirs, ours):
    assert set(vars(from_sklearn(theirs))) == set(vars(ours))
    fitted = set(vars(to_sklearn(from_sklearn(theirs))))
    assert fitted == set(vars(theirs))


def test_transform_agrees_given_the_same_topics(theirs, counts, to_the_end):
    """They take exp(E[log beta]) for the topics, we E[beta]: given ours, their weights are ours."""
    ours = from_sklearn(theirs).set_params(local_step=to_the_end)
    theirs.exp_dirichlet_component_ = ours.topic_word_
    np.testing.assert_allclose(ours.transform(counts), theirs.transform(counts), atol=1e-7)
    # As it comes, our step stops at the same tolerance and works in single precision.
    np.testing.assert_allclose(from_sklearn(theirs).transform(counts), theirs.transform(counts), atol=1e-3)


def test_transform_agrees_where_lambda_is_large(theirs, counts, to_the_end):
    """The two kinds of topics differ by a factor 1 + 1 / (2 lambda) or so."""
    theirs.components_ = theirs.components_ * 1e7
    ours = from_sklearn(theirs).set_params(local_step=to_the_end)
    np.testing.assert_allclose(
        ours.transform(counts), to_sklearn(ours).set_params(**EXACT).transform(counts), atol=1e-5
    )


def test_partial_fit_goes_on_as_theirs(theirs, counts, to_the_end):
    ours = from_sklearn(theirs).set_params(local_step=to_the_end)
    back = to_sklearn(from_sklearn(theirs))
    before = theirs.components_.copy()
    for model in (theirs, ours, back):
        model.partial_fit(counts[:60])
    assert ours.n_batch_iter_ == theirs.n_batch_iter_ - 1 == 42
    assert np.abs(theirs.components_ / before - 1).max() > 0.1
    np.testing.assert_allclose(ours.components_, theirs.components_, rtol=1e-6)
    np.testing.assert_allclose(back.components_, theirs.components_, rtol=1e-6)


def test_with_the_number_of_documents_further_rows_are_new_ones(theirs, counts):
    ours = from_sklearn(theirs, n_documents=120)
    ours.partial_fit(counts[:30]).partial_fit(counts[30:50])
    assert [info.population for info in ours.history_] == [150, 170]
    assert from_sklearn(theirs).partial_fit(counts[:30]).history_[0].population == 240


def test_a_model_that_was_fitted_in_parts(counts):
    theirs = Theirs(4, batch_size=20, random_state=1).partial_fit(counts[:40])
    ours = from_sklearn(theirs)
    assert (ours.n_batch_iter_, ours._state.documents_seen, ours.n_iter_) == (2, 40, 1)
    assert np.isnan(ours.bound_)
    assert not hasattr(to_sklearn(ours), "bound_")


def test_other_steps_can_go_on(theirs, counts):
    ours = from_sklearn(theirs, n_documents=120).set_params(global_step="ssvi", local_step="gibbs", random_state=0)
    before = ours.score(counts)
    for _ in range(5):
        ours.partial_fit(counts)
    assert ours.score(counts) > before - 0.1
    assert clone(ours).fit(counts).n_iter_ == 10


def test_to_sklearn_gives_a_model_that_works(ours, counts):
    theirs = to_sklearn(ours)
    weights = theirs.transform(counts)
    np.testing.assert_allclose(weights.sum(axis=1), 1)
    assert (weights.argmax(axis=1) == ours.transform(counts).argmax(axis=1)).mean() > 0.9
    assert np.isfinite(theirs.score(counts))
    assert 1 < theirs.perplexity(counts) < 30
    assert theirs.total_samples == 120
    components = ours.components_.copy()
    theirs.partial_fit(counts)
    np.testing.assert_array_equal(ours.components_, components)  # they share no memory
    assert clone(theirs).fit(counts).components_.shape == (4, 30)


def test_our_bound_is_their_perplexity(counts):
    ours = LatentDirichletAllocation(
        4, doc_topic_prior=0.25, global_step="mean_field", local_step="mean_field", learning_method="batch",
        max_iter=60, random_state=0,
    ).fit(counts)  # fmt: skip
    # Ours is of the lambda before the last step: the two meet as the fit converges.
    assert to_sklearn(ours).bound_ == pytest.approx(to_sklearn(ours).perplexity(counts), rel=1e-3)


def test_names_of_columns_are_kept(counts, words):
    table = pd.DataFrame(counts, columns=words)
    ours = from_sklearn(Theirs(3, max_iter=1, random_state=0).fit(table))
    assert ours.feature_names_in_.tolist() == words
    theirs = to_sklearn(ours)
    assert theirs.feature_names_in_.tolist() == words
    for model in (ours, theirs):
        model.partial_fit(table)
        with pytest.raises(ValueError, match="feature names"):
            model.transform(table[words[::-1]])


def test_a_converted_model_can_be_saved_and_reported(theirs, counts, words, tmp_path):
    ours = from_sklearn(theirs, vocabulary=words)
    ours.save(tmp_path / "model.ssvi")
    loaded = ssvi.load(tmp_path / "model.ssvi")
    assert loaded.vocabulary_.tolist() == words
    np.testing.assert_array_equal(loaded.transform(counts), ours.transform(counts))
    for model in (ours, loaded):
        model.partial_fit(counts)
    np.testing.assert_array_equal(loaded.components_, ours.components_)
    write_report(from_sklearn(theirs, vocabulary=words), tmp_path / "page.html")
    assert "word3" in (tmp_path / "page.html").read_text()


def test_single_precision_is_kept_as_it_is(counts):
    theirs = Theirs(3, max_iter=2, random_state=0).fit(counts.astype(np.float32))
    ours = from_sklearn(theirs)
    assert theirs.components_.dtype == np.float32
    np.testing.assert_array_equal(ours.components_, theirs.components_)


def test_step_sizes_come_into_their_range(counts):
    ours = LatentDirichletAllocation(3, max_iter=1, learning_offset=0.0, learning_decay=1.5, random_state=2**40)
    theirs = to_sklearn(ours.fit(counts))
    assert (theirs.learning_offset, theirs.learning_decay) == (1.0, 1.0)
    theirs.partial_fit(counts)


def test_errors_of_from_sklearn(theirs, ours, words):
    with pytest.raises(NotFittedError, match="not fitted yet: call its fit"):
        from_sklearn(Theirs(3))
    with pytest.raises(TypeError, match=r"takes a fitted sklearn.decomposition.*not a ssvi.estimators"):
        from_sklearn(ours)
    with pytest.raises(ValueError, match="vocabulary has 29 words, and the model 30 columns"):
        from_sklearn(theirs, vocabulary=words[1:])
    with pytest.raises(ValueError, match=r"in the order of the columns.*not a dict"):
        from_sklearn(theirs, vocabulary=dict.fromkeys(words, 0))
    with pytest.raises(ValueError, match="must be strings, and 0 is none"):
        from_sklearn(theirs, vocabulary=range(30))
    with pytest.raises(ValueError, match="n_documents must be an integer"):
        from_sklearn(theirs, n_documents=0)
    theirs.components_[2, 5] = 0
    with pytest.raises(ValueError, match=r"lambda is 0.0 at topic 2, column 5"):
        from_sklearn(theirs)


def test_a_prior_of_zero_is_refused(theirs):
    theirs.topic_word_prior_ = 0.0
    with pytest.raises(ValueError, match="topic_word_prior must be a positive number"):
        from_sklearn(theirs)


@pytest.mark.parametrize("convert", [to_sklearn, to_gensim])
def test_errors_of_what_goes_out(convert, theirs):
    with pytest.raises(NotFittedError, match=r"not fitted yet: call fit before to_"):
        convert(LatentDirichletAllocation(3))
    for other in (theirs, BernoulliMixture(3), None):
        with pytest.raises(TypeError, match=r"takes a fitted ssvi.LatentDirichletAllocation, not a "):
            convert(other)


def test_an_alpha_for_each_topic_is_refused(counts):
    ours = LatentDirichletAllocation(3, doc_topic_prior=[0.1, 0.2, 0.3], max_iter=1, random_state=0).fit(counts)
    with pytest.raises(ValueError, match=r"differs from topic to topic.*to_gensim"):
        to_sklearn(ours)


def test_an_eta_for_each_word_is_refused(counts):
    ours = LatentDirichletAllocation(3, seed_words={1: [4]}, max_iter=1, random_state=0).fit(counts)
    with pytest.raises(ValueError, match=r"topic_word_prior differs from word to word.*to_gensim"):
        to_sklearn(ours)
