"""Local steps of the correlated topic model against sums over a grid of log weights, and samplers against the prior."""

import numpy as np
import pytest
from scipy import optimize, special
from tests.tiny import bag

from ssvi.backends import Threads
from ssvi.families.symmetric import pack, unpack
from ssvi.local_steps.ctm.gibbs import Gibbs, draw_log_weights, draw_topics
from ssvi.local_steps.ctm.laplace import Laplace
from ssvi.local_steps.ctm.mean_field import MeanField
from ssvi.local_steps.ctm.metropolis import Metropolis
from ssvi.models.ctm import CTM
from ssvi.numerics.random import derive_key, derive_keys

MODEL = CTM(4, 2, 0.5)
TOPICS = np.array([[0.6, 0.2, 0.1, 0.1], [0.1, 0.1, 0.3, 0.5]])
MEAN, COVARIANCE = np.array([0.5, -0.3]), np.array([[1.5, 0.4], [0.4, 0.8]])
DOCUMENTS = bag([[0, 0, 1, 3], [3, 3, 2, 3, 2, 0], [], [1] * 12 + [0] * 3 + [3] * 15], 4)

SAMPLERS = [Metropolis(draws=20_000, moves=3), Gibbs(sweeps=40_000, kept=39_000)]


def views():
    values = np.concatenate([MEAN, pack(np.linalg.inv(COVARIANCE))])[None]
    return MODEL.statistics_of({"topics": TOPICS, "weights": values}) | {"topics": np.log(TOPICS)}


def words_of(document):
    return DOCUMENTS.slice(document, document + 1).to_matrix().toarray()[0]


def by_grid(document):
    """Return log p(y), E[x], E[x x^T], the expected words of topics, and E[softmax(x)] of one document."""
    counts = words_of(document)
    axis = np.linspace(-9.0, 9.0, 601)
    x = np.stack(np.meshgrid(axis, axis, indexing="ij"), axis=-1).reshape(-1, 2)
    theta = special.softmax(x, axis=1)
    centred = x - MEAN
    log_prior = -0.5 * np.einsum("ni,ij,nj->n", centred, np.linalg.inv(COVARIANCE), centred)
    log_prior -= 0.5 * np.log(np.linalg.det(2 * np.pi * COVARIANCE))
    log_joint = log_prior + np.log(theta @ TOPICS) @ counts + 2 * np.log(axis[1] - axis[0])
    log_evidence = special.logsumexp(log_joint)
    weights = np.exp(log_joint - log_evidence)
    shares = theta[:, :, None] * TOPICS / (theta @ TOPICS)[:, None, :]
    return (
        log_evidence,
        weights @ x,
        np.einsum("n,ni,nj->ij", weights, x, x),
        np.einsum("n,nkv->kv", weights, shares) * counts,
        weights @ theta,
    )


def found(step, document):
    batch = DOCUMENTS.slice(document, document + 1)
    result = Threads().map_reduce(step, MODEL, views(), batch, derive_keys(derive_key(1, "ctm"), 1))
    said = result.eta_hat["weights"][0]
    mean, squares = said[:2], unpack(said[3:6], 2)
    assert said[2] == said[6] == 1.0  # documents
    return result.bound, mean, squares, result.eta_hat["topics"], result.local["weights"][0]


@pytest.mark.parametrize("document", range(4))
@pytest.mark.parametrize("step", SAMPLERS, ids=["metropolis", "gibbs"])
def test_samplers_have_the_moments_of_the_exact_conditional(step, document):
    # Autocorrelations leave a tenth of the samples or more: 4 standard errors of 2,000 draws of deviation 1.2 are 0.11.
    exact, own = by_grid(document), found(step, document)
    np.testing.assert_allclose(own[1], exact[1], atol=0.11)
    np.testing.assert_allclose(own[2], exact[2], atol=0.3)
    np.testing.assert_allclose(own[3], exact[3], atol=0.03 * max(1.0, exact[3].max()))
    np.testing.assert_allclose(own[4], exact[4], atol=0.03)


