import numpy as np
import pytest

from ssvi import CorrelatedTopicModel, LatentDirichletAllocation, load
from ssvi.families.symmetric import pack
from ssvi.models.ctm import CTM

# Four topics of ten words each; the first two go together, and so do the last two.
TOPICS = np.kron(np.eye(4), np.full(10, 0.1))
COVARIANCE = 1.5 * np.kron(np.eye(2), np.array([[1.0, 0.5], [0.5, 1.0]])) + 0.1 * np.eye(4)


@pytest.fixture(scope="module")
def counts():
    weights = np.concatenate([np.zeros(4), pack(np.linalg.inv(COVARIANCE))])[None]
    values = {"topics": TOPICS, "weights": weights}
    return CTM(40, 4, 0.1).simulate(np.random.default_rng(1), 900, 100.0, values=values)[1].to_matrix()


@pytest.fixture(scope="module")
def fitted(counts):
    return CorrelatedTopicModel(4, random_state=0, max_iter=12).fit(counts[:600])


def test_correlations_of_simulated_topics_are_found(fitted):
    """Variances are not: LDA takes topics that go together for parts of each other, and a fit leaves that slowly."""
    order = [int(np.argmax(fitted.topic_word_ @ topic)) for topic in TOPICS]
    assert sorted(order) == [0, 1, 2, 3]
    centred = COVARIANCE - COVARIANCE.mean(axis=0) - COVARIANCE.mean(axis=1)[:, None] + COVARIANCE.mean()
    expected = centred / np.sqrt(np.outer(np.diag(centred), np.diag(centred)))
    np.testing.assert_allclose(fitted.topic_correlations_[np.ix_(order, order)], expected, atol=0.15)


def test_topics_that_go_together_predict_better_than_lda_can():
    """Short documents of topics that nearly always go together: half of one says little by itself of the other half."""
    together = 6.0 * np.kron(np.eye(2), np.array([[1.0, 0.95], [0.95, 1.0]])) + 0.1 * np.eye(4)
    weights = np.concatenate([np.zeros(4), pack(np.linalg.inv(together))])[None]
    values = {"topics": TOPICS, "weights": weights}
    counts = CTM(40, 4, 0.1).simulate(np.random.default_rng(1), 1_500, 20.0, values=values)[1].to_matrix()
    both = (kind(4, random_state=0, max_iter=12) for kind in (CorrelatedTopicModel, LatentDirichletAllocation))
    ours, theirs = (model.fit(counts[:1_000]).held_out(counts[1_000:]) for model in both)
    gain = (ours.log_probability - theirs.log_probability) / ours.n_words.mean()
    assert gain.mean() > 2 * gain.std() / np.sqrt(len(gain)) > 0


def test_weights_of_documents_sum_to_one_and_to_their_words(fitted, counts):
    weights = fitted.transform(counts[:20])
    np.testing.assert_allclose(weights.sum(axis=1), 1.0)
    expected = fitted.transform(counts[:20], normalize=False).sum(axis=1)
    np.testing.assert_allclose(expected, np.asarray(counts[:20].sum(axis=1)).ravel())


def test_a_fit_begins_with_the_topics_of_lda_and_ends_the_same_on_any_number_of_threads(counts):
    fits = [CorrelatedTopicModel(3, random_state=3, max_iter=1, n_jobs=n).fit(counts[:300]) for n in (1, 2)]
    np.testing.assert_array_equal(fits[0].components_, fits[1].components_)
    lda = LatentDirichletAllocation(3, random_state=3).fit(counts[:300])
    likeness = np.corrcoef(np.vstack([lda.topic_word_, fits[0].topic_word_]))[:3, 3:]
    assert (np.diag(likeness) > 0.9).all()


def test_a_saved_model_goes_on(fitted, counts, tmp_path):
    fitted.save(tmp_path / "ctm.ssvi")
    again = load(tmp_path / "ctm.ssvi")
    np.testing.assert_array_equal(again.topic_correlations_, fitted.topic_correlations_)
    again.partial_fit(counts[:50])
    assert again.n_batch_iter_ == fitted.n_batch_iter_ + 1


def test_eta_can_be_learned():
    """Ten topics of 500 words that are told apart: eta came out within 12% in trials with other data."""
    truth = CTM(500, 10, 0.05, 8.0, degrees=60.0)
    _, documents = truth.simulate(np.random.default_rng(1), 1_500, 100.0)
    model = CorrelatedTopicModel(10, topic_word_prior="auto", max_iter=4, random_state=0).fit(documents.to_matrix())
    np.testing.assert_allclose(model.topic_word_prior_, 0.05, rtol=0.3)
