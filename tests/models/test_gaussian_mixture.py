"""The Gaussian mixture as a model: its start, and the posterior that its steps find, against plain samplers."""

import itertools

import numpy as np
import pytest
from scipy import special, stats

from ssvi import engine
from ssvi.backends import Threads
from ssvi.batches import DenseRows
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.gaussian_mixture.gibbs import Gibbs
from ssvi.models.covariances import COVARIANCES
from ssvi.models.gaussian_mixture import GaussianMixture, GaussianPrior
from ssvi.models.scaling import Scaling
from ssvi.models.seeding import k_means
from ssvi.numerics.random import derive_key, derive_keys
from ssvi.schedules import ConstantSchedule, whole_step_schedule

KINDS = sorted(COVARIANCES)


def _draw(model, lam, seed):
    """One draw of t(beta) from q."""
    views = {}
    for name, block in model.blocks().items():
        whole = np.broadcast_to(lam[name], block.shape)
        views[name] = block.family.draw(whole, derive_keys(derive_key(seed, name), whole[..., 0].size)).stats
    return views


@pytest.mark.parametrize("kind", KINDS)
def test_drawing_data_then_hidden_variables_then_parameters_leaves_the_prior(kind):
    """Geweke's test of the Gibbs step, with missing entries: a chain through data keeps beta at its prior.

    2,000 turns; the means of all statistics are within 5 standard errors, of 40 batches, of what the prior has. There
    are at most 30 of them, and t with 39 degrees exceeds 5 once in 80,000: a chance of failing under 1 in 2,500.
    """
    shape = COVARIANCES[kind](2, 2)
    scatter = {2: np.array([[1.0, 0.3], [0.3, 0.8]]), 1: np.array([1.0, 0.8]), 0: np.array(0.9)}
    prior = GaussianPrior(np.array([0.4, -0.3]), 0.7, scatter[len(shape.scatter_shape)], 9.0)
    model = GaussianMixture(2, 2, 1.3, kind, prior)
    eta = {name: np.broadcast_to(block.prior, block.shape) for name, block in model.blocks().items()}
    rng, views, seen = np.random.default_rng(0), _draw(model, eta, 0), []
    holes = np.array([[False, True], [True, False], [False, False]])
    backend, step = Threads(), Gibbs()
    for turn in range(1, 2_001):
        now = model.covariance.gaussians(views["components"])
        precisions = now.precisions if now.precisions.ndim == 3 else now.precisions[:, :, None] * np.eye(2)
        covariances = np.linalg.inv(np.broadcast_to(precisions, (2, 2, 2)))
        weights = np.exp(views["weights"][0])
        rows, _ = model.sample(weights / weights.sum(), now.means, covariances, rng, 3)
        data = DenseRows(np.where(holes, np.nan, rows))
        result = backend.map_reduce(step, model, views, data, derive_keys(turn, 3))
        views = _draw(model, {name: eta[name] + result.eta_hat[name] for name in eta}, turn)
        seen.append(np.concatenate([views[name].reshape(-1) for name in eta]))
    exact = np.concatenate([block.family.mean_stats(eta[name]).reshape(-1) for name, block in model.blocks().items()])
    batches = np.array(seen).reshape(40, 50, -1).mean(axis=1)
    error = batches.std(axis=0, ddof=1) / np.sqrt(40)
    assert len(exact) <= 30
    assert np.all(np.abs(batches.mean(axis=0) - exact) < 5 * error)


