"""HierarchicalDirichletTopics: how many topics it finds, and what else it has over LatentDirichletAllocation."""

import warnings

import numpy as np
import pytest

import ssvi
from ssvi import HierarchicalDirichletTopics, LatentDirichletAllocation
from ssvi.local_steps.hdp.gibbs import Gibbs
from ssvi.local_steps.lda.gibbs import Gibbs as LdaGibbs
from ssvi.models.lda import LDA
from ssvi.report.components import Components

TRUE, WORDS = 6, 120


@pytest.fixture(scope="module")
def simulated():
    model = LDA(WORDS, np.full(TRUE, 0.1), 0.05)
    values, documents = model.simulate(np.random.default_rng(0), 500, 60.0)
    return values["topics"], documents.to_matrix()


@pytest.fixture(scope="module")
def fitted(simulated):
    return HierarchicalDirichletTopics(4 * TRUE, random_state=0).fit(simulated[1])


@pytest.mark.parametrize(("global_step", "room"), [("ssvi", 2), ("ssvi", 4), ("ssvi_a", 2), ("map", 2)])
def test_it_finds_the_topics_that_there_are_and_few_others(simulated, global_step, room):
    """Every true topic has a twin among the active ones, and there are at most a fifth more (one, of six)."""
    topics, counts = simulated
    model = HierarchicalDirichletTopics(room * TRUE, global_step=global_step, random_state=0).fit(counts)
    assert TRUE <= model.n_active_ <= TRUE + 1
    found = model.topic_word_[model.active_]
    cosines = (topics @ found.T) / np.outer(np.linalg.norm(topics, axis=1), np.linalg.norm(found, axis=1))
    assert (cosines.max(axis=1) > 0.9).all()
    assert model.components_.shape == (room * TRUE, WORDS)
    np.testing.assert_allclose(model.weights_.sum(), 1.0)
    np.testing.assert_allclose(model.doc_topic_prior_, model.doc_concentration_ * model.weights_)
    assert 0.6 < model.doc_concentration_ < 3.0  # half way from 0.6, which was simulated, to the usual
    assert 0.02 < model.topic_word_prior_ < 0.1  # 0.05 was simulated


def test_reports_and_tables_have_active_topics_only(fitted, simulated):
    parts = Components.used_by(fitted)
    assert sorted(parts.numbers) == np.flatnonzero(fitted.active_).tolist() == fitted.written_components()
    assert fitted.components_in_use() == fitted.n_active_ == len(parts.numbers)
    np.testing.assert_allclose(parts.shares.sum(), 1.0, atol=2e-3 * 4 * TRUE)
    weights = fitted.transform(simulated[1][:50])
    assert weights.shape == (50, 4 * TRUE)
    assert weights[:, fitted.active_].sum() > 0.99 * 50


def test_converted_to_lda_it_predicts_the_same_and_goes_on(fitted, simulated):
    counts = simulated[1]
    lda = fitted.convert_to_lda()
    assert type(lda) is LatentDirichletAllocation
    np.testing.assert_array_equal(lda.components_, fitted.components_[fitted.active_])
    np.testing.assert_array_equal(lda.doc_topic_prior_, fitted.doc_topic_prior_[fitted.active_])
    assert abs(lda.score(counts) - fitted.score(counts)) < 0.005
    steps, seen = lda.n_batch_iter_, fitted.n_batch_iter_
    assert steps == seen
    assert lda.partial_fit(counts).n_batch_iter_ == steps + 1
    assert fitted.n_batch_iter_ == seen
    assert fitted.convert_to_lda(1.0).n_components == 1  # nothing holds all words: the largest is taken
    assert fitted.convert_to_lda(0.0).n_components >= fitted.n_active_


def test_an_lda_of_it_can_be_saved(fitted, simulated, tmp_path):
    lda = fitted.convert_to_lda()
    lda.save(tmp_path / "lda.ssvi")
    again = ssvi.load(tmp_path / "lda.ssvi")
    assert again.score(simulated[1]) == lda.score(simulated[1])


