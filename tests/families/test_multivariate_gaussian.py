"""The multivariate Gaussian against SciPy, and against the Gaussian of one number."""

import numpy as np
import pytest
from scipy import stats

from ssvi.families.gaussian import Gaussian
from ssvi.families.multivariate_gaussian import MultivariateGaussian
from ssvi.numerics.random import derive_keys


@pytest.mark.parametrize("size", [1, 3, 10])
def test_density_is_scipys(size):
    family, rng = MultivariateGaussian(size), np.random.default_rng(size)
    lam = family.examples(rng)[0]
    mean, precision = family.standard(lam)
    draws = family.draw(np.repeat(lam[None], 5, axis=0), derive_keys(1, 5)).stats
    value, square = family.expand(draws)
    np.testing.assert_allclose(square, value[:, :, None] * value[:, None, :])
    found = draws @ lam - family.log_normalizer(lam) - 0.5 * size * np.log(2 * np.pi)
    expected = stats.multivariate_normal(mean, np.linalg.inv(precision)).logpdf(value)
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(family.natural(mean, precision), lam)


def test_one_coordinate_is_the_gaussian():
    family, other = MultivariateGaussian(1), Gaussian()
    lam = other.examples(np.random.default_rng(0))
    keys, x = derive_keys(2, len(lam)), np.random.default_rng(1).normal(size=lam.shape)
    draw = family.draw(lam, keys)
    np.testing.assert_allclose(draw.stats, other.draw(lam, keys).stats, rtol=1e-12)
    expected = other.natural_correction(lam, other.draw(lam, keys), x)
    np.testing.assert_allclose(family.natural_correction(lam, draw, x), expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(family.log_normalizer(lam), other.log_normalizer(lam), rtol=1e-12)


def test_extreme_parameters_stay_finite_and_the_boundary_is_where_the_precision_is_singular():
    family = MultivariateGaussian(2)
    mean = np.array([0.5, -2.0])
    rotation = np.array([[0.8, -0.6], [0.6, 0.8]])
    matrices = [np.diag([1e-6, 1e6]), 1e10 * np.eye(2), 1e-10 * np.eye(2), rotation @ np.diag([1.0, 1e12]) @ rotation.T]
    lam = family.natural(np.broadcast_to(mean, (4, 2)), np.array(matrices))
    assert family.in_domain(lam).all()
    draw = family.draw(lam, derive_keys(3, 4))
    assert np.isfinite(draw.stats).all()
    assert np.isfinite(family.natural_correction(lam, draw, np.ones_like(lam))).all()
    for precision in (np.diag([1.0, 0.0]), np.diag([1.0, -1e-9]), np.ones((2, 2)), np.zeros((2, 2))):
        assert not family.in_domain(family.natural(mean, precision))


def test_a_size_that_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="at least one coordinate"):
        MultivariateGaussian(0)
