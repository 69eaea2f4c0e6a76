"""Posteriors by weighed draws against quadrature, and the densities and likelihoods that weights are made of."""

from itertools import product

import numpy as np
import pytest
from scipy import stats

from ssvi.batches.groups import Groups
from ssvi.evaluation.reweighing import log_density, reweigh, widened
from ssvi.families.symmetric import pack
from ssvi.families.wishart import Wishart
from ssvi.local_steps.hierarchical.marginal import likelihood_of
from ssvi.models.base import Block
from ssvi.models.hierarchical.deviations import DeviationPrior
from ssvi.models.hierarchical.linear import HierarchicalLinear
from ssvi.models.hierarchical.logistic import HierarchicalLogistic
from ssvi.models.hierarchical.probit import HierarchicalProbit

RNG = np.random.default_rng(0)
Q = np.array([[2.0, 0.4], [0.4, 1.0]])
BETA = np.array([0.4, -0.7, 0.2])
X = np.column_stack([np.ones(5), RNG.normal(size=(5, 2))])


def at(model, beta=BETA, precision=Q, tau=1.7):
    d = model.n_varying
    found = {"coefficients": beta[None], "precision": pack(precision[:d, :d])[None]}
    return found | ({"noise": np.array([tau])} if isinstance(model, HierarchicalLinear) else {})


def groups_that_hardly_differ():
    """Eight groups of one row with known noise: the posterior of their deviation is highest at 0."""
    y, deviations = np.array([28.0, 8, -3, 7, -1, 1, 18, 12]) / 10, np.array([15.0, 10, 16, 11, 9, 11, 10, 18]) / 10
    _, data = Groups.from_table(np.ones((8, 1)), y, np.arange(8), deviations**-2)
    return y, deviations, data


def test_a_posterior_that_is_highest_at_0():
    """Half-Cauchy deviation. With 4,000 draws worth 1,000 or more, 0.13 sd are four standard errors, 1e-4."""
    y, noise, data = groups_that_hardly_differ()
    model = HierarchicalLinear(
        1, coefficient_scale=0.5, deviation_scale=0.5, deviation_degrees=1.0, noise_prior="known"
    )
    rough = model.start(data, np.random.default_rng(0))
    found = reweigh(model, rough, likelihood_of(model, data), 4_000, 0)
    mu, sd = np.linspace(-2.5, 3.5, 301)[:, None, None], np.linspace(1e-4, 12.0, 4_000)[None, :, None]
    log_posterior = stats.norm.logpdf(y, mu, np.sqrt(noise**2 + sd**2)).sum(axis=2)
    log_posterior += stats.norm.logpdf(mu[..., 0], 0.0, 0.5) - np.log1p((sd[..., 0] / 0.5) ** 2)
    weights = np.exp(log_posterior - log_posterior.max())
    weights /= weights.sum()
    assert found.worth > 1_000
    drawn = {"mu": found.values["coefficients"][:, 0, 0], "sd": found.values["precision"][:, 0, 0] ** -0.5}
    for name, grid in (("mu", mu[..., 0]), ("sd", sd[..., 0])):
        mean = (weights * grid).sum()
        deviation = np.sqrt((weights * grid**2).sum() - mean**2)
        assert drawn[name].mean() == pytest.approx(mean, abs=0.13 * deviation)
        assert drawn[name].std() == pytest.approx(deviation, rel=0.15)


@pytest.mark.parametrize("kind", [HierarchicalLogistic, HierarchicalProbit])
def test_counts_of_one_group(kind):
    """One coefficient and one effect: the posterior by quadrature over beta, Q and b. Four standard errors, 1e-4."""
    y, trials = np.array([1.0, 3.0, 0.0, 2.0]), np.array([2.0, 4.0, 3.0, 2.0])
    labels = np.array([0, 0, 1, 1])
    _, data = Groups.from_table(np.ones((4, 1)), y, labels, trials)
    model = kind(1, coefficient_scale=1.5, deviation_scale=1.0)
    found = reweigh(model, model.start(data, np.random.default_rng(0)), likelihood_of(model, data), 4_000, 0)
    beta, sd = np.linspace(-6, 6, 121), np.geomspace(1e-3, 60.0, 160)
    b, own = np.polynomial.hermite_e.hermegauss(60)
    eta = beta[:, None, None] + sd[:, None] * b
    shares = model.probability(eta)[..., None]
    rows = shares**y * (1.0 - shares) ** (trials - y)
    likelihood = np.prod([(rows[..., labels == n].prod(axis=-1) * own).sum(axis=-1) for n in (0, 1)], axis=0)
    prior = stats.norm.pdf(beta, 0.0, 1.5)[:, None] * stats.t.pdf(sd, 2.0) * sd  # a grid of log sd
    weights = likelihood * prior
    weights /= weights.sum()
    mean = (weights * beta[:, None]).sum()
    deviation = np.sqrt((weights * beta[:, None] ** 2).sum() - mean**2)
    assert found.worth > 500
    assert found.values["coefficients"].mean() == pytest.approx(mean, abs=0.18 * deviation)
    assert found.values["coefficients"].std() == pytest.approx(deviation, rel=0.15)
    below = (weights * (sd < 1.0)).sum()
    assert (found.values["precision"] > 1.0).mean() == pytest.approx(below, abs=0.09)


