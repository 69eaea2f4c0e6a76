"""One suite for every family: it is found by being there."""

import numpy as np
import pytest

from ssvi.families.base import ExponentialFamily
from ssvi.numerics.random import derive_keys
from ssvi.registry import discover

FAMILIES = discover("ssvi.families", ExponentialFamily)
N_DRAWS = 40_000


@pytest.fixture(params=sorted(FAMILIES))
def family(request):
    return FAMILIES[request.param]()


def _parameters(family, rows=5, seed=0):
    """Return some lambda inside the domain: rows of different sizes and signs where signs are free."""
    rng = np.random.default_rng(seed)
    lam = rng.gamma(2.0, 1.0, (rows, family.dimension or 4)) + 0.3
    return np.where(np.broadcast_to(family.positive, lam.shape), lam, lam - 2.0)


def _copies(lam_row, n=N_DRAWS):
    return np.broadcast_to(lam_row, (n, lam_row.size)).copy()


def _gradient(function, point, step=1e-5):
    """Central differences of a scalar function; for a vector function, a row an output."""
    columns = []
    for i in range(point.size):
        move = np.zeros_like(point)
        move[i] = step * max(1.0, abs(point[i]))
        columns.append((function(point + move) - function(point - move)) / (2 * move[i]))
    return np.stack(columns, axis=-1)


def test_mean_stats_is_the_gradient_of_the_log_normalizer(family):
    for lam in _parameters(family):
        gradient = _gradient(lambda x: family.log_normalizer(x[None])[0], lam)
        np.testing.assert_allclose(family.mean_stats(lam[None])[0], gradient, rtol=1e-7, atol=1e-8)


def test_mean_stats_is_the_mean_over_draws(family):
    """Within 5 standard errors for each of at most 20 coordinates: a chance of failing under 2e-5."""
    for i, lam in enumerate(_parameters(family)):
        stats = family.draw(_copies(lam), derive_keys(i, N_DRAWS)).stats
        error = stats.std(axis=0) / np.sqrt(N_DRAWS)
        assert np.all(np.abs(stats.mean(axis=0) - family.mean_stats(lam[None])[0]) < 5 * error)


def test_fisher_solve_inverts_the_hessian(family):
    rng = np.random.default_rng(1)
    for lam in _parameters(family):
        hessian = _gradient(lambda x: family.mean_stats(x[None])[0], lam)
        x = rng.normal(size=lam.size)
        np.testing.assert_allclose(family.fisher_solve(lam[None], (hessian @ x)[None])[0], x, rtol=1e-6, atol=1e-7)


def test_probability_and_quantile_undo_each_other(family):
    lam = _parameters(family)
    draw = family.draw(lam, derive_keys(2, len(lam)))
    u = family.probability(lam, draw)
    assert np.all((u > 0) & (u < 1))
    np.testing.assert_allclose(family.quantile(lam, u), draw.stats, rtol=1e-8, atol=1e-9)


def test_pullback_is_the_transposed_derivative_of_the_quantile_map(family):
    rng = np.random.default_rng(3)
    lams = _parameters(family)
    draws = family.draw(lams, derive_keys(4, len(lams)))
    u = family.probability(lams, draws)
    x = rng.normal(size=lams.shape)
    pulled = family.pullback(lams, draws, x)
    for i, lam in enumerate(lams):
        jacobian = _gradient(lambda point, row=u[i]: family.quantile(point[None], row[None])[0], lam)
        np.testing.assert_allclose(pulled[i], jacobian.T @ x[i], rtol=1e-5, atol=1e-7)


def test_the_correction_is_the_identity_on_average(family):
    """E[V] = I, column by column; 5 standard errors for at most 16 entries: a chance of failing under 2e-5."""
    lam = _parameters(family)[0]
    copies = _copies(lam)
    draw = family.draw(copies, derive_keys(6, N_DRAWS))
    for i in range(lam.size):
        unit = np.zeros_like(copies)
        unit[:, i] = 1.0
        column = family.natural_correction(copies, draw, unit)
        error = column.std(axis=0) / np.sqrt(N_DRAWS) + 1e-12
        assert np.all(np.abs(column.mean(axis=0) - np.eye(lam.size)[i]) < 5 * error)


