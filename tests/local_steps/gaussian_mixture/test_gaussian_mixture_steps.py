"""Local steps of the Gaussian mixture against scipy's Gaussians, with and without missing entries."""

import numpy as np
import pytest
from scipy import special, stats

from ssvi import engine
from ssvi.backends import Threads
from ssvi.batches import DenseRows
from ssvi.global_steps.base import GlobalStep
from ssvi.local_steps.gaussian_mixture.exact import Exact
from ssvi.local_steps.gaussian_mixture.gibbs import Gibbs
from ssvi.local_steps.gaussian_mixture.rows import kinds_of
from ssvi.models.covariances import COVARIANCES, Sums
from ssvi.models.gaussian_mixture import GaussianMixture
from ssvi.numerics.random import derive_key, derive_keys
from ssvi.registry import discover
from ssvi.schedules import PowerSchedule

KINDS = sorted(COVARIANCES)


def _setting(kind, size=5, components=3, rows=60, seed=0):
    """A mixture, its weights, means and covariances (K, D, D), the view of these, and some rows."""
    rng = np.random.default_rng(seed)
    model = GaussianMixture(size, components, 1.0, kind)
    weights, means = rng.dirichlet(np.ones(components)), rng.normal(size=(components, size))
    if kind in ("full", "tied"):
        roots = rng.normal(size=(components, size, size + 2))
        matrices = roots @ np.swapaxes(roots, 1, 2)
        precisions = matrices if kind == "full" else matrices[0]
    else:
        precisions = rng.gamma(2.0, 1.0, (components, size) if kind == "diag" else components)
    covariances = np.linalg.inv(model.covariance.dense(precisions))
    data, _ = model.sample(weights, means, covariances, rng, rows)
    return model, weights, means, covariances, model.statistics(weights, means, precisions), data


def _with_holes(data, seed=1):
    """The rows with 40% of the entries missing; the first row complete, the second unknown."""
    holes = np.random.default_rng(seed).random(data.shape) < 0.4
    holes[0], holes[1] = False, True
    return np.where(holes, np.nan, data)


def _log_joint(weights, means, covariances, data):
    """log p(x_o, z = k), by scipy's density of what is known."""
    out = np.tile(np.log(weights), (len(data), 1))
    for n, row in enumerate(data):
        known = np.flatnonzero(~np.isnan(row))
        for k in range(len(weights)) if len(known) else ():
            own = covariances[k][np.ix_(known, known)]
            out[n, k] += stats.multivariate_normal.logpdf(row[known], means[k][known], own)
    return out


def _expected_sums(model, means, covariances, shares, data):
    """The sums of eta-hat, from E[x] and E[x x^T] given what is known, by the conditional of the joint Gaussian."""
    components, size = means.shape
    counts, firsts, seconds = (
        np.zeros((components, size)),
        np.zeros((components, size)),
        np.zeros((components, size, size)),
    )
    for row, share in zip(data, shares, strict=True):
        known, missing = np.flatnonzero(~np.isnan(row)), np.flatnonzero(np.isnan(row))
        if not len(known):
            continue
        for k in range(components):
            x, spread = row.copy(), np.zeros((size, size))
            gain = covariances[k][np.ix_(missing, known)] @ np.linalg.inv(covariances[k][np.ix_(known, known)])
            x[missing] = means[k][missing] + gain @ (row[known] - means[k][known])
            left = covariances[k][np.ix_(missing, missing)] - gain @ covariances[k][np.ix_(known, missing)]
            spread[np.ix_(missing, missing)] = left
            if model.covariance.independent:  # missing entries are left out
                x[missing], spread = 0.0, np.zeros((size, size))
                counts[k, known] += share[k]
            else:
                counts[k] += share[k]
            firsts[k] += share[k] * x
            seconds[k] += share[k] * (np.outer(x, x) + spread)
    if model.covariance.independent:
        return Sums(counts, firsts, np.diagonal(seconds, axis1=1, axis2=2))
    return Sums(
        counts[:, 0], firsts, seconds.sum(axis=0, keepdims=True) if model.covariance_type == "tied" else seconds
    )


def _run(step, model, views, data, seed=0):
    return Threads().map_reduce(step, model, views, DenseRows(data), derive_keys(seed, len(data)))


