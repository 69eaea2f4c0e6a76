from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from tests.tiny import bag, enumerate_document

from ssvi.backends import Threads
from ssvi.batches.documents import Documents
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.models.lda import LARGEST_ALPHA, LDA, SMALLEST_ALPHA
from ssvi.numerics.random import derive_keys

BETA = np.array([[0.5, 0.3, 0.15, 0.05], [0.1, 0.1, 0.3, 0.5]])
ALPHA = np.array([0.4, 0.9])
DOCUMENTS = [[0], [0, 0, 3], [0, 1, 2, 3], [3, 3, 3, 2, 0, 0], [1, 1, 2, 2, 2, 3]]


def _run(step, documents, beta, alpha, seed):
    model = LDA(beta.shape[1], alpha, 1.0)
    keys = derive_keys(seed, len(documents))
    return Threads().map_reduce(step, model, {"topics": np.log(beta)}, documents, keys)


KERNELS = pytest.mark.parametrize("kernel", ["dense", "sparse"])
STATISTICS = pytest.mark.parametrize("statistics", ["expected", "drawn"])


@pytest.mark.parametrize("tokens", DOCUMENTS, ids=str)
@pytest.mark.parametrize("precision", ["float32", "float64"])
@KERNELS
@STATISTICS
def test_statistics_agree_with_enumeration(tokens, precision, kernel, statistics):
    """20,000 independent chains, one kept sweep each: 8 cells, 5 standard errors, a chance of failing under 5e-6.

    The errors are those of drawn counts; expected ones have smaller ones.
    """
    n = 20_000
    _, expected = enumerate_document(tokens, BETA, ALPHA)
    step = Gibbs(sweeps=25, kept=1, statistics=statistics, precision=precision, kernel=kernel)
    mean = _run(step, bag([tokens] * n, 4), BETA, ALPHA, seed=1).eta_hat["topics"] / n
    # A cell's count lies in 0, ..., m (its word's count), so its variance is at most mean (m - mean).
    most = np.bincount(tokens, minlength=4)
    error = np.sqrt(np.maximum(expected * (most - expected), 0.0) / n)
    assert np.all(np.abs(mean - expected) <= 5 * error + 1e-6)


@pytest.mark.parametrize(("alpha", "tokens"), [(SMALLEST_ALPHA, [2]), (LARGEST_ALPHA, [2]), (LARGEST_ALPHA, [0, 0, 3])])
@KERNELS
@STATISTICS
def test_the_smallest_and_largest_priors_agree_with_enumeration(alpha, tokens, kernel, statistics):
    """20,000 chains: 8 cells, 5 standard errors, a chance of failing under 5e-6 each."""
    n, alphas = 20_000, np.array([alpha, 2 * alpha if alpha < 1 else 0.5 * alpha])
    _, expected = enumerate_document(tokens, BETA, alphas)
    step = Gibbs(sweeps=5, kept=1, statistics=statistics, kernel=kernel)
    mean = _run(step, bag([tokens] * n, 4), BETA, alphas, seed=8).eta_hat["topics"] / n
    most = np.bincount(tokens, minlength=4)
    error = np.sqrt(np.maximum(expected * (most - expected), 0.0) / n)
    assert np.all(np.abs(mean - expected) <= 5 * error + 1e-6)


@KERNELS
@STATISTICS
def test_kept_sweeps_are_averaged(kernel, statistics):
    """50,000 correlated samples of deviation 1.5 at the most: 0.05 is 7 standard errors if all were independent."""
    tokens = DOCUMENTS[3]
    _, expected = enumerate_document(tokens, BETA, ALPHA)
    result = _run(
        Gibbs(sweeps=120, kept=100, statistics=statistics, kernel=kernel), bag([tokens] * 500, 4), BETA, ALPHA, seed=2
    )
    assert np.all(np.abs(result.eta_hat["topics"] / 500 - expected) < 0.05)
    np.testing.assert_allclose(result.eta_hat["topics"].sum(), 500 * len(tokens), rtol=1e-6)
    np.testing.assert_allclose(result.local["weights"].sum(axis=1), 1.0)