def test_mode_maximises_the_natural_inner_product(family):
    for i, lam in enumerate(_parameters(family)):
        mode = family.mode_stats(lam[None])[0]
        stats = family.draw(_copies(lam, 2000), derive_keys(i, 2000)).stats
        assert np.all(stats @ lam <= mode @ lam + 1e-12)


def test_negative_divergence_is_zero_at_the_prior_and_negative_elsewhere(family):
    lam = _parameters(family)
    np.testing.assert_allclose(family.negative_divergence(lam, lam), 0.0, atol=1e-12)
    assert np.all(family.negative_divergence(lam, lam[::-1])[[0, 1, 3, 4]] < 0)


def test_project_leaves_good_proposals_alone(family):
    lam = _parameters(family)
    projected, guarded = family.project(1.1 * lam, lam, 0.5 * np.abs(lam))
    np.testing.assert_array_equal(projected, 1.1 * lam)
    assert guarded == 0


def test_project_brings_every_proposal_into_the_domain_and_counts(family):
    lam = _parameters(family)
    prior = np.full_like(lam, 0.1)
    proposal = -3.0 * np.abs(lam)
    projected, guarded = family.project(proposal, lam, prior)
    must_be_positive = np.broadcast_to(family.positive, lam.shape)
    assert family.in_domain(projected).all()
    assert guarded == must_be_positive.sum()
    np.testing.assert_array_equal(projected[~must_be_positive], proposal[~must_be_positive])
    np.testing.assert_allclose(projected[must_be_positive], np.maximum(lam / 2, 0.1)[must_be_positive])


def test_project_does_not_lift_what_is_under_its_prior_already(family):
    lam = _parameters(family)
    projected, _ = family.project(lam - 1e-3 * np.abs(lam), lam, 10 + np.abs(lam))
    must_be_positive = np.broadcast_to(family.positive, lam.shape)
    np.testing.assert_array_equal(projected[must_be_positive], lam[must_be_positive])


def test_in_domain_rejects_what_is_not_finite_or_not_positive(family):
    lam = _parameters(family)
    assert family.in_domain(lam).all()
    for bad in (np.nan, np.inf, -np.inf):
        assert not family.in_domain(np.full_like(lam, bad)).any()
    must_be_positive = np.broadcast_to(family.positive, lam.shape)
    np.testing.assert_array_equal(family.in_domain(-np.abs(lam)), ~must_be_positive)


def test_leading_axes_are_independent_copies(family):
    lam = _parameters(family, rows=6)
    cube = lam.reshape(2, 3, -1)
    keys = derive_keys(8, 6)
    flat, deep = family.draw(lam, keys), family.draw(cube, keys)
    np.testing.assert_array_equal(deep.stats.reshape(lam.shape), flat.stats)
    x = np.ones_like(lam)
    for method in ("mean_stats", "mode_stats", "log_normalizer"):
        expected = getattr(family, method)(lam)
        np.testing.assert_allclose(getattr(family, method)(cube).reshape(expected.shape), expected, rtol=1e-14)
    corrected = family.natural_correction(cube, deep, x.reshape(cube.shape))
    np.testing.assert_array_equal(corrected.reshape(lam.shape), family.natural_correction(lam, flat, x))


def test_draws_at_extreme_parameters_are_finite(family):
    lam = _parameters(family)
    for scale in (1e-6, 1e6):
        extreme = np.where(np.broadcast_to(family.positive, lam.shape), lam * scale, lam)
        draw = family.draw(extreme, derive_keys(9, len(lam)))
        assert np.isfinite(draw.stats).all()
        assert np.isfinite(family.natural_correction(extreme, draw, np.ones_like(lam))).all()


def test_lambda_centred_at_a_draw_has_its_mode_there_and_its_draws_near(family):
    """With a strength of 10^10 draws are within 10^-3 of values near 1: a hundred standard deviations."""
    lam = _parameters(family)
    values = family.values(family.draw(lam, derive_keys(10, len(lam))).stats)
    centred = family.centred(values, 1e10)
    assert centred.shape == lam.shape
    assert family.in_domain(centred).all()
    np.testing.assert_allclose(family.values(family.mode_stats(centred)), values, rtol=1e-12)
    near = family.values(family.draw(centred, derive_keys(11, len(lam))).stats)
    np.testing.assert_allclose(near, values, rtol=1e-3, atol=1e-3)
