"""Local steps of the Bernoulli mixture against the plain formula."""

import numpy as np
import pytest
from scipy import special, stats

from ssvi.backends import Threads
from ssvi.batches.documents import Documents
from ssvi.local_steps.bernoulli_mixture.exact import Exact
from ssvi.local_steps.bernoulli_mixture.gibbs import Gibbs
from ssvi.models.bernoulli_mixture import BernoulliMixture
from ssvi.numerics.random import derive_keys

RNG = np.random.default_rng(0)
MODEL = BernoulliMixture(6, 3, 1.0)
WEIGHTS, COMPONENTS = RNG.dirichlet(np.ones(3)), RNG.uniform(0.05, 0.95, (3, 6))
VIEWS = MODEL.statistics(WEIGHTS, COMPONENTS)


def _log_joint(rows):
    return np.log(WEIGHTS) + stats.bernoulli.logpmf(rows[:, None, :], COMPONENTS).sum(axis=2)


def _run(step, rows, seed=0):
    return Threads().map_reduce(step, MODEL, VIEWS, Documents.from_matrix(rows), derive_keys(seed, len(rows)))


def test_expected_components_are_bayes_rule():
    rows = RNG.integers(0, 2, (40, 6))
    rows[0], rows[1] = 0, 1
    joint = _log_joint(rows)
    evidence = special.logsumexp(joint, axis=1)
    posterior = np.exp(joint - evidence[:, None])
    result = _run(Exact(), rows)
    np.testing.assert_allclose(result.local["responsibilities"], posterior, rtol=1e-12)
    np.testing.assert_allclose(result.eta_hat["weights"][0], posterior.sum(axis=0))
    np.testing.assert_allclose(result.eta_hat["components"][..., 0], posterior.T @ rows, atol=1e-12)
    np.testing.assert_allclose(result.eta_hat["components"][..., 1], posterior.T @ (1 - rows), atol=1e-12)
    assert result.bound == pytest.approx(evidence.sum())


def test_drawn_components_follow_the_posterior():
    """30,000 draws for one row: 3 shares within 5 standard errors, a chance of failing under 2e-6."""
    row = np.array([1, 0, 1, 1, 0, 0])
    joint = _log_joint(row[None])[0]
    posterior = np.exp(joint - special.logsumexp(joint))
    n = 30_000
    result = _run(Gibbs(), np.tile(row, (n, 1)))
    shares = result.eta_hat["weights"][0] / n
    assert np.all(np.abs(shares - posterior) < 5 * np.sqrt(posterior * (1 - posterior) / n))
    assert np.all(result.local["responsibilities"].sum(axis=1) == 1)
    np.testing.assert_array_equal(result.eta_hat["components"][..., 0], np.outer(result.eta_hat["weights"][0], row))


def test_certain_components_give_no_nan():
    components = COMPONENTS.copy()
    components[0, :3], components[1, 3:] = 0.0, 1.0
    views = MODEL.statistics(WEIGHTS, components)
    rows = Documents.from_matrix(RNG.integers(0, 2, (50, 6)))
    for step in (Exact(), Gibbs()):
        result = Threads().map_reduce(step, MODEL, views, rows, derive_keys(0, 50))
        assert np.isfinite(result.eta_hat["components"]).all()
        np.testing.assert_allclose(result.local["responsibilities"].sum(axis=1), 1.0)


def test_only_zeros_and_ones_are_binary():
    with pytest.raises(ValueError, match="needs zeros and ones, and there is 2 in the data"):
        Exact().check(Documents.from_matrix(np.array([[1, 0, 2]])))
