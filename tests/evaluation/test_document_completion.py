import numpy as np
import pytest
from tests.tiny import bag, enumerate_document

from ssvi.backends import Threads
from ssvi.batches.documents import Documents
from ssvi.evaluation.document_completion import document_completion, split_documents
from ssvi.evaluation.held_out import HeldOut
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.local_steps.lda.mean_field import MeanField

RNG = np.random.default_rng(0)
TOPICS = RNG.dirichlet(np.full(5, 0.7), 2)
ALPHA = np.array([0.5, 0.8])


def _counts(documents):
    return np.array(
        [
            np.bincount(documents.words[a:b], weights=documents.counts[a:b], minlength=documents.n_words)
            for a, b in zip(documents.indptr[:-1], documents.indptr[1:], strict=True)
        ]
    )


def test_a_split_halves_each_document():
    counts = RNG.poisson(1.0, (200, 12))
    observed, held_out = split_documents(Documents.from_matrix(counts), seed=3)
    np.testing.assert_array_equal(_counts(observed) + _counts(held_out), counts)
    np.testing.assert_array_equal(_counts(observed).sum(axis=1), counts.sum(axis=1) // 2)


def test_each_token_is_as_likely_to_be_observed_as_any_other():
    """2,000 distinct documents with counts 3, 2, 1 among four fixed words: 5 standard errors on each mean."""
    n = 2_000
    counts = np.zeros((n, n + 3), dtype=int)
    counts[:, :3] = [3, 2, 1]
    counts[np.arange(n), np.arange(n) + 3] = 2  # tells documents apart
    observed, _ = split_documents(Documents.from_matrix(counts), seed=0)
    means = _counts(observed)[:, :3].mean(axis=0)
    # Hypergeometric: 4 of 8 tokens drawn, m of them the word's.
    m = np.array([3, 2, 1])
    error = np.sqrt(4 * m / 8 * (1 - m / 8) * 4 / 7 / n)
    assert np.all(np.abs(means - m / 2) < 5 * error)


def test_fractions_are_split_by_word():
    counts = RNG.random((50, 8))
    observed, held_out = split_documents(Documents.from_matrix(counts), seed=1)
    first, second = _counts(observed), _counts(held_out)
    np.testing.assert_allclose(first + second, counts)
    assert np.all((first == 0) | (second == 0))
    shares = (first > 0).mean(axis=0)
    # Each of 8 words is observed in about half of 50 documents: 4.5 standard errors of 0.07.
    assert np.all(np.abs(shares - 0.5) < 0.32)


def test_agrees_with_enumeration():
    """Held-out words of tiny documents scored at the exact posterior mean of theta given the observed ones.

    The sampler's theta has an error of about 0.003 after 20,000 sweeps, relative to weights of 0.1 or more, and a
    document has at most three held-out words: 0.02 is over five standard errors.
    """
    tokens = [[0, 1, 1, 4], [2, 2, 3, 0, 4, 1], [3, 3]]
    documents = bag(tokens, 5)
    observed, held_out = split_documents(documents, seed=0)
    exact = []
    for seen, hidden in zip(_counts(observed), _counts(held_out), strict=True):
        words = np.repeat(np.arange(5), seen.astype(int))
        _, expected = enumerate_document(words, TOPICS, ALPHA)
        theta = (ALPHA + expected.sum(axis=1)) / (ALPHA.sum() + len(words))
        exact.append((hidden * np.log(theta @ TOPICS)).sum())
    step = Gibbs(sweeps=20_100, kept=20_000)
    result = document_completion(TOPICS, ALPHA, documents, local_step=step)
    np.testing.assert_allclose(result.log_probability, exact, atol=0.02)
    np.testing.assert_array_equal(result.n_words, [2, 3, 1])


@pytest.mark.parametrize("step", [None, MeanField()], ids=["gibbs", "mean_field"])
def test_threads_and_places_do_not_matter(step):
    counts = RNG.poisson(1.0, (150, 5))
    documents = Documents.from_matrix(counts)
    results = []
    for n_jobs in (1, 2, 4):
        with Threads(n_jobs) as backend:
            results.append(document_completion(TOPICS, ALPHA, documents, local_step=step, backend=backend))
    for other in results[1:]:
        np.testing.assert_array_equal(results[0].log_probability, other.log_probability)
    order = np.arange(150)[::-1]
    turned = document_completion(TOPICS, ALPHA, documents.take(order), local_step=step)
    np.testing.assert_allclose(turned.log_probability, results[0].log_probability[order], rtol=1e-12)


def test_the_truth_scores_better_than_noise():
    from ssvi.models.lda import LDA

    truth, documents = LDA(50, np.full(5, 0.2), 0.1).simulate(np.random.default_rng(1), 300)
    good = document_completion(np.maximum(truth["topics"], 1e-9), np.full(5, 0.2), documents)
    noise = document_completion(np.full((5, 50), 1 / 50), np.full(5, 0.2), documents)
    assert noise.mean == pytest.approx(-np.log(50))
    assert good.mean > noise.mean + 10 * good.standard_error


def test_empty_documents_count_for_nothing():
    documents = bag([[0, 1, 2], [], [3]], 5)
    result = document_completion(TOPICS, ALPHA, documents)
    assert result.n_words.tolist() == [2, 0, 1]
    assert result.log_probability[1] == 0


def test_standard_error_is_that_of_a_ratio():
    rng = np.random.default_rng(2)
    means = []
    for _ in range(2_000):
        words = rng.integers(1, 20, 100).astype(float)
        means.append(HeldOut(-3.0 * words + rng.normal(0, 2.0, 100), words).mean)
    words = rng.integers(1, 20, 100).astype(float)
    single = HeldOut(-3.0 * words + rng.normal(0, 2.0, 100), words)
    assert single.standard_error == pytest.approx(np.std(means), rel=0.25)
    assert np.isnan(HeldOut(np.zeros(1), np.ones(1)).standard_error)
    assert np.isnan(HeldOut(np.zeros(0), np.zeros(0)).mean)
