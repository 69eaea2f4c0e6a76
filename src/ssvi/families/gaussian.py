"""Gaussian mean: lambda = (precision x mean, precision), t(beta) = (beta, -beta^2 / 2), h = 1 / sqrt(2 pi).

This is the family of an unknown mean beta of Gaussian data whose precision is known: each observation y of precision
tau adds (tau y, tau) to lambda. q's own precision is a natural parameter, so that it can grow with the data.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import special

from ssvi.families.base import ExponentialFamily
from ssvi.families.draws import Draw
from ssvi.numerics.random import Keys, normal_rows
from ssvi.typing import Array


class Gaussian(ExponentialFamily):
    """Real numbers beta with mean lambda_1 / lambda_2 and variance 1 / lambda_2."""

    name = "gaussian"
    has_location = True

    @property
    def dimension(self) -> int:
        """The precision times the mean, and the precision."""
        return 2

    def values(self, stats: Array) -> Array:
        """Return beta."""
        result: Array = stats[..., 0]
        return result

    def statistics(self, values: Array) -> Array:
        """Return (beta, -beta^2 / 2)."""
        return np.stack([values, -0.5 * values**2], axis=-1)

    def log_normalizer(self, lam: Array) -> Array:
        """Return lambda_1^2 / (2 lambda_2) - log(lambda_2) / 2."""
        result: Array = 0.5 * lam[..., 0] ** 2 / lam[..., 1] - 0.5 * np.log(lam[..., 1])
        return result

    def mean_stats(self, lam: Array) -> Array:
        """Return (mean, -(mean^2 + variance) / 2)."""
        mean, variance = lam[..., 0] / lam[..., 1], 1.0 / lam[..., 1]
        return np.stack([mean, -0.5 * (mean**2 + variance)], axis=-1)

    def mode_stats(self, lam: Array) -> Array:
        """Return t at the mean."""
        mean = lam[..., 0] / lam[..., 1]
        return np.stack([mean, -0.5 * mean**2], axis=-1)

    def draw(self, lam: Array, keys: Keys) -> Draw:
        """Draw a standard normal number, kept as `hidden`, scale and shift it."""
        standard = np.empty(lam.shape[:-1])
        normal_rows(keys, standard.reshape(-1, 1))
        return Draw(self._stats(lam, standard), standard)

    def pullback(self, lam: Array, draw: Draw, x: Array) -> Array:
        """Return the derivatives of x . t(beta), beta = lambda_1 / lambda_2 + z lambda_2^(-1/2)."""
        value, precision = draw.stats[..., 0], lam[..., 1]
        through_value = x[..., 0] - x[..., 1] * value
        mean = lam[..., 0] / precision
        slope = -(mean + 0.5 * draw.hidden / np.sqrt(precision)) / precision
        return np.stack([through_value / precision, through_value * slope], axis=-1)

    def fisher_solve(self, lam: Array, x: Array) -> Array:
        """Solve with the covariance of t, [[v, -m v], [-m v, m^2 v + v^2 / 2]] for mean m and variance v."""
        mean, precision = lam[..., 0] / lam[..., 1], lam[..., 1]
        second = 2.0 * precision**2 * (x[..., 1] + mean * x[..., 0])
        return np.stack([precision * x[..., 0] + mean * second, second], axis=-1)

    def quantile(self, lam: Array, u: Array) -> Array:
        """Invert the normal distribution function; only u's first coordinate is used."""
        return self._stats(lam, special.ndtri(u[..., 0]))

    def probability(self, lam: Array, draw: Draw) -> Array:
        """Return the distribution function at the draw."""
        result: Array = special.ndtr(draw.hidden)[..., None]
        return result

    def in_domain(self, lam: Array) -> npt.NDArray[np.bool_]:
        """Want the precision positive."""
        inside: npt.NDArray[np.bool_] = np.isfinite(lam).all(axis=-1) & (lam[..., 1] > 0)
        return inside

    def examples(self, rng: np.random.Generator) -> Array:
        """Return rows of means of both signs, and one far out that is known badly."""
        mild = np.stack([rng.normal(0.0, 2.0, 5), rng.gamma(2.0, 1.0, 5) + 0.3], axis=-1)
        return np.concatenate([mild, [[-3.0, 0.1]]])

    @staticmethod
    def _stats(lam: Array, standard: Array) -> Array:
        value = lam[..., 0] / lam[..., 1] + standard / np.sqrt(lam[..., 1])
        return np.stack([value, -0.5 * value**2], axis=-1)