@pytest.mark.parametrize("holes", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_shares_bound_and_statistics_are_those_of_the_joint_gaussian(kind, holes):
    model, weights, means, covariances, views, data = _setting(kind)
    data = _with_holes(data) if holes else data
    joint = _log_joint(weights, means, covariances, data)
    evidence = special.logsumexp(joint, axis=1)
    shares = np.exp(joint - evidence[:, None])
    result = _run(Exact(), model, views, data)
    np.testing.assert_allclose(result.local["responsibilities"], shares, rtol=1e-9, atol=1e-15)
    assert result.bound == pytest.approx(evidence.sum(), rel=1e-12)
    known = ~np.isnan(data).all(axis=1)
    np.testing.assert_allclose(result.eta_hat["weights"][0], shares[known].sum(axis=0))
    expected = model.covariance.natural(_expected_sums(model, means, covariances, shares, data))
    np.testing.assert_allclose(result.eta_hat["components"], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("size", [1, 4, 9, 17])
@pytest.mark.parametrize("kind", KINDS)
def test_any_number_of_columns(kind, size):
    model, weights, means, covariances, views, data = _setting(kind, size, 2, 37, seed=size)
    joint = _log_joint(weights, means, covariances, data)
    result = _run(Exact(), model, views, data)
    np.testing.assert_allclose(result.local["responsibilities"], special.softmax(joint, axis=1), rtol=1e-8, atol=1e-15)
    assert result.bound == pytest.approx(special.logsumexp(joint, axis=1).sum(), rel=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_statistics_are_what_the_likelihood_says(kind):
    """log p(x | z, beta) = t(beta) . eta_n + g_n: differences between two beta are those of the inner product."""
    model, *_, views, data = _setting(kind)
    other = _setting(kind, seed=5)
    result = _run(Gibbs(), model, views, data)
    z = result.local["responsibilities"].argmax(axis=1)
    logs = []
    for setting in (_setting(kind), other):
        _, own_weights, own_means, own_covariances, own_views, _ = setting
        log = sum(
            np.log(own_weights[k]) + stats.multivariate_normal.logpdf(row, own_means[k], own_covariances[k])
            for k, row in zip(z, data, strict=True)
        )
        inner = sum((own_views[name] * result.eta_hat[name]).sum() for name in own_views)
        logs.append((log, inner))
    assert logs[0][0] - logs[1][0] == pytest.approx(logs[0][1] - logs[1][1], rel=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_the_mean_view_is_the_expectation_over_draws(kind):
    """At E_q[t], log p(x, z = k) is its mean over draws of beta: 2,000 of them, 3 x 2 numbers within 5 standard errors.

    The chance that any fails is below 6 x 6e-7.
    """
    model, *_, data = _setting(kind, 2, 2, 3)
    rows = DenseRows(data)
    lam = model.start(rows, np.random.default_rng(0))

    def log_joint(views):
        return Exact().prepare(model, views, rows).log_joint(data, kinds_of(data))

    drawn = []
    for seed in range(2_000):
        views = {}
        for name, block in model.blocks().items():
            keys = derive_keys(derive_key(seed, name), lam[name][..., 0].size)
            views[name] = block.family.draw(lam[name], keys).stats
        drawn.append(log_joint(views))
    exact = log_joint({name: block.family.mean_stats(lam[name]) for name, block in model.blocks().items()})
    error = np.std(drawn, axis=0, ddof=1) / np.sqrt(len(drawn))
    assert np.all(np.abs(np.mean(drawn, axis=0) - exact) < 5 * error)


def test_missing_entries_under_a_factorised_q_cost_what_the_full_integral_says():
    """With E_q[t], exp E_q[log p(x_o, x_u, z = k)] integrated over x_u by a grid is what the bound has."""
    model, *_, data = _setting("full", 2, 2, 8)
    lam = model.start(DenseRows(data), np.random.default_rng(0))
    views = {name: block.family.mean_stats(lam[name]) for name, block in model.blocks().items()}
    row = np.array([[0.7, np.nan]])
    grid = np.linspace(-40.0, 40.0, 20_001)
    filled = np.stack([np.full_like(grid, 0.7), grid], axis=1)
    seen = model.covariance.gaussians(views["components"])
    logs = []
    for k in range(2):
        away = filled - seen.means[k]
        quadratic = np.einsum("ni,ij,nj->n", away, seen.precisions[k], away) + seen.excess[k]
        logs.append(views["weights"][0, k] + 0.5 * seen.log_determinants[k] - np.log(2 * np.pi) - 0.5 * quadratic)
    integrals = np.trapezoid(np.exp(np.stack(logs)), grid, axis=1)
    result = _run(Exact(), model, views, row)
    assert result.bound == pytest.approx(np.log(integrals.sum()), abs=1e-9)
    np.testing.assert_allclose(result.local["responsibilities"][0], integrals / integrals.sum(), rtol=1e-9)


@pytest.mark.parametrize("kind", ["full", "tied"])
def test_drawn_components_and_entries_have_the_moments_of_the_posterior(kind):
    """20,000 draws for one row: shares, means and products within 5 standard errors, fewer than 40 numbers.

    The chance that any of them fails is below 40 x 6e-7.
    """
    model, weights, means, covariances, views, data = _setting(kind, 3, 2, 1)
    row, n = np.array([np.nan, data[0, 1], np.nan]), 20_000
    joint = _log_joint(weights, means, covariances, row[None])
    shares = special.softmax(joint, axis=1)
    result = _run(Gibbs(), model, views, np.tile(row, (n, 1)))
    one = [_run(Gibbs(), model, views, row[None], seed).eta_hat["components"] for seed in range(400)]
    expected = model.covariance.natural(_expected_sums(model, means, covariances, shares, row[None]))
    error = np.std(one, axis=0, ddof=1) / np.sqrt(n) * 1.2  # the deviations themselves are known to some 4%
    assert np.all(np.abs(result.eta_hat["components"] / n - expected) <= 5 * error + 1e-12)


def test_data_far_from_the_means_give_finite_numbers():
    for kind in KINDS:
        model, *_, views, data = _setting(kind)
        for step in (Exact(), Gibbs()):
            result = _run(step, model, views, 1e6 * data)
            assert np.isfinite(result.eta_hat["components"]).all()
            np.testing.assert_allclose(result.local["responsibilities"].sum(axis=1), 1.0)


def test_a_precision_that_rounding_has_made_singular_is_no_nan():
    model, weights, means, _, _, data = _setting("full", 3, 2)
    direction = np.array([1.0, 1.0, 1.0])
    precisions = np.tile(np.outer(direction, direction), (2, 1, 1)) * 1e3
    views = model.statistics(weights, means, precisions + 1e-9 * np.eye(3))
    views["components"][:, 4:-1] = model.statistics(weights, means, precisions + 1e-16)["components"][:, 4:-1]
    result = _run(Exact(), model, views, data)
    assert np.isfinite(result.eta_hat["components"]).all()


@pytest.mark.parametrize("step", [Exact(), Gibbs()], ids=lambda step: step.name)
@pytest.mark.parametrize("kind", KINDS)
def test_threads_and_other_rows_do_not_change_bits(kind, step, many_tasks):
    model, *_, views, data = _setting(kind, rows=300)
    data = _with_holes(data)
    keys = derive_keys(0, len(data))
    results = []
    for n_jobs in (1, 2, 3):
        with Threads(n_jobs) as backend:
            results.append(backend.map_reduce(step, model, views, DenseRows(data), keys))
    for other in results[1:]:
        for name in views:
            np.testing.assert_array_equal(results[0].eta_hat[name], other.eta_hat[name])
        np.testing.assert_array_equal(results[0].local["responsibilities"], other.local["responsibilities"])


def test_infinite_numbers_are_named():
    with pytest.raises(ValueError, match="infinite number in row 1, column 0"):
        Exact().check(DenseRows(np.array([[1.0, 2.0], [np.inf, 0.0]])))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_driven_by_every_global_step(kind):
    model = GaussianMixture(3, 4, 1.5, kind)
    _, rows = model.simulate(np.random.default_rng(0), 200)
    rows = DenseRows(_with_holes(rows.values))
    for step in discover("ssvi.global_steps", GlobalStep).values():
        for local in (Exact(), Gibbs()):
            problem = engine.Problem(model, local, step(), PowerSchedule(0.6, 1.0), population=200)
            end = engine.run(problem, engine.init(model, 0, rows), rows, sweeps=4, batch_size=50)
            for name, block in model.blocks().items():
                assert block.family.in_domain(end.parameters[name]).all()
