"""Wishart, normal-gamma, normal-Wishart and matrix-normal-Wishart against SciPy's densities and against themselves."""

import mpmath
import numpy as np
import pytest
from scipy import integrate, special, stats

from ssvi.families.matrix_normal_wishart import MatrixNormalWishart
from ssvi.families.normal_gamma import NormalGamma
from ssvi.families.normal_wishart import NormalWishart
from ssvi.families.symmetric import pack
from ssvi.families.wishart import Wishart
from ssvi.numerics.random import derive_keys


def _definite(rng, order):
    factors = rng.normal(size=(order, order + 3))
    return factors @ factors.T


def _log_density(family, lam, values, log_base):
    """Return log h + lambda . t - A at draws of the family."""
    return log_base + values @ lam - family.log_normalizer(lam)


@pytest.mark.parametrize("size", [1, 2, 3, 10])
def test_wishart_density_is_scipys(size):
    """The logarithm of |Lambda|^(-(D+1)/2) exp(lambda . t - A), at five draws."""
    rng = np.random.default_rng(size)
    scatter, degrees = _definite(rng, size), size + 1.7
    family = Wishart(size)
    lam = family.natural(scatter, np.array(degrees))
    draws = family.draw(np.repeat(lam[None], 5, axis=0), derive_keys(1, 5)).stats
    precision, log_determinant = family.expand(draws)
    found = _log_density(family, lam, draws, -0.5 * (size + 1) * log_determinant)
    expected = stats.wishart(degrees, np.linalg.inv(scatter)).logpdf(np.moveaxis(precision, 0, -1))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(log_determinant, np.linalg.slogdet(precision)[1], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("outputs", "inputs"), [(1, 1), (2, 3), (3, 1), (4, 2)])
def test_matrix_normal_wishart_density_is_scipys(outputs, inputs):
    """h exp(lambda . t - A) is a matrix normal times a Wishart density, at five draws."""
    rng = np.random.default_rng(outputs)
    family = MatrixNormalWishart(outputs, inputs)
    mean, strength = rng.normal(size=(outputs, inputs)), _definite(rng, inputs)
    scatter, degrees = _definite(rng, outputs), outputs + 2.3
    lam = family.natural(mean, strength, scatter, np.array(degrees))
    draws = family.draw(np.repeat(lam[None], 5, axis=0), derive_keys(2, 5)).stats
    for draw in draws:
        product, square, precision, log_determinant = family.expand(draw)
        coefficients = np.linalg.solve(precision, product)
        np.testing.assert_allclose(square, coefficients.T @ precision @ coefficients, rtol=1e-8, atol=1e-9)
        log_base = 0.5 * (inputs - outputs - 1) * log_determinant - 0.5 * outputs * inputs * np.log(2 * np.pi)
        expected = stats.matrix_normal(mean, np.linalg.inv(precision), np.linalg.inv(strength)).logpdf(coefficients)
        expected += stats.wishart(degrees, np.linalg.inv(scatter)).logpdf(precision)
        np.testing.assert_allclose(_log_density(family, lam, draw, log_base), expected, rtol=1e-8, atol=1e-8)


def test_normal_gamma_is_the_closed_density_and_integrates_to_one():
    """Against normal x gamma at draws; and by quadrature over the mean and log tau (error under 1e-6)."""
    family, (m, kappa, s, nu) = NormalGamma(), (0.7, 1.3, 2.1, 3.4)
    lam = family.natural(*map(np.array, (m, kappa, s, nu)))

    def density(mu, tau):
        t = np.array([tau * mu, -tau * mu**2 / 2, -tau / 2, np.log(tau) / 2])
        return np.exp(lam @ t - family.log_normalizer(lam)) / np.sqrt(tau) / np.sqrt(2 * np.pi)

    for mu, tau in ((0.1, 0.4), (2.0, 3.0)):
        closed = stats.norm(m, (kappa * tau) ** -0.5).pdf(mu) * stats.gamma(nu / 2, scale=2 / s).pdf(tau)
        np.testing.assert_allclose(density(mu, tau), closed, rtol=1e-12)
    nodes, weights = special.roots_hermitenorm(20)

    def over_mean(log_tau):
        tau = np.exp(log_tau)
        width = (kappa * tau) ** -0.5
        values = [density(m + width * z, tau) * np.exp(z * z / 2) for z in nodes]
        return tau * width * (weights @ np.array(values))

    total, _ = integrate.quad(over_mean, -20, 5)
    np.testing.assert_allclose(total, 1.0, atol=1e-6)


def test_normal_gamma_is_a_normal_wishart_of_one_coordinate():
    family, other = NormalGamma(), NormalWishart(1)
    lam = family.examples(np.random.default_rng(0))
    x, keys = np.random.default_rng(1).normal(size=lam.shape), derive_keys(3, len(lam))
    draw = family.draw(lam, keys)
    np.testing.assert_array_equal(draw.stats, other.draw(lam, keys).stats)
    np.testing.assert_array_equal(family.natural_correction(lam, draw, x), other.natural_correction(lam, draw, x))
    assert family != other
    assert family.expand(draw.stats).precision.shape == (6,)


