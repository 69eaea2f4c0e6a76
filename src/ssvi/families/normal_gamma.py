"""Normal-gamma: the mean mu and the precision tau of Gaussian numbers, or of one column of them.

lambda = (kappa m, kappa, S + kappa m^2, nu), t = (tau mu, -tau mu^2 / 2, -tau / 2, log(tau) / 2). An observation x adds
(x, 1, x^2, 1). tau has a gamma distribution of shape nu/2 and rate S/2.
"""

from __future__ import annotations

from typing import Self

import numpy as np

from ssvi.families.matrix_normal_wishart import RegressionParameters, RegressionStatistics
from ssvi.families.normal_wishart import NormalWishart
from ssvi.typing import Array


class NormalGamma(NormalWishart):
    """tau ~ Gamma(nu/2, S/2) and mu given tau ~ N(m, 1 / (kappa tau)): a normal-Wishart of one coordinate.

    >>> family = NormalGamma()
    >>> lam = family.natural(np.array(2.0), np.array(3.0), np.array(4.0), np.array(5.0))
    >>> lam
    array([ 6.,  3., 16.,  5.])
    >>> family.expand(family.mean_stats(lam)).precision
    array(1.25)
    """

    name = "normal_gamma"

    def __init__(self) -> None:
        super().__init__(1)

    @property
    def parameters(self) -> tuple[int, ...]:
        """None: there is one coordinate."""
        return ()

    def natural(self, mean: Array, strength: Array, scatter: Array, degrees: Array) -> Array:
        """Return lambda from m, kappa, S and nu, all of the same shape."""
        return super().natural(np.asarray(mean)[..., None], strength, np.asarray(scatter)[..., None, None], degrees)

    def standard(self, lam: Array) -> RegressionParameters:
        """Return m, kappa, S and nu, a number a row each."""
        mean, strength, scatter, degrees = super().standard(lam)
        return RegressionParameters(mean[..., 0], strength, scatter[..., 0, 0], degrees)

    def expand(self, stats: Array) -> RegressionStatistics:
        """Return statistics as named arrays: tau mu, tau mu^2, tau and log(tau), a number a row each."""
        product, square, precision, log_determinant = super().expand(stats)
        return RegressionStatistics(product[..., 0], square, precision[..., 0, 0], log_determinant)

    def named(self, values: Array) -> dict[str, Array]:
        """Return mu and the variance, a number a row each."""
        found = super().named(values)
        return {"mean": found["mean"][..., 0], "variance": found["covariance"][..., 0, 0]}

    @classmethod
    def instances(cls) -> list[Self]:
        """Return the one that there is."""
        return [cls()]