def test_its_own_local_step_becomes_ldas(simulated):
    model = HierarchicalDirichletTopics(8, local_step=Gibbs(4, 2), max_iter=2, random_state=0).fit(simulated[1])
    assert model.convert_to_lda().local_step == LdaGibbs(4, 2)
    with pytest.raises(ValueError, match="is for the model 'lda', and this one is 'hdp'"):
        HierarchicalDirichletTopics(8, local_step=LdaGibbs()).fit(simulated[1])


def test_it_warns_where_there_is_no_room_for_more_topics(simulated):
    with pytest.warns(UserWarning, match=r"^4 of 4 topics are in use, .* n_components=4 .*: try a larger one\.$"):
        HierarchicalDirichletTopics(4, random_state=0).fit(simulated[1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        HierarchicalDirichletTopics(4, max_iter=2, random_state=0).fit(simulated[1])  # too few steps to tell
        HierarchicalDirichletTopics(60, random_state=0).fit(simulated[1][:90])  # too few words


def test_concentrations_that_are_given_stay(simulated):
    model = HierarchicalDirichletTopics(8, doc_topic_prior=2.0, topic_concentration_prior=3.0, max_iter=3)
    model.fit(simulated[1])
    assert (model.doc_concentration_, model.topic_concentration_) == (2.0, 3.0)
    with pytest.raises(ValueError, match="doc_topic_prior changed since this model was fitted"):
        model.set_params(doc_topic_prior=1.0).partial_fit(simulated[1])
    with pytest.raises(ValueError, match=r"^doc_topic_prior must be"):
        HierarchicalDirichletTopics(8, doc_topic_prior=-1.0).fit(simulated[1])


@pytest.mark.filterwarnings("ignore:.*topics are in use")
def test_topics_that_are_the_same_become_one_when_a_fit_has_ended(simulated):
    model = HierarchicalDirichletTopics(3 * TRUE, merge_copies=False, random_state=0).fit(simulated[1])
    before, score, words = model.n_active_, model.score(simulated[1]), model._model().words_held(model._state.estimate)
    assert before > TRUE + 1
    assert model._merge_copies() is False
    assert model.set_params(merge_copies=True)._merge_copies() is True
    assert TRUE <= model.n_active_ <= TRUE + 1
    held = model._model().words_held(model._state.estimate)
    np.testing.assert_allclose(held.sum(), words.sum(), rtol=1e-5)  # but for words below their prior
    assert abs(model.score(simulated[1]) - score) < 0.02
    steps = model.n_batch_iter_
    assert model.partial_fit(simulated[1]).n_batch_iter_ == steps + 1


def test_seeded_topics_stay_seeded_in_lda(simulated):
    rare, *_, first, second = np.argsort(np.asarray(simulated[1].sum(axis=0)).ravel())
    seeds = {2: [first, second]}
    model = HierarchicalDirichletTopics(8, topic_word_prior=0.1, seed_words=seeds, max_iter=2, random_state=0)
    lda = model.fit(simulated[1]).convert_to_lda(0.0)
    assert lda.topic_word_prior_.shape == (8, WORDS)
    np.testing.assert_allclose(lda.topic_word_prior_[2, [first, rare, second]], [100.1, 0.1, 100.1])
    steps = lda.n_batch_iter_
    assert lda.partial_fit(simulated[1]).n_batch_iter_ == steps + 1


def test_a_fit_from_another_model_and_a_stream_let_go_of_even_weights_in_their_own_steps(fitted, simulated):
    """Their steps are smaller than those of a fit from a fresh start."""
    counts = simulated[1]
    again = HierarchicalDirichletTopics(4 * TRUE, random_state=1).fit(counts, start=fitted)
    assert again._state.hyperparameters["evenness"] == 0.0
    assert TRUE <= again.n_active_ <= TRUE + 1
    stream = HierarchicalDirichletTopics(4 * TRUE, batch_size=25, random_state=0)
    left = []
    for _ in range(12):  # 240 steps, about as many as a fit has
        stream.partial_fit(counts)
        left.append(float(stream._state.hyperparameters["evenness"]))
    assert left[0] > 0.5
    assert left[-1] == 0.0