def test_expected_log_determinant_is_the_multivariate_digamma_function():
    """With 30 digits, from the derivative of log Gamma_D."""
    scatter = _definite(np.random.default_rng(4), 3)
    for degrees in (2.0 + 1e-3, 7.5, 1e6):
        family = Wishart(3)
        found = family.expand(family.mean_stats(family.natural(scatter, np.array(degrees)))).log_determinant
        with mpmath.workdps(30):
            expected = sum(mpmath.psi(0, (mpmath.mpf(degrees) - i) / 2) for i in range(3)) + 3 * mpmath.log(2)
        np.testing.assert_allclose(found, float(expected) - np.linalg.slogdet(scatter)[1], rtol=1e-11)


@pytest.mark.parametrize("degrees", [1.01, 5.0, 599.0, 603.0, 1e5, 1e9, 1e13])
def test_fisher_solve_at_any_degrees(degrees):
    """Against the Fisher matrix of Wishart(2), P = diag(2, 3), in 60 digits; for large nu the plain form cancels."""
    x = [0.7, -0.4, 0.2, -1.3]
    with mpmath.workdps(60):
        nu, p, r = mpmath.mpf(degrees), mpmath.mpf(2), mpmath.mpf(3)
        curvature = (mpmath.psi(1, nu / 2) + mpmath.psi(1, (nu - 1) / 2)) / 4
        matrix = mpmath.matrix(4, 4)  # coordinates P_11, P_12, P_22, nu
        matrix[0, 0], matrix[1, 1], matrix[2, 2], matrix[3, 3] = nu / 2 / p**2, nu / p / r, nu / 2 / r**2, curvature
        matrix[0, 3] = matrix[3, 0] = -1 / p / 2
        matrix[2, 3] = matrix[3, 2] = -1 / r / 2
        exact = [float(value) for value in mpmath.lu_solve(matrix, mpmath.matrix([mpmath.mpf(one) for one in x]))]
    lam = Wishart(2).natural(np.diag([2.0, 3.0]), np.array(degrees))
    np.testing.assert_allclose(
        Wishart(2).fisher_solve(lam, np.array(x)), exact, rtol=1e-9, atol=1e-9 * max(np.abs(exact))
    )


def test_parameters_come_back():
    rng = np.random.default_rng(5)
    mean, strength = rng.normal(size=(2, 3, 2)), np.stack([_definite(rng, 2) for _ in range(2)])
    scatter, degrees = np.stack([_definite(rng, 3) for _ in range(2)]), np.array([4.0, 5.0])
    given = (mean, strength, scatter, degrees)
    for family, wanted in (
        (MatrixNormalWishart(3, 2), given),
        (NormalWishart(3), (mean[..., 0], strength[:, 0, 0], scatter, degrees)),
        (NormalGamma(), (mean[:, 0, 0], strength[:, 0, 0], scatter[:, 0, 0], degrees)),
        (Wishart(3), (scatter, degrees)),
    ):
        lam = family.natural(*wanted)
        assert lam.shape == (2, family.dimension)
        for value, expected in zip(family.standard(lam), wanted, strict=True):
            np.testing.assert_allclose(value, expected, rtol=1e-10, atol=1e-12)
        lapack = wanted[-1] / wanted[-2] if family == NormalGamma() else degrees[:, None, None] * np.linalg.inv(scatter)
        for statistics in (family.mode_stats(lam), family.mean_stats(lam)):
            np.testing.assert_allclose(family.expand(statistics).precision, lapack, rtol=1e-9)


def test_observations_add_up_to_the_posterior():
    """The regression's textbook posterior: K + X^T X, mean by least squares with the prior, S + residuals, nu + n."""
    rng = np.random.default_rng(6)
    family = MatrixNormalWishart(2, 3)
    mean, strength, scatter, degrees = rng.normal(size=(2, 3)), _definite(rng, 3), _definite(rng, 2), np.array(3.5)
    inputs, outputs = rng.normal(size=(7, 3)), rng.normal(size=(7, 2))
    lam = family.natural(mean, strength, scatter, degrees)
    lam = lam + np.concatenate(
        [(outputs.T @ inputs).ravel(), pack(inputs.T @ inputs), pack(outputs.T @ outputs), [len(inputs)]]
    )
    found = family.standard(lam)
    new_strength = strength + inputs.T @ inputs
    new_mean = (mean @ strength + outputs.T @ inputs) @ np.linalg.inv(new_strength)
    left, shift = outputs - inputs @ new_mean.T, new_mean - mean
    np.testing.assert_allclose(found.mean, new_mean)
    np.testing.assert_allclose(found.strength, new_strength)
    np.testing.assert_allclose(found.scatter, scatter + left.T @ left + shift @ strength @ shift.T)
    np.testing.assert_allclose(found.degrees, 10.5)