def test_half_t_deviations_have_their_density():
    prior, sd = DeviationPrior("half_t", np.array([2.25]), 3.0), np.array([0.1, 1.0, 4.0])
    log_q = prior.log_density(sd[:, None] ** -2.0) + np.log(sd**2)  # h(Q) = 1 / Q
    found = np.exp(log_q) * 2.0 * sd**-3.0
    np.testing.assert_allclose(found, 2.0 * stats.t.pdf(sd / 1.5, 3.0) / 1.5, rtol=1e-10)


def test_two_deviations_have_the_density_that_an_integral_over_their_scales_has():
    prior, family = DeviationPrior("half_t", np.array([2.25, 0.5]), 2.0), Wishart(2)

    nodes, weights = np.polynomial.legendre.leggauss(40)
    roots, weights = 2.0 * (nodes + 1.0), 2.0 * weights  # of g on (0, 16), since the density of g has a pole at 0
    total = 0.0
    for (s, v), (t, w) in product(zip(roots, weights, strict=True), repeat=2):
        lam = prior.precision(np.array([s * s, t * t]))[0]
        log_q = family.statistics(pack(Q)) @ lam - family.log_normalizer(lam)
        density = np.exp(-(np.array([s, t]) ** 2) / prior.squares) / np.sqrt(np.pi * prior.squares) * 2.0
        total += v * w * density.prod() * np.exp(log_q)
    assert np.exp(prior.log_density(pack(Q))) == pytest.approx(total, rel=1e-4)


@pytest.mark.parametrize("kind", ["half_t", "half_normal", "gamma"])
def test_the_noise_has_the_prior_that_is_simulated(kind):
    """Shares of simulated tau in three parts of the line, 4,000 draws: 0.04 are five standard errors, 1e-6."""
    model = HierarchicalLinear(1, noise_prior=kind, noise_scale=1.5, noise_degrees=3.0)
    rng = np.random.default_rng(1)
    drawn = np.array([model._simulate_globals(rng)["noise"][0] for _ in range(4_000)])
    log_tau = np.linspace(-25, 25, 20_001)
    values = {"precision": np.ones((len(log_tau), 1, 1)), "noise": np.exp(log_tau)[:, None]}
    log_p = model.log_prior(values)  # h = 1 / tau: the density of log tau
    density = np.exp(log_p - log_p.max())
    density /= density.sum()
    for end in (0.2, 1.0):
        assert (drawn < end).mean() == pytest.approx(density[log_tau < np.log(end)].sum(), abs=0.04)


@pytest.mark.parametrize("kind", [HierarchicalLogistic, HierarchicalProbit])
@pytest.mark.parametrize("d", [1, 2])
def test_the_likelihood_of_counts_against_integration(kind, d):
    y, trials = np.array([1.0, 0.0, 2.0, 5.0, 1.0]), np.array([1.0, 2.0, 3.0, 5.0, 4.0])
    model = kind(3, varying=tuple(range(d)))
    _, data = Groups.from_table(X, y, np.zeros(5), trials)
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    root = np.linalg.cholesky(np.linalg.inv(Q[:d, :d]))
    points = np.stack([grid.ravel() for grid in np.meshgrid(*[nodes] * d)]).T @ root.T
    log_weights = sum(np.log(grid.ravel()) for grid in np.meshgrid(*[weights / weights.sum()] * d))
    rows = stats.binom.logpmf(y, trials, model.probability(X @ BETA + points @ X[:, :d].T))
    wanted = np.log(np.exp(rows.sum(axis=1) + log_weights).sum())
    found = likelihood_of(model, data).at(at(model)).log_likelihood
    assert found == pytest.approx(wanted, abs=1e-3)


def test_the_likelihood_of_gaussian_rows_far_from_0():
    model, y = HierarchicalLinear(3, varying=(0, 1)), 1e6 + RNG.normal(size=5)
    weights = np.array([1.0, 2.0, 0.5, 1.0, 3.0])
    _, data = Groups.from_table(X, y, np.zeros(5), weights)
    beta = BETA + np.array([1e6, 0.0, 0.0])
    covariance = X[:, :2] @ np.linalg.inv(Q) @ X[:, :2].T + np.diag(1.0 / (1.7 * weights))
    wanted = stats.multivariate_normal.logpdf(y, X @ beta, covariance)
    assert likelihood_of(model, data).at(at(model, beta)).log_likelihood == pytest.approx(wanted, rel=1e-6)


def test_wider_forms_have_the_same_mean():
    family = Wishart(2)
    lam = family.natural(Q, np.array(9.0))[None]
    wide = widened(Block(family, lam, lam.shape), lam, 0.3)
    means = [family.expand(family.mean_stats(own)).precision for own in (lam, wide)]
    np.testing.assert_allclose(means[0], means[1])
    assert family.standard(wide).degrees == pytest.approx(1.0 + 0.3 * 8.0)
    assert log_density(Block(family, lam, lam.shape), wide, pack(Q)[None, None]).shape == (1,)
