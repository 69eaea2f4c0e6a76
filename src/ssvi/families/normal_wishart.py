"""Normal-Wishart: the mean mu and the precision Lambda of Gaussian observations.

lambda = (kappa m, kappa, S + kappa m m^T, nu), t = (Lambda mu, -mu^T Lambda mu / 2, -Lambda / 2, log|Lambda| / 2). An
observation x adds (x, 1, x x^T, 1). Symmetric matrices are packed (see `symmetric`).
"""

from __future__ import annotations

from typing import Self

import numpy as np

from ssvi.families.matrix_normal_wishart import MatrixNormalWishart, RegressionParameters, RegressionStatistics
from ssvi.typing import Array


class NormalWishart(MatrixNormalWishart):
    """Lambda ~ Wishart(S^-1, nu) and mu given Lambda ~ N(m, (kappa Lambda)^-1): a regression on the input 1."""

    name = "normal_wishart"

    def __init__(self, size: int) -> None:
        super().__init__(size, 1)

    @property
    def parameters(self) -> tuple[int, ...]:
        """The number D of coordinates."""
        return (self.outputs,)

    def natural(self, mean: Array, strength: Array, scatter: Array, degrees: Array) -> Array:
        """Return lambda from m (..., D), kappa (...), S (..., D, D) and nu (...)."""
        strength = np.asarray(strength, dtype=float)
        return super().natural(mean[..., None], strength[..., None, None], scatter, degrees)

    def standard(self, lam: Array) -> RegressionParameters:
        """Return m (..., D), kappa (...), S (..., D, D) and nu (...)."""
        mean, strength, scatter, degrees = super().standard(lam)
        return RegressionParameters(mean[..., 0], strength[..., 0, 0], scatter, degrees)

    def expand(self, stats: Array) -> RegressionStatistics:
        """Return statistics as named arrays."""
        product, square, precision, log_determinant = super().expand(stats)
        return RegressionStatistics(product[..., 0], square[..., 0, 0], precision, log_determinant)

    def named(self, values: Array) -> dict[str, Array]:
        """Return mu and the covariance."""
        found = super().named(values)
        return {"mean": found["coefficients"][..., 0], "covariance": found["covariance"]}

    @classmethod
    def instances(cls) -> list[Self]:
        """Return one to ten coordinates."""
        return [cls(size) for size in (1, 2, 3, 10)]