@KERNELS
def test_geweke_joint_distribution(kernel):
    """Alternate w | z, beta and z | w, beta from a draw of the joint: its distribution must not drift.

    20,000 documents in parallel, 8 rounds, more topics than one group of slots holds. The first two moments of the
    topic tallies are known exactly (Dirichlet-multinomial), and the mean of every word-topic count; 5 standard errors
    for 51 comparisons, a chance of failing under 3e-5. A sampler that is wrong by a little is wrong in the same
    direction every round.
    """
    rng = np.random.default_rng(0)
    n, length, n_topics = 20_000, 7, 6
    alpha = np.array([0.3, 0.7, 1.5, 0.2, 0.5, 0.4])
    beta = rng.dirichlet(np.full(4, 0.7), n_topics)
    tallies = rng.multinomial(length, rng.dirichlet(alpha, n))
    for round_ in range(8):
        words = sum(rng.multinomial(tallies[:, k], beta[k]) for k in range(n_topics))
        documents = Documents.from_matrix(words)
        result = _run(Gibbs(sweeps=30, kept=1, kernel=kernel), documents, beta, alpha, seed=100 + round_)
        tallies = np.rint(result.local["weights"] * (length + alpha.sum()) - alpha).astype(int)
        assert np.all(tallies.sum(axis=1) == length)
    share = alpha / alpha.sum()
    spread = (length + alpha.sum()) / (1 + alpha.sum())
    covariance = length * spread * (np.diag(share) - np.outer(share, share))
    second = covariance + np.outer(length * share, length * share)
    for i in range(n_topics):
        first = tallies[:, i].astype(float)
        assert abs(first.mean() - length * share[i]) < 5 * first.std() / np.sqrt(n)
        for j in range(i, n_topics):
            product = tallies[:, i] * tallies[:, j].astype(float)
            assert abs(product.mean() - second[i, j]) < 5 * product.std() / np.sqrt(n)
    # Given its topic's tally a word-topic count is binomial; its variance follows from the tally's moments.
    expected = length * share[:, None] * beta
    variance = expected * (1 - beta) + np.diag(covariance)[:, None] * beta**2
    assert np.all(np.abs(result.eta_hat["topics"] / n - expected) < 5 * np.sqrt(variance / n))


def _plain_gibbs(tokens, beta, alpha, sweeps, n, rng):
    """The tallies of n chains of the textbook sampler, all K probabilities at every token."""
    chains, tally = np.arange(n), np.zeros((n, len(alpha)))
    topics = np.empty((len(tokens), n), dtype=int)
    for sweep in range(sweeps):
        for i, word in enumerate(tokens):
            if sweep > 0:
                tally[chains, topics[i]] -= 1
            sums = np.cumsum((tally + alpha) * beta[:, word], axis=1)
            topics[i] = (sums < rng.random((n, 1)) * sums[:, -1:]).sum(axis=1)
            tally[chains, topics[i]] += 1
    return tally


@KERNELS
@pytest.mark.parametrize("n_topics", [11, 37])
def test_fast_kernels_agree_with_the_plain_sampler(kernel, n_topics):
    """Several groups of slots and several vectors, appearing and vanishing topics.

    Mean tallies of 1,500 chains each; 37 comparisons at 5 standard errors, a chance of failing under 3e-5.
    """
    rng = np.random.default_rng(5)
    n_words, n = 9, 1_500
    beta, alpha = rng.dirichlet(np.full(n_words, 0.3), n_topics), rng.gamma(1.0, 0.3, n_topics) + 0.05
    tokens = rng.integers(n_words, size=30)
    plain = _plain_gibbs(tokens, beta, alpha, 8, n, rng)
    theta = _run(Gibbs(sweeps=8, kept=1, kernel=kernel), bag([tokens] * n, n_words), beta, alpha, seed=3).local[
        "weights"
    ]
    fast = theta * (len(tokens) + alpha.sum()) - alpha
    error = np.sqrt((plain.var(axis=0) + fast.var(axis=0)) / n)
    assert np.all(np.abs(plain.mean(axis=0) - fast.mean(axis=0)) < 5 * error + 1e-9)
    np.testing.assert_allclose(plain.std(axis=0), fast.std(axis=0), rtol=0.2, atol=0.05)


