"""Training documents scored as if the fit had not seen them."""

import numpy as np
import pytest

from ssvi import LatentDirichletAllocation
from ssvi.backends.workers import Workers
from ssvi.batches.documents import Documents
from ssvi.evaluation.document_completion import document_completion, split_documents
from ssvi.evaluation.left_out import LeftOut
from ssvi.local_steps.lda.cvb0 import Cvb0
from ssvi.models.lda import LDA

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(0.4, (150, 40))
DOCUMENTS = Documents.from_matrix(COUNTS)


def test_with_one_topic_it_is_the_predictive_probability_without_the_document_itself():
    """Then nothing is hidden, lambda is eta + counts, and leaving out is exact."""
    lam = 0.3 + COUNTS.sum(axis=0, keepdims=True).astype(float)
    result = LeftOut(DOCUMENTS).score(lam, 0.3, np.array([0.7]))
    _, held_out = split_documents(DOCUMENTS, 0)
    without = lam - COUNTS
    wanted = (held_out.to_matrix().toarray() * np.log(without / without.sum(axis=1, keepdims=True))).sum(axis=1)
    np.testing.assert_allclose(result.log_probability, wanted, rtol=1e-5, atol=1e-5)  # it counts in single precision
    np.testing.assert_array_equal(result.n_words, held_out.lengths())


def test_topics_without_a_document_are_still_distributions():
    """By the same formula in plain NumPy: what each topic has lost is what has been taken from its words."""
    rng = np.random.default_rng(4)
    documents = Documents.from_matrix(rng.poisson(1.5, (6, 12)))
    lam, alpha = rng.gamma(2.0, 2.0, (3, 12)) + 0.1, np.full(3, 0.4, dtype=np.float32)
    influence = rng.uniform(0.5, 3.0, 6)  # more than there is, of some words
    result = LeftOut(documents).score(lam, 0.1, alpha, influence)
    observed, held_out = (part.to_matrix().toarray().astype(float) for part in split_documents(documents, 0))
    for d in range(6):
        rows = np.flatnonzero(observed[d] + held_out[d])
        counts = (observed[d] + held_out[d])[rows]
        shares, expected = _by_cvb0((lam / lam.sum(axis=1, keepdims=True))[:, rows].T, counts, alpha)
        without = lam.copy()
        without[:, rows] = np.maximum(lam[:, rows] - influence[d] * counts * shares.T, 0.1)
        without /= without.sum(axis=1, keepdims=True)
        _, expected = _by_cvb0(without[:, rows].T, observed[d][rows], alpha)
        weights = (expected + alpha) / (expected + alpha).sum()
        wanted = held_out[d] @ np.log(weights @ without)
        np.testing.assert_allclose(result.log_probability[d], wanted, rtol=1e-4)


def _by_cvb0(topics, counts, alpha):
    """Return q(z) of each word and the expected counts of topics, after three rounds."""
    shares, expected = np.zeros_like(topics), np.zeros(len(alpha))
    for _ in range(3):
        for i, count in enumerate(counts):
            if count > 0:
                rest = expected - min(count, 1.0) * shares[i]
                fresh = topics[i] * (rest + alpha)
                fresh /= fresh.sum()
                expected += count * (fresh - shares[i])
                shares[i] = fresh
    return shares, expected


def test_documents_that_count_for_nothing_are_scored_as_held_out_ones():
    lam, alpha = RNG.gamma(1.0, 5.0, (4, 40)) + 0.1, np.array([0.1, 0.4, 0.2, 0.3])
    result = LeftOut(DOCUMENTS).score(lam, 0.1, alpha, np.zeros(len(DOCUMENTS)))
    topics = lam / lam.sum(axis=1, keepdims=True)
    wanted = document_completion(topics, alpha, DOCUMENTS, local_step=Cvb0(max_rounds=3, tolerance=0.0))
    np.testing.assert_allclose(result.log_probability, wanted.log_probability, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("prior", [0.1, np.full(40, 0.1), np.full((4, 40), 0.1)], ids=["one", "words", "all"])
def test_threads_and_the_form_of_the_prior_do_not_matter(prior):
    lam, alpha = np.random.default_rng(1).gamma(1.0, 5.0, (4, 40)) + 0.1, np.full(4, 0.2)
    influence = np.random.default_rng(2).uniform(0.5, 1.5, len(DOCUMENTS))
    alone = LeftOut(DOCUMENTS).score(lam, 0.1, alpha, influence)
    with Workers(3) as workers:
        shared = LeftOut(DOCUMENTS).score(lam, prior, alpha, influence, workers=workers)
    np.testing.assert_array_equal(shared.log_probability, alone.log_probability)


def test_what_a_document_took_along_is_never_more_than_there_was():
    """A word that only one document has, counted three times over, is left with its prior."""
    counts = np.vstack([COUNTS, np.eye(1, 40, 7, dtype=int) * 6])
    counts[:-1, 7] = 0
    lam = 0.01 + counts.sum(axis=0, keepdims=True) * np.array([[0.6], [0.4]])
    influence = np.append(np.ones(150), 3.0)
    result = LeftOut(Documents.from_matrix(counts)).score(lam, 0.01, np.full(2, 0.5), influence)
    assert np.isfinite(result.log_probability).all()
    rest = lam.sum(axis=1) - 3.0 * 6.0
    assert 3.0 * np.log(0.01 / rest.max()) - 1.0 < result.log_probability[-1] < 3.0 * np.log(0.02 / rest.min())


def test_it_is_near_the_score_of_documents_that_were_held_out_and_the_training_score_is_not():
    """The means of some hundred documents of 40 words have standard errors of about 0.02 each; topics are too many."""
    truth = LDA(400, np.full(8, 0.2), 0.1)
    _, documents = truth.simulate(np.random.default_rng(3), 700, 80.0)
    train, test = documents.slice(0, 300).tight(), documents.slice(300, 700).tight()
    model = LatentDirichletAllocation(30, max_iter=12, random_state=0).fit(train.to_matrix())
    left_out = LeftOut(train).score(model.components_, model.topic_word_prior_, model.doc_topic_prior_).mean
    held_out, fitted = model.score(test.to_matrix()), model.score(train.to_matrix())
    assert fitted - held_out > 0.12
    assert abs(left_out - held_out) < 0.5 * (fitted - held_out)


def test_counts_with_fractions_and_empty_documents_are_scored():
    counts = np.array([[0.5, 2.5, 0.0, 1.0], [0.0, 0.0, 0.0, 0.0], [3.0, 0.0, 0.25, 0.25]])
    result = LeftOut(Documents.from_matrix(counts)).score(np.ones((2, 4)) + counts[:2], 1.0, np.full(2, 0.5))
    assert result.log_probability[1] == result.n_words[1] == 0.0
    assert np.isfinite(result.log_probability).all()
