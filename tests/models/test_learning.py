"""Hyperparameters by name, and priors learned from lambda, against likelihoods written down another way."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import optimize, special, stats

from ssvi.models.bernoulli_mixture import BernoulliMixture
from ssvi.models.emissions import CategoricalEmission, GaussianEmission, PoissonEmission
from ssvi.models.gaussian_mixture import GaussianMixture, GaussianPrior
from ssvi.models.hmm import HMM
from ssvi.models.lds import LDS, complete_sums
from ssvi.models.learning import likeliest_priors, numbers_of, with_numbers

RNG = np.random.default_rng(0)


@dataclass(frozen=True)
class Inner:
    scale: float = 2.0
    pair: tuple[float, float] = (1.0, 3.0)


@dataclass(frozen=True)
class Outer:
    size: int = 4
    prior: Inner = Inner()
    weight: float = 0.5


def test_names_with_dots_are_attributes_of_attributes():
    names = ("weight", "prior.scale", "prior.pair")
    numbers = numbers_of(Outer(), names)
    np.testing.assert_equal(numbers, {"weight": 0.5, "prior.scale": 2.0, "prior.pair": [1.0, 3.0]})
    assert with_numbers(Outer(), numbers) == Outer()
    changed = with_numbers(Outer(), {"prior.pair": np.array([5.0, 6.0]), "weight": np.array(7.0)})
    assert changed == Outer(prior=Inner(pair=(5.0, 6.0)), weight=7.0)
    assert with_numbers(Outer(), {}) == Outer()


def _learned(model, seen, names, rounds=12):
    """Learn from lambda = eta + n again and again, as sweeps do; a model's other blocks have seen nothing."""
    model = replace(model, learned=names)
    for _ in range(rounds):
        lam = {name: block.prior + seen.get(name, np.zeros(block.shape)) for name, block in model.blocks().items()}
        model = model.at(
            likeliest_priors(model, {name: model.usual_numbers()[name] for name in names}, lam.__getitem__)
        )
    return numbers_of(model, names)


def _best(likelihood, start):
    """Maximise over logarithms, by a search that knows no slopes."""
    options = {"xatol": 1e-9, "fatol": 1e-11, "maxiter": 6_000, "maxfev": 6_000}
    found = optimize.minimize(
        lambda logs: -likelihood(np.exp(logs)), np.log(start), method="Nelder-Mead", options=options
    )
    return np.exp(found.x)


def _weakly(value, usual):
    """The log density of a hyperparameter's logarithm before anything is seen, but for a constant."""
    return -0.5 * (np.log(value / usual) / 3.0) ** 2


def test_stickiness_and_transitions_are_the_likeliest_of_dirichlet_multinomials():
    counts = RNG.multinomial(90, RNG.dirichlet(np.full(6, 0.5), 6)) + 40 * np.eye(6, dtype=int)
    model = HMM(6, CategoricalEmission(1, 6, 3), 1.0, 1.0, 1.0)
    names = ("transition_prior", "stickiness")
    found = _learned(model, {"transitions": counts.astype(float)}, names)

    def likelihood(values):
        eta = values[0] + values[1] * np.eye(6)
        rows = sum(stats.dirichlet_multinomial.logpmf(counts[j], eta[j], counts[j].sum()) for j in range(6))
        return rows + _weakly(values, 1.0).sum()

    np.testing.assert_allclose([found[name] for name in names], _best(likelihood, np.ones(2)), rtol=1e-4)


def test_the_shape_of_rates_is_that_of_negative_binomials_with_the_columns_means():
    means, points = np.array([2.0, 9.0, 0.5]), RNG.integers(5, 40, (8, 1)).astype(float)
    sums = RNG.poisson(points * RNG.gamma(0.6, means / 0.6, (8, 3))).astype(float)
    model = HMM(8, PoissonEmission(3, 8, 1.0, tuple(means)))
    seen = {"rates": np.stack([sums, np.broadcast_to(points, sums.shape)], axis=-1)}
    found = _learned(model, seen, ("emission.shape",))["emission.shape"]

    def likelihood(shape):
        rate = shape[0] / means
        return stats.nbinom.logpmf(sums, shape[0], rate / (rate + points)).sum() + _weakly(shape[0], 1.0)

    np.testing.assert_allclose(found, _best(likelihood, np.ones(1))[0], rtol=1e-4)