@pytest.mark.parametrize("document", range(4))
def test_laplace_is_near_the_exact_conditional_and_exact_for_no_words(document):
    exact, own = (
        by_grid(document),
        found(Laplace(tolerance=1e-8), document),
    )
    atol = 1e-3 if document == 2 else 0.12  # the grid's ends cut off a little
    np.testing.assert_allclose(own[1], exact[1], atol=atol)
    np.testing.assert_allclose(own[2] - np.outer(own[1], own[1]), exact[2] - np.outer(exact[1], exact[1]), atol=atol)
    np.testing.assert_allclose(own[3], exact[3], atol=0.05 * max(1.0, exact[3].max()))


@pytest.mark.parametrize("document", range(4))
def test_the_variational_bound_is_the_largest_one_and_below_the_evidence(document):
    counts, precision = words_of(document), np.linalg.inv(COVARIANCE)

    def negative_bound(packed):
        mean, lower = packed[:2], np.array([[np.exp(packed[2]), 0.0], [packed[3], np.exp(packed[4])]])
        spread = lower @ lower.T
        words = counts @ np.log(np.exp(mean) @ TOPICS) - counts.sum() * special.logsumexp(mean + np.diag(spread) / 2)
        prior = (mean - MEAN) @ precision @ (mean - MEAN) + np.trace(precision @ spread)
        prior += np.linalg.slogdet(2 * np.pi * COVARIANCE)[1]
        entropy = 0.5 * np.linalg.slogdet(2 * np.pi * np.e * spread)[1]
        return -(words - 0.5 * prior + entropy)

    best = -optimize.minimize(negative_bound, np.zeros(5), tol=1e-10).fun
    own = found(MeanField(tolerance=1e-8), document)
    np.testing.assert_allclose(own[0], best, atol=1e-6)
    assert own[0] <= by_grid(document)[0] + 1e-6


def test_the_mode_has_no_slope():
    counts = words_of(3)
    x = found(Laplace(tolerance=1e-10), 3)[1]

    def height(at):
        theta = special.softmax(at)
        return np.log(theta @ TOPICS) @ counts - 0.5 * (at - MEAN) @ np.linalg.solve(COVARIANCE, at - MEAN)

    slopes = [(height(x + step) - height(x - step)) / 2e-5 for step in 1e-5 * np.eye(2)]
    np.testing.assert_allclose(slopes, 0.0, atol=1e-6)


def test_gibbs_sampling_leaves_the_prior_as_it_is():
    """Draw words given log weights, then log weights given words, and so on: these have their prior's moments (Geweke).

    2,000 chains of 5 rounds from the prior itself; 4 standard errors of independent draws, 5 moments: one in 3,000.
    """
    rng, n, length = np.random.default_rng(5), 2_000, 12
    precision = np.linalg.inv(COVARIANCE)
    pull, keys = precision @ MEAN, derive_keys(9, n)
    ends = rng.multivariate_normal(MEAN, COVARIANCE, n)
    cumulative, held, by_word = np.empty(2), np.empty(2), np.ascontiguousarray(TOPICS.T)
    for chain, x in enumerate(ends):
        state = keys[chain]
        for _ in range(5):
            words = np.bincount(rng.choice(4, length, p=special.softmax(x) @ TOPICS), minlength=4).astype(float)
            theta = special.softmax(x)
            state = np.uint64(draw_topics(by_word, words, theta, cumulative, held, state))
            state = np.uint64(draw_log_weights(held, float(length), precision, pull, x, state))
    centred = ends - MEAN
    assert (np.abs(centred.mean(axis=0)) < 4 * np.sqrt(np.diag(COVARIANCE) / n)).all()
    products = np.einsum("ni,nj->nij", centred, centred)
    assert (np.abs(products.mean(axis=0) - COVARIANCE) < 4 * products.std(axis=0) / np.sqrt(n)).all()