def test_whole_steps_with_draws_sample_the_posterior():
    """SSVI-A with rho = 1: how many of four rows the first component has, against all 16 assignments.

    The evidence of an assignment is a product of Student densities, row by row. 3,000 steps, five shares within 5
    standard errors of 30 batches; t with 29 degrees of freedom exceeds 5 once in 40,000.
    """
    rows = np.array([[0.0, 0.3], [0.4, -0.2], [1.5, 1.0], [1.9, 1.4]])
    prior = GaussianPrior(np.array([0.5, 0.2]), 0.6, np.array([[0.9, 0.2], [0.2, 0.7]]), 5.0)
    model = GaussianMixture(2, 2, 0.8, "full", prior)
    family = model.covariance.family
    eta = model.blocks()["components"].prior[0]
    logs = []
    for labels in itertools.product(range(2), repeat=4):
        sizes = np.bincount(labels, minlength=2)
        log = (special.gammaln(0.8 + sizes) - special.gammaln(0.8)).sum()
        for k in range(2):
            lam = eta.copy()
            for row in rows[np.array(labels) == k]:
                usual = family.standard(lam)
                degrees = usual.degrees - 1.0
                scale = usual.scatter * (1.0 + 1.0 / usual.strength) / degrees
                log += stats.multivariate_t.logpdf(row, usual.mean, scale, degrees)
                lam = lam + np.concatenate([row, [1.0], np.outer(row, row)[np.triu_indices(2)], [1.0]])
        logs.append((labels.count(0), log))
    weights = np.exp([log for _, log in logs] - special.logsumexp([log for _, log in logs]))
    exact = np.bincount([size for size, _ in logs], weights, minlength=5)
    problem = engine.Problem(model, Gibbs(), SsviA(), ConstantSchedule(), population=4)
    sizes = []
    engine.run(
        problem, engine.init(model, 0), DenseRows(rows), sweeps=3_000, batch_size=4,
        callbacks=[lambda state, info: sizes.append(state.parameters["weights"][0, 0] - 0.8)],
    )  # fmt: skip
    hits = np.round(sizes)[:, None] == np.arange(5)
    batches = hits.reshape(30, 100, 5).mean(axis=1)
    error = batches.std(axis=0, ddof=1) / np.sqrt(30)
    assert np.all(np.abs(batches.mean(axis=0) - exact) < 5 * error)