def _log_evidence(rows, mean, strength, scatter, degrees):
    """log p(rows) with a normal-Wishart prior, one row after the other: multivariate Student densities."""
    total, m, kappa, s, nu = 0.0, np.array(mean), strength, np.array(scatter), degrees
    for y in rows:
        free = nu - len(y) + 1.0
        total += stats.multivariate_t.logpdf(y, m, s * (kappa + 1.0) / (kappa * free), df=free)
        s = s + kappa / (kappa + 1.0) * np.outer(y - m, y - m)
        m, kappa, nu = (kappa * m + y) / (kappa + 1.0), kappa + 1.0, nu + 1.0
    return total


@pytest.mark.parametrize("owner", ["mixture", "emission"])
def test_all_numbers_of_a_gaussian_prior_are_the_likeliest_of_student_densities(owner):
    groups = [RNG.multivariate_normal(RNG.normal(0.0, 3.0, 2), np.diag(RNG.gamma(3.0, 0.3, 2)), 12) for _ in range(10)]
    mean, scatter = np.array([0.5, -0.2]), np.array([[1.0, 0.2], [0.2, 0.7]])
    prior = GaussianPrior(mean, 0.5, scatter, 4.0)
    if owner == "mixture":
        model, block = GaussianMixture(2, 10, 0.1, "full", prior), "components"
    else:
        model, block = HMM(10, GaussianEmission(2, 10, "full", prior)), "states"
    family = model.blocks()[block].family
    layout = [np.concatenate([y, [1.0], [y[0] ** 2, y[0] * y[1], y[1] ** 2], [1.0]]) for y in np.concatenate(groups)]
    seen = np.array(layout).reshape(10, 12, -1).sum(axis=1)
    assert seen.shape[1] == family.dimension
    stem = "prior" if owner == "mixture" else "emission.prior"
    names = tuple(f"{stem}.{name}" for name in ("strength", "degrees", "scale"))
    found = _learned(model, {block: seen}, names, rounds=25)
    usual = model.usual_numbers()

    def likelihood(values):
        strength, spare, scale = values
        evidence = sum(_log_evidence(rows, mean, strength, scale * scatter, 1.0 + spare) for rows in groups)
        known = [usual[name].value - usual[name].least for name in names]
        return evidence + _weakly(values, np.array(known)).sum()

    wanted = _best(likelihood, np.array([0.5, 3.0, 1.0]))
    np.testing.assert_allclose([found[name] for name in names], wanted + np.array([0.0, 1.0, 0.0]), rtol=1e-3)


def test_numbers_that_share_no_block_are_found_apart():
    """A mixture's concentration is the same whether or not the prior of its components is learned with it."""
    model = BernoulliMixture(5, 8, 2.0, (1.0, 1.0))
    ones = RNG.integers(0, 20, (8, 5)).astype(float)
    seen = {"weights": RNG.integers(0, 50, (1, 8)).astype(float), "components": np.stack([ones, 20.0 - ones], axis=-1)}
    alone = _learned(model, seen, ("concentration",))["concentration"]
    both = _learned(model, seen, ("prior", "concentration"))
    np.testing.assert_array_equal(both["concentration"], alone)
    assert both["prior"].shape == (2,)


def test_how_much_a_regressions_mean_counts_is_the_likeliest_of_gaussians():
    """y = C x + noise of known precision is what a large `degrees` comes to: C's rows are N(0, R / strength)."""
    model = LDS(6, 2, 0, "diag")
    design = np.column_stack([RNG.normal(size=(200, 2)), np.ones(200)])
    loadings = RNG.normal(0.0, 0.8, (6, 3))
    y = design @ loadings.T + 0.5 * RNG.normal(size=(200, 6))
    regression, prior = model.emissions, model.blocks()["emissions"].prior

    seen = regression.natural(complete_sums(regression, design, y)).reshape(prior.shape)
    found = _learned(model, {"emissions": seen}, ("prior.emission_strength",))["prior.emission_strength"]
    own, rows = model.prior, len(y)
    scatter, degrees = own.noise_variance * (own.degrees - 2.0), own.degrees

    def likelihood(values):
        covariance = np.eye(rows) + design @ design.T / values[0]
        half = 0.5 * degrees
        squares = np.einsum("td,ts,sd->d", y, np.linalg.inv(covariance), y)
        # A Student density of `rows` coordinates for each column, but for constants.
        each = special.gammaln(half + 0.5 * rows) - (half + 0.5 * rows) * np.log(scatter + squares)
        return (each - 0.5 * np.linalg.slogdet(covariance)[1]).sum() + _weakly(values[0], 0.1)

    np.testing.assert_allclose(found, _best(likelihood, np.array([0.5]))[0], rtol=1e-3)