def _extreme_rows(family):
    """Very large nu, S with condition 10^12, nu just above D - 1, and almost nothing known of A; one thing a row."""
    d, q = family.outputs, family.inputs
    scatter = np.broadcast_to(np.eye(d), (5, d, d)).copy()
    scatter[1] = np.diag(np.geomspace(1e-6, 1e6, d))
    rotation = np.linalg.qr(np.random.default_rng(0).normal(size=(d, d)))[0]
    scatter[1] = rotation @ scatter[1] @ rotation.T
    degrees = np.array([1e8, d + 1.0, d - 1 + 1e-6, d + 1.0, d + 1.0])
    if q == 0:
        return family.natural(scatter, degrees)
    mean, strength = np.full((5, d, q), 0.5), np.broadcast_to(np.eye(q), (5, q, q)).copy()
    strength[3] *= 1e-12
    mean[4] = 1e3
    if isinstance(family, NormalGamma):
        return family.natural(mean[:, 0, 0], strength[:, 0, 0], scatter[:, 0, 0], degrees)
    if isinstance(family, NormalWishart):
        return family.natural(mean[..., 0], strength[:, 0, 0], scatter, degrees)
    return family.natural(mean, strength, scatter, degrees)


EXTREME = [Wishart(1), Wishart(4), NormalGamma(), NormalWishart(1), NormalWishart(4), MatrixNormalWishart(3, 2)]


@pytest.mark.parametrize("family", EXTREME, ids=repr)
def test_extreme_parameters_stay_finite(family):
    lam = _extreme_rows(family)
    assert family.in_domain(lam).all()
    draw = family.draw(lam, derive_keys(7, len(lam)))
    for values in (family.mean_stats(lam), family.mode_stats(lam), draw.stats, family.log_normalizer(lam)):
        assert np.isfinite(values).all()
    assert np.isfinite(family.natural_correction(lam, draw, np.ones_like(lam))).all()


def test_an_ill_conditioned_scatter_keeps_its_fisher_solve():
    """S of condition 10^12: fisher_solve gives back a step from the change of E[t] along it, in closed form."""
    family, scatter = Wishart(3), np.diag([1e-6, 1.0, 1e6])
    lam = family.natural(scatter, np.array(5.0))
    step = np.array([[3e-7, 1e-4, 0.2], [1e-4, 0.5, 300.0], [0.2, 300.0, 2e5]])
    inverse = np.diag(1 / np.diag(scatter))
    change = 2.5 * inverse @ step @ inverse - 0.5 * 0.3 * inverse  # nu/2 S^-1 dS S^-1 - S^-1 dnu / 2
    curvature = special.polygamma(1, [2.5, 2.0, 1.5]).sum() / 4
    doubled = pack(change) * np.array([1, 2, 2, 1, 2, 1])
    gradient = np.append(doubled, -0.5 * np.trace(inverse @ step) + 0.3 * curvature)
    np.testing.assert_allclose(family.fisher_solve(lam, gradient), np.append(pack(step), 0.3), rtol=1e-9)


@pytest.mark.parametrize("family", [Wishart(3), NormalWishart(3), MatrixNormalWishart(3, 2)], ids=repr)
def test_each_boundary_of_the_domain(family):
    """S singular or indefinite, nu at D - 1, and K singular; each from inside by a hair and from outside."""
    good = family._layout.split(family.examples(np.random.default_rng(0))[0])
    joint = family._layout.joint(family._layout.merge(good)[None])[0]
    q = family.inputs
    shift = np.zeros_like(good.outputs)
    shift[2, 2] = np.linalg.cholesky(joint)[-1, -1] ** 2  # takes S's last pivot to 0
    for share, inside in ((0.999, True), (1.001, False)):
        assert family.in_domain(family._layout.merge(good._replace(outputs=good.outputs - share * shift))) == inside
    for degrees, inside in ((2.0 + 1e-9, True), (2.0, False), (-1.0, False)):
        assert family.in_domain(family._layout.merge(good._replace(degrees=np.array(degrees)))) == inside
    if q:
        assert not family.in_domain(family._layout.merge(good._replace(inputs=np.zeros((q, q)))))
        assert not family.in_domain(family._layout.merge(good._replace(inputs=-good.inputs)))


def test_normals_and_gammas_of_a_row_are_independent():
    """Correlations among the 9 numbers of noise of 20,000 rows, 36 pairs to 5 errors: a chance under 3e-5."""
    family, n = NormalWishart(3), 20_000
    lam = np.repeat(family.examples(np.random.default_rng(0))[:1], n, axis=0)
    hidden = family.draw(lam, derive_keys(8, n)).hidden
    assert hidden.shape == (n, 9)
    correlations = np.corrcoef(hidden.T)[np.triu_indices(9, 1)]
    assert np.abs(correlations).max() < 5 / np.sqrt(n)


def test_sizes_that_make_no_sense_are_refused():
    with pytest.raises(ValueError, match="at least one row"):
        Wishart(0)
    with pytest.raises(ValueError, match="at least one input, not 0"):
        MatrixNormalWishart(2, 0)
    assert repr(NormalWishart(3)) == "NormalWishart(3)"
    assert NormalWishart(3) == NormalWishart(3) != NormalWishart(2)
    assert len({Wishart(2), Wishart(2), MatrixNormalWishart(2, 1), NormalWishart(2)}) == 3