def _plain_gibbs(rows, model, sweeps, seed):
    """A Gibbs sampler of a mixture of two Gaussian numbers, in plain NumPy; returns means, deviations and weights."""
    rng, prior = np.random.default_rng(seed), model.component_prior
    z, kept = (rows > 0).astype(int), []
    for _ in range(sweeps):
        sizes = np.bincount(z, minlength=2)
        weights = rng.dirichlet(model.weight_prior + sizes)
        means, precisions = np.empty(2), np.empty(2)
        for k in range(2):
            own = rows[z == k]
            kappa = prior.strength + len(own)
            centre = (prior.strength * prior.mean[0] + own.sum()) / kappa
            scatter = prior.scatter.item() + (own**2).sum() + prior.strength * prior.mean[0] ** 2 - kappa * centre**2
            precisions[k] = rng.gamma(0.5 * (prior.degrees + len(own)), 2.0 / scatter)
            means[k] = rng.normal(centre, 1.0 / np.sqrt(kappa * precisions[k]))
        logs = np.log(weights) + stats.norm.logpdf(rows[:, None], means, 1.0 / np.sqrt(precisions))
        z = (rng.random(len(rows)) < special.expit(logs[:, 1] - logs[:, 0])).astype(int)
        kept.append([*means, *precisions, weights[0]])
    return np.array(kept)[sweeps // 10 :]


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_two_groups_of_numbers_have_the_posterior_of_a_long_gibbs_run(kind):
    """1,000 numbers in two groups apart: q's means within 0.2 deviations, its deviations within 20%.

    That of a thousand draws, themselves known to 0.05 and 4%, and nearly independent of each other.
    """
    rng = np.random.default_rng(2)
    rows = np.where(rng.random(1_000) < 0.4, rng.normal(-2.75, 1.0, 1_000), rng.normal(2.75, 0.8, 1_000))
    rows = (rows - rows.mean()) / rows.std()
    model = GaussianMixture(1, 2, 1.0, kind)
    data = DenseRows(rows[:, None])
    problem = engine.Problem(model, Gibbs(), SsviA(), whole_step_schedule(500), population=1_000, ramp=False)
    lam = engine.run(problem, engine.init(model, 0, data), data, sweeps=500, batch_size=1_000).parameters
    order = np.argsort(model.means(lam)[:, 0])
    degrees = lam["components"].reshape(2, -1)[:, -1]
    precisions = model.precisions(lam).reshape(2)
    means = [*model.means(lam)[order, 0], *precisions[order], model.mean_weights(lam)[order[0]]]
    total = lam["weights"].sum()
    deviations = [
        *model.covariance.deviations(lam["components"])[order, 0],
        *(precisions * np.sqrt(2.0 / degrees))[order],
        np.sqrt(means[-1] * (1 - means[-1]) / (total + 1.0)),
    ]
    drawn = _plain_gibbs(rows, model, 1_100, 0)
    np.testing.assert_array_less(np.abs(means - drawn.mean(axis=0)), 0.2 * drawn.std(axis=0))
    np.testing.assert_allclose(deviations, drawn.std(axis=0), rtol=0.2)


def test_k_means_finds_groups_and_bears_any_points():
    rng = np.random.default_rng(0)
    centres = 20.0 * np.eye(5, 3) - 20.0 * np.eye(5, 3, -2)
    truth = rng.integers(0, 5, 500)
    labels = k_means(centres[truth] + rng.normal(size=(500, 3)), 5, np.random.default_rng(1))
    assert all(len(np.unique(truth[labels == k])) == 1 for k in range(5))
    assert set(k_means(np.zeros((7, 2)), 3, rng)) == {0}
    assert len(set(k_means(np.array([[0.0], [0.0], [4.0]]), 9, rng))) == 2
    assert set(k_means(np.ones((1, 2)), 4, rng)) == {0}


@pytest.mark.parametrize("kind", KINDS)
def test_simulated_data_have_the_moments_of_the_prior(kind):
    """300 mixtures of 4 rows: the mean of all within 5 standard errors (the rows of one mixture count as one)."""
    model = GaussianMixture(3, 4, 1.5, kind)
    rng = np.random.default_rng(0)
    means = np.array([model.simulate(rng, 4)[1].values.mean(axis=0) for _ in range(300)])
    assert np.all(np.abs(means.mean(axis=0)) < 5 * means.std(axis=0) / np.sqrt(300))


@pytest.mark.parametrize("kind", KINDS)
def test_starts_lie_in_the_domain_and_follow_from_the_generator(kind):
    model = GaussianMixture(3, 4, 1.5, kind)
    _, rows = model.simulate(np.random.default_rng(0), 50)
    rows.values[3], rows.values[5, 1] = np.nan, np.nan
    starts = [model.start(rows, np.random.default_rng(7)) for _ in range(2)]
    for name, block in model.blocks().items():
        assert starts[0][name].shape == block.shape
        assert block.family.in_domain(starts[0][name]).all()
        np.testing.assert_array_equal(starts[0][name], starts[1][name])
        assert block.family.in_domain(model.init(np.random.default_rng(0))[name]).all()


def test_scaling_is_undone_and_knows_columns_that_do_not_vary():
    values = np.array([[1e6, 5.0, np.nan, 0.0], [1e6 + 2, 5.0, np.nan, 0.0], [np.nan, 5.0, np.nan, 0.0]])
    scaling = Scaling.of(values)
    np.testing.assert_allclose(scaling.centre, [1e6 + 1, 5.0, 0.0, 0.0])
    np.testing.assert_allclose(scaling.unit, [1.0, 0.005, 1.0, 0.001])
    np.testing.assert_allclose(scaling.undo(scaling.apply(values)), values)
    np.testing.assert_allclose(scaling.log_volume(values), [np.log([1.0, 0.005, 0.001]).sum()] * 2 + [np.log(5e-6)])
    alike = Scaling.of(np.array([[0.0, 0.0], [6.0, 8.0]]), alike=True)
    np.testing.assert_allclose(alike.unit, np.sqrt((9.0 + 16.0) / 2))
