"""Local steps of multilevel probit and logistic regression against numerical integration over one group's effect."""

import numpy as np
import pytest
from scipy import integrate, optimize, special

from ssvi.backends import Threads
from ssvi.batches.groups import Groups
from ssvi.local_steps.base import LocalStep
from ssvi.models.hierarchical.logistic import HierarchicalLogistic
from ssvi.models.hierarchical.probit import HierarchicalProbit
from ssvi.numerics.random import derive_keys
from ssvi.registry import discover

X = np.array([[1.0, 0.3], [1.0, -1.2], [1.0, 0.8]])
Y, TRIALS = np.array([1.0, 0.0, 2.0]), np.array([1.0, 2.0, 3.0])
BETA, Q = np.array([0.4, -0.7]), 0.8
STEP = 1e-4


@pytest.fixture(params=[HierarchicalLogistic, HierarchicalProbit], ids=lambda kind: kind.name)
def model(request):
    return request.param(2, varying=(0,), deviation_prior="wishart")


def step_of(model, name, **options):
    return discover(f"ssvi.local_steps.{model.name}", LocalStep)[name](**options)


def run(step, model, n=1, y=Y, beta=BETA, seed=0):
    """Run a step on n copies of the same group."""
    _, data = Groups.from_table(np.tile(X, (n, 1)), np.tile(y, n), np.repeat(np.arange(n), 3), np.tile(TRIALS, n))
    views = model.statistics_of({"coefficients": beta[None], "precision": np.array([[Q]])})
    return Threads().map_reduce(step, model, views, data, derive_keys(seed, n))


def joint(model, b, beta, y=Y):
    share = model.probability(X @ beta + b)
    rows = special.comb(TRIALS, y) * share**y * (1.0 - share) ** (TRIALS - y)
    return rows.prod() * np.sqrt(Q / (2 * np.pi)) * np.exp(-0.5 * Q * b * b)


def integral(model, function=lambda b: 1.0, beta=BETA, y=Y):
    return integrate.quad(lambda b: function(b) * joint(model, b, beta, y), -12.0, 12.0, epsabs=1e-13, limit=400)[0]


def slope(model):
    """Of log p(y | beta), by differences."""
    ends = [[np.log(integral(model, beta=BETA + sign * STEP * way)) for sign in (1, -1)] for way in np.eye(2)]
    return np.array([(up - down) / (2 * STEP) for up, down in ends])


def slope_of(eta_hat, n=1):
    linear, (a, b, c) = eta_hat["coefficients"][0][:2] / n, eta_hat["coefficients"][0][2:] / n
    return linear - np.array([[a, b], [b, c]]) @ BETA


def moments(model):
    total = integral(model)
    return integral(model, lambda b: b) / total, integral(model, lambda b: b * b) / total


def test_gibbs_has_the_exact_means(model):
    """4,000 groups in 40 parts, 20 sweeps each: within 5 standard errors, 1e-5 each by the t-distribution."""
    parts = [run(step_of(model, "gibbs", sweeps=20, kept=10), model, 100, seed=seed) for seed in range(40)]
    mean, square = moments(model)
    found = np.array([[*slope_of(part.eta_hat, 100), part.eta_hat["precision"][0, 0] / 100] for part in parts])
    effects = np.array([part.local["effects"].mean() for part in parts])
    wanted = np.array([*slope(model), square])
    assert np.all(np.abs(found.mean(axis=0) - wanted) < 5.0 * found.std(axis=0) / np.sqrt(40) + 1e-6)
    assert abs(effects.mean() - mean) < 5.0 * effects.std() / np.sqrt(40)


def test_the_variational_step_has_a_bound_and_near_means(model):
    result, exact = run(step_of(model, "variational"), model), np.log(integral(model))
    assert exact - 0.02 < result.bound < exact
    mean, square = moments(model)
    assert result.local["effects"][0, 0] == pytest.approx(mean, abs=0.02)
    assert result.eta_hat["precision"][0, 0] == pytest.approx(square, rel=0.05)
    np.testing.assert_allclose(slope_of(result.eta_hat), slope(model), atol=0.05)


def test_the_laplace_step_is_at_the_mode(model):
    result = run(step_of(model, "laplace"), model)
    at = result.local["effects"][0, 0]
    highest = optimize.minimize_scalar(lambda b: -joint(model, b, BETA), (-1.0, 1.0), tol=1e-10).x
    assert at == pytest.approx(highest, abs=1e-6)
    second = (np.log(joint(model, at + 1e-3, BETA)) - 2 * np.log(joint(model, at, BETA))
              + np.log(joint(model, at - 1e-3, BETA))) / 1e-6  # fmt: skip
    assert result.local["covariances"][0, 0, 0] == pytest.approx(-1.0 / second, rel=1e-4)
    np.testing.assert_allclose(slope_of(result.eta_hat), slope(model), atol=0.1)


def test_a_group_far_out_is_handled(model):
    """Everything is a success where nothing should be: the mode is far away, and Newton's steps must be halved."""
    for name in ("gibbs", "laplace", "variational"):
        result = run(step_of(model, name), model, y=TRIALS, beta=np.array([-30.0, 10.0]))
        assert np.isfinite(result.eta_hat["coefficients"]).all()
        assert result.local["effects"][0, 0] > 3.0


def test_effects_over_simulated_groups_have_the_distribution_of_the_population(model):
    """Geweke's way: effects drawn given data simulated from the population are again of the population.

    E[b^2] = 1 / Q over 4,000 groups, 5 standard errors: 6e-7.
    """
    n, rng = 4_000, np.random.default_rng(3)
    b = rng.normal(0.0, Q**-0.5, n)
    y = rng.binomial(TRIALS.astype(int), model.probability(X @ BETA + b[:, None])).astype(float).ravel()
    _, data = Groups.from_table(np.tile(X, (n, 1)), y, np.repeat(np.arange(n), 3), np.tile(TRIALS, n))
    views = model.statistics_of({"coefficients": BETA[None], "precision": np.array([[Q]])})
    step = step_of(model, "gibbs", sweeps=20, kept=1)
    found = Threads().map_reduce(step, model, views, data, derive_keys(0, n))
    square = found.local["effects"][:, 0] ** 2 + found.local["covariances"][:, 0, 0]
    assert abs(square.mean() - 1.0 / Q) < 5.0 * square.std() / np.sqrt(n)
    assert found.eta_hat["precision"][0, 0] == pytest.approx(square.sum())


def test_sweeps_that_are_kept_are_no_more_than_there_are(model):
    with pytest.raises(ValueError, match=r"^kept must be at most the number of sweeps \(2\), not 3\.$"):
        step_of(model, "gibbs", sweeps=2, kept=3)
