"""The exact step of multilevel linear regression against dense Gaussian algebra, which integrates b out at once."""

import numpy as np
import pytest
from scipy import stats

from ssvi.backends import Threads
from ssvi.batches.groups import Groups
from ssvi.families.symmetric import pack, unpack
from ssvi.local_steps.hierarchical_linear.exact import Exact
from ssvi.local_steps.hierarchical_linear.gibbs import Gibbs
from ssvi.models.hierarchical.linear import HierarchicalLinear
from ssvi.numerics.random import derive_keys

RNG = np.random.default_rng(0)
X, Y, W = RNG.normal(size=(5, 3)), RNG.normal(size=5), np.array([0.5, 1.0, 2.0, 1.0, 3.0])
BETA, TAU = np.array([0.5, -1.0, 2.0]), 1.7
Q = np.array([[2.0, 0.4], [0.4, 1.0]])


def views_of(model, beta=BETA, precision=Q, tau=TAU):
    values = {"coefficients": beta[None], "precision": pack(precision)[None], "noise": np.array([tau])}
    return model.statistics_of(values)


def run(step, model, views, data, seed=0):
    return Threads().map_reduce(step, model, views, data, derive_keys(seed, len(data)))


@pytest.fixture(scope="module")
def model():
    return HierarchicalLinear.example()


@pytest.fixture(scope="module")
def data():
    return Groups.from_table(X, Y, [0, 0, 0, 1, 1], W)[1]


def log_marginal(beta, precision, tau):
    total = 0.0
    for rows in (slice(0, 3), slice(3, 5)):
        x, v = X[rows], X[rows][:, [0, 1]]
        covariance = v @ np.linalg.inv(precision) @ v.T + np.diag(1.0 / (tau * W[rows]))
        total += stats.multivariate_normal(x @ beta, covariance).logpdf(Y[rows])
    return total


def test_the_bound_of_a_point_is_the_marginal_log_likelihood(model, data):
    assert run(Exact(), model, views_of(model), data).bound == pytest.approx(log_marginal(BETA, Q, TAU), rel=1e-12)


def test_statistics_of_beta_are_those_of_the_marginal_likelihood(model, data):
    eta_hat = run(Exact(), model, views_of(model), data).eta_hat["coefficients"][0]
    linear, quadratic = np.zeros(3), np.zeros((3, 3))
    for rows in (slice(0, 3), slice(3, 5)):
        x, v = X[rows], X[rows][:, [0, 1]]
        inverse = np.linalg.inv(v @ np.linalg.inv(Q) @ v.T + np.diag(1.0 / (TAU * W[rows])))
        linear, quadratic = linear + x.T @ inverse @ Y[rows], quadratic + x.T @ inverse @ x
    np.testing.assert_allclose(eta_hat[:3], linear, rtol=1e-12)
    np.testing.assert_allclose(unpack(eta_hat[3:], 3), quadratic, rtol=1e-12)


def test_effects_are_the_conditional_gaussian(model, data):
    local = run(Exact(), model, views_of(model), data).local
    v, w = X[:3][:, [0, 1]], TAU * W[:3]
    precision = v.T @ (w[:, None] * v) + Q
    np.testing.assert_allclose(local["covariances"][0], np.linalg.inv(precision), rtol=1e-12)
    mean = np.linalg.solve(precision, v.T @ (w * (Y[:3] - X[:3] @ BETA)))
    np.testing.assert_allclose(local["effects"][0], mean, rtol=1e-12)


def test_draws_have_the_mean_statistics(model, data):
    """2,000 draws; 5 standard errors, 6e-7 for each of 6 numbers."""
    views, exact = views_of(model), run(Exact(), model, views_of(model), data).eta_hat
    drawn = [run(Gibbs(), model, views, data, seed).eta_hat for seed in range(2_000)]
    for name in ("precision", "noise"):
        found = np.array([own[name][0] for own in drawn])
        assert np.all(np.abs(found.mean(axis=0) - exact[name][0]) <= 5.0 * found.std(axis=0) / np.sqrt(2_000) + 1e-12)
    np.testing.assert_allclose(drawn[0]["coefficients"], exact["coefficients"], rtol=1e-12)


def test_without_groups_it_is_a_regression():
    model = HierarchicalLinear(3, varying=(), noise_prior="known")
    data = Groups.from_rows(X, Y, W)
    views = model.statistics_of({"coefficients": BETA[None]})
    result = run(Exact(), model, views, data)
    assert result.bound == pytest.approx(stats.norm(X @ BETA, W**-0.5).logpdf(Y).sum())
    np.testing.assert_allclose(result.eta_hat["coefficients"][0, :3], X.T @ (W * Y))
    assert set(result.eta_hat) == {"coefficients"}


def test_a_column_may_vary_that_has_no_mean():
    """(0 + x | g) without x: its coefficients vary around 0."""
    model = HierarchicalLinear(3, fixed=(0, 2), varying=(1,), noise_prior="known")
    data = Groups.from_table(X, Y, np.zeros(5))[1]
    beta, q = BETA[[0, 2]], np.array([[0.8]])
    views = model.statistics_of({"coefficients": beta[None], "precision": pack(q)[None], "scales": np.ones(1)})
    covariance = np.outer(X[:, 1], X[:, 1]) / 0.8 + np.eye(5)
    wanted = stats.multivariate_normal(X[:, [0, 2]] @ beta, covariance).logpdf(Y)
    assert run(Exact(), model, views, data).bound == pytest.approx(wanted)