@pytest.mark.parametrize("precision", ["float32", "float64"])
@pytest.mark.parametrize(("weight", "alpha"), [(2e-8, 2.5e-4), (1e-14, 1.25e-10)])
@KERNELS
def test_a_weight_matters_however_small_if_many_tokens_are_behind_it(kernel, weight, alpha, precision):
    """10,000 tokens of a topic that hardly has the last word, and alpha of one that has it: 2e-4 against 2.5e-4.

    1,000 draws at 5 standard errors: a chance of failing under 6e-7 each.
    """
    n, weights = 1_000, np.array([[1.0, weight], [1e-30, 1.0]])
    documents = Documents.from_matrix(np.tile([10_000, 1], (n, 1)))
    step = Gibbs(sweeps=1, kept=1, statistics="drawn", kernel=kernel, precision=precision)
    counted = _run(step, documents, weights, np.full(2, alpha), seed=7).eta_hat["topics"]
    expected = 1e4 * weight / (1e4 * weight + alpha)
    assert_array_equal(counted[:, 0], [10_000 * n, 0])
    assert abs(counted[0, 1] / n - expected) < 5 * np.sqrt(expected * (1 - expected) / n)
    # Its probability is the same whatever was drawn: expected counts have no noise at all.
    counted = _run(replace(step, statistics="expected"), documents, weights, np.full(2, alpha), seed=7).eta_hat
    np.testing.assert_allclose(counted["topics"][0, 1] / n, expected, rtol=2e-3)


@KERNELS
def test_a_document_has_its_own_stream(kernel):
    documents, step = bag(DOCUMENTS, 4), Gibbs(kernel=kernel)
    whole = _run(step, documents, BETA, ALPHA, seed=4).local["weights"]
    model, keys = LDA(4, ALPHA, 1.0), derive_keys(4, len(DOCUMENTS))
    for d in range(len(DOCUMENTS)):
        own = documents.slice(d, d + 1)
        alone = Threads().map_local(step, model, {"topics": np.log(BETA)}, own, keys[d : d + 1])["weights"]
        assert_array_equal(whole[d : d + 1], alone)


@KERNELS
@pytest.mark.parametrize("n_topics", [1, 2, 3, 4, 5, 8, 16, 17, 33, 150, 321])
def test_any_number_of_topics(n_topics, kernel):
    beta = np.random.default_rng(n_topics).dirichlet(np.ones(6), n_topics)
    result = _run(Gibbs(kernel=kernel), bag([[0, 1, 2, 3, 4, 5, 5], [], [2]], 6), beta, np.full(n_topics, 0.1), seed=0)
    np.testing.assert_allclose(result.eta_hat["topics"].sum(axis=0), [1, 1, 2, 1, 1, 2], rtol=2e-5)
    np.testing.assert_allclose(result.local["weights"][1], 1 / n_topics)


def test_fractions_are_refused_in_one_sentence():
    with pytest.raises(ValueError, match=r"needs whole counts.*use local_step='mean_field' or 'cvb0'"):
        Gibbs().check(Documents.from_matrix(np.array([[0.5, 1.0]])))
    Gibbs().check(Documents.from_matrix(np.array([[2.0, 1.0]])))


def test_endless_documents_are_refused_in_one_sentence():
    with pytest.raises(ValueError, match=r"document 1 has 1e\+10 of them, 1e\+10 in column 0 .*'mean_field'"):
        Gibbs().check(Documents.from_matrix(np.array([[2.0, 1.0], [1e10, 0.0]])))


@pytest.mark.parametrize("kept", [0, 11])
def test_kept_must_fit_into_sweeps(kept):
    with pytest.raises(ValueError, match="kept must be an integer from 1 to sweeps = 10"):
        Gibbs(sweeps=10, kept=kept)


def test_unknown_statistics_are_refused():
    with pytest.raises(ValueError, match="statistics must be 'expected' or 'drawn', not 'mean'"):
        Gibbs(statistics="mean")


def test_an_unknown_kernel_is_refused():
    with pytest.raises(ValueError, match="kernel must be 'auto', 'dense' or 'sparse', not 'fast'"):
        Gibbs(kernel="fast")


def test_places_that_become_free_go_to_the_next_document():
    """Lengths from 0 to 400, in any order: each document has the weights that it has alone, whoever is beside it."""
    rng = np.random.default_rng(11)
    lengths = np.concatenate([rng.integers(0, 30, 40), [400, 150, 0, 1, 1]])
    rows = [rng.multinomial(n, np.full(4, 0.25)) for n in rng.permutation(lengths)]
    documents, step, keys = Documents.from_matrix(np.array(rows)), Gibbs(kernel="dense"), derive_keys(4, len(rows))
    model, views = LDA(4, ALPHA, 1.0), {"topics": np.log(BETA)}
    together = Threads().map_reduce(step, model, views, documents, keys)
    assert together.eta_hat["topics"].sum() == pytest.approx(lengths.sum())
    for d in range(len(rows)):
        alone = Threads().map_local(step, model, views, documents.slice(d, d + 1), keys[d : d + 1])["weights"]
        assert_array_equal(together.local["weights"][d : d + 1], alone)
