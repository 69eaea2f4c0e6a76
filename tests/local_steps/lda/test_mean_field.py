import numpy as np
import pytest
from scipy import special
from tests.tiny import bag, enumerate_document

from ssvi.backends import Threads
from ssvi.batches.documents import Documents
from ssvi.local_steps.lda.cvb0 import Cvb0
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.local_steps.lda.mean_field import MeanField, _leap
from ssvi.models.lda import LDA
from ssvi.numerics.random import derive_keys

RNG = np.random.default_rng(0)
BETA = RNG.dirichlet(np.full(7, 0.5), 3)
ALPHA = np.array([0.2, 0.5, 1.1])
DOCUMENTS = [[0, 0, 1], [2, 3, 4, 5, 6, 6], [1], [], [0, 1, 2, 3, 4, 5]]


def _run(step, documents, beta=BETA, alpha=ALPHA):
    model = LDA(beta.shape[1], alpha, 1.0)
    keys = derive_keys(0, len(documents))
    return Threads().map_reduce(step, model, {"topics": np.log(beta)}, documents, keys)


def _plain(counts, beta, alpha, rounds):
    """Textbook coordinate ascent on one document: gamma, expected counts and the ELBO, all with explicit q(z)."""
    gamma = alpha + counts.sum() / len(alpha)
    for _ in range(rounds):
        phi = beta * np.exp(special.digamma(gamma))[:, None]
        phi /= phi.sum(axis=0)
        gamma = alpha + phi @ counts
    expected_log = special.digamma(gamma) - special.digamma(gamma.sum())
    phi = beta * np.exp(expected_log)[:, None]
    phi /= phi.sum(axis=0)
    bound = (counts * (phi * (np.log(beta) + expected_log[:, None] - np.log(phi)))).sum()
    bound += special.gammaln(alpha.sum()) - special.gammaln(alpha).sum() + ((alpha - 1) * expected_log).sum()
    bound -= special.gammaln(gamma.sum()) - special.gammaln(gamma).sum() + ((gamma - 1) * expected_log).sum()
    return gamma, phi * counts, bound


@pytest.mark.parametrize(("rounds", "plain_rounds"), [(1, 1), (2, 2), (3, 3), (60, 2_000), (61, 2_000)])
def test_agrees_with_the_plain_updates(rounds, plain_rounds):
    """Three rounds are plain, then there are leaps: they get to the same limit sooner."""
    documents = bag(DOCUMENTS, 7)
    step = MeanField(max_rounds=rounds, tolerance=0.0, precision="float64")
    result = _run(step, documents)
    counts = [np.bincount(tokens, minlength=7) if tokens else np.zeros(7) for tokens in DOCUMENTS]
    plain = [_plain(row, BETA, ALPHA, plain_rounds) for row in counts]
    theta = np.array([gamma / gamma.sum() for gamma, _, _ in plain])
    np.testing.assert_allclose(result.local["weights"], theta, rtol=1e-10)
    np.testing.assert_allclose(result.eta_hat["topics"], sum(counts for _, counts, _ in plain), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(result.bound, sum(bound for _, _, bound in plain), rtol=1e-11)


def test_leaps_find_the_limit_of_a_slow_line():
    """Changes that halve each time point to their limit, and never below alpha."""
    limit, start = np.array([5.0, 2.0, 0.1]), np.array([1.0, 4.0, 0.3])
    path = [limit + (start - limit) * 0.5**n for n in range(3)]
    gamma = path[2].copy()
    _leap(path[0], path[1], gamma, np.zeros(3))
    np.testing.assert_allclose(gamma, limit, rtol=1e-12)
    gamma = path[2].copy()
    _leap(path[0], path[1], gamma, np.full(3, 0.15))
    np.testing.assert_allclose(gamma, np.maximum(limit, 0.15), rtol=1e-12)


def test_the_bound_never_falls_and_stays_under_the_exact_value():
    for tokens in DOCUMENTS:
        exact, _ = enumerate_document(tokens, BETA, ALPHA) if tokens else (0.0, None)
        bounds = [
            _run(MeanField(max_rounds=rounds, tolerance=0.0, precision="float64"), bag([tokens], 7)).bound
            for rounds in range(1, 40)
        ]
        assert np.all(np.diff(bounds) >= -1e-12)
        assert bounds[-1] <= exact + 1e-12


def test_single_precision_is_close_to_double():
    rng = np.random.default_rng(1)
    beta, alpha = rng.dirichlet(np.full(200, 0.1), 20), np.full(20, 0.1)
    documents = Documents.from_matrix(rng.poisson(0.3, (50, 200)))
    single = _run(MeanField(max_rounds=30, tolerance=0.0), documents, beta, alpha)
    double = _run(MeanField(max_rounds=30, tolerance=0.0, precision="float64"), documents, beta, alpha)
    np.testing.assert_allclose(single.local["weights"], double.local["weights"], atol=2e-4)
    np.testing.assert_allclose(single.bound, double.bound, rtol=1e-5)


def test_fractions_are_fine_and_scale_as_they_should():
    documents = Documents.from_matrix(np.array([[0.5, 0.25, 0, 0, 0, 0, 2.25]]))
    result = _run(MeanField(precision="float64"), documents)
    np.testing.assert_allclose(result.eta_hat["topics"].sum(axis=0), [0.5, 0.25, 0, 0, 0, 0, 2.25])


def test_tiny_priors_and_many_topics_do_not_underflow():
    """exp(psi(gamma)) underflows for every topic here unless it is taken relative to the largest."""
    n_topics = 500
    beta = np.random.default_rng(2).dirichlet(np.ones(5), n_topics)
    result = _run(MeanField(), bag([[0]], 5), beta, np.full(n_topics, 1e-4))
    assert np.isfinite(result.local["weights"]).all()
    np.testing.assert_allclose(result.eta_hat["topics"].sum(), 1.0, rtol=1e-5)


@pytest.mark.parametrize("step", [MeanField(), Cvb0(), Gibbs()], ids=lambda step: step.name)
def test_words_that_are_rare_in_every_topic_keep_their_odds(step):
    """Weights of e^-60 and e^-100 are far below the smallest that is kept, but it is their ratio that counts."""
    log_beta = np.array([[-60.0, -0.1], [-100.0, -0.1]])
    model = LDA(2, np.ones(2), 1.0)
    result = Threads().map_reduce(step, model, {"topics": log_beta}, bag([[0]] * 20, 2), derive_keys(0, 20))
    np.testing.assert_allclose(result.eta_hat["topics"][:, 0], [20.0, 0.0], atol=1e-5)


def test_topics_that_hold_nothing_are_left_aside_without_harm():
    """Sharp topics of 200 words: documents end with a few of 60 topics, at the fixed point of the plain updates."""
    rng = np.random.default_rng(3)
    beta, alpha = rng.dirichlet(np.full(200, 0.02), 60) + 1e-9, np.full(60, 0.1)
    beta /= beta.sum(axis=1, keepdims=True)
    counts = np.array([rng.multinomial(80, rng.dirichlet(np.full(60, 0.05)) @ beta) for _ in range(30)])
    step = MeanField(max_rounds=3_000, tolerance=1e-9, precision="float64")
    theta = Threads().map_local(
        step, LDA(200, alpha, 1.0), {"topics": np.log(beta)}, Documents.from_matrix(counts), derive_keys(0, 30)
    )["weights"]
    plain = np.array([_plain(row, beta, alpha, 3_000)[0] for row in counts])
    np.testing.assert_allclose(theta, plain / plain.sum(axis=1, keepdims=True), atol=1e-5)
    assert np.mean(theta > 0.01) < 0.2
