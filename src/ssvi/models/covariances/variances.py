"""Variances of columns that are independent of each other: one for each column of each component, or one for each."""

from __future__ import annotations

import numpy as np

from ssvi.families.matrix_normal_wishart import MatrixNormalWishart
from ssvi.families.normal_gamma import NormalGamma
from ssvi.families.symmetric import pack, pack_dual
from ssvi.models.covariances.base import Covariance, Gaussians, Students, Sums
from ssvi.typing import Array


class Diagonal(Covariance):
    """A variance for each column of each component."""

    kind = "diag"
    independent = True

    @property
    def family(self) -> NormalGamma:
        """Normal-gamma."""
        return NormalGamma()

    @property
    def shape(self) -> tuple[int, ...]:
        """Four numbers for each column of each component."""
        return (self.n_components, self.n_features, 4)

    @property
    def scatter_shape(self) -> tuple[int, ...]:
        """A number for each column."""
        return (self.n_features,)

    def prior(self, mean: Array, strength: float, scatter: Array, degrees: float) -> Array:
        """Return a row for each column."""
        strengths, all_degrees = np.full(mean.shape, strength), np.full(mean.shape, degrees)
        return self.family.natural(mean, strengths, scatter, all_degrees)[None]

    def natural(self, sums: Sums) -> Array:
        """Return (sum x, n, sum x^2, n)."""
        return np.stack([sums.firsts, sums.counts, sums.seconds, sums.counts], axis=-1)

    def statistics(self, means: Array, precisions: Array) -> Array:
        """Return (tau mu, -tau mu^2 / 2, -tau / 2, log(tau) / 2)."""
        parts = [precisions * means, -0.5 * precisions * means**2, -0.5 * precisions, 0.5 * np.log(precisions)]
        return np.stack(parts, axis=-1)

    def gaussians(self, stats: Array) -> Gaussians:
        """Divide."""
        view = self.family.expand(stats)
        means = view.product / view.precision
        return Gaussians(means, view.precision, view.log_determinant, view.square - means * view.product)

    def means(self, lam: Array) -> Array:
        """Return m."""
        return self.family.standard(lam).mean

    def covariances(self, lam: Array) -> Array:
        """Return S / nu."""
        usual = self.family.standard(lam)
        return usual.scatter / usual.degrees

    def named(self, values: Array) -> tuple[Array, Array]:
        """Split."""
        found = self.family.named(values)
        return found["mean"], found["variance"]

    def students(self, lam: Array, noise: float) -> Students:
        """Return a distribution of nu degrees and S (noise + 1 / kappa) / nu for each column."""
        usual = self.family.standard(lam)
        return Students(usual.mean, usual.scatter * (noise + 1.0 / usual.strength) / usual.degrees, usual.degrees)

    def draw(self, rng: np.random.Generator, mean: Array, strength: float, scatter: Array, degrees: float) -> Array:
        """Draw gamma variables."""
        return rng.gamma(0.5 * degrees, 2.0 / scatter, (self.n_components, self.n_features))

    def dense(self, matrices: Array) -> Array:
        """Return diagonal matrices."""
        return matrices[:, :, None] * np.eye(self.n_features)


class Spherical(Covariance):
    """One variance for each component."""

    kind = "spherical"
    independent = True

    @property
    def family(self) -> MatrixNormalWishart:
        """Matrix-normal-Wishart of one output, with an input for each column."""
        return MatrixNormalWishart(1, self.n_features)

    @property
    def shape(self) -> tuple[int, ...]:
        """A row for each component."""
        return (self.n_components, self.family.dimension)

    @property
    def scatter_shape(self) -> tuple[int, ...]:
        """One number."""
        return ()

    def prior(self, mean: Array, strength: float, scatter: Array, degrees: float) -> Array:
        """Return one row, for all components."""
        strengths = strength * np.eye(self.n_features)
        return self.family.natural(mean[None], strengths, np.reshape(scatter, (1, 1)), np.asarray(degrees))[None]

    def natural(self, sums: Sums) -> Array:
        """Return (sum x, diag(n), sum |x|^2, sum n), with n the counts of each column."""
        counts = pack(sums.counts[:, :, None] * np.eye(self.n_features))
        totals = sums.seconds.sum(axis=-1), sums.counts.sum(axis=-1)
        return np.concatenate([sums.firsts, counts, totals[0][:, None], totals[1][:, None]], axis=-1)

    def statistics(self, means: Array, precisions: Array) -> Array:
        """Return (tau mu, -tau mu mu^T / 2, -tau / 2, log(tau) / 2)."""
        own = precisions[:, None]
        squares = own[:, :, None] * means[:, :, None] * means[:, None, :]
        return np.concatenate([own * means, pack_dual(-0.5 * squares), -0.5 * own, 0.5 * np.log(own)], axis=-1)

    def gaussians(self, stats: Array) -> Gaussians:
        """Divide; all columns have the same precision."""
        view = self.family.expand(stats)
        precisions, products = view.precision[:, 0], view.product[:, 0]
        means = products / precisions
        excess = np.diagonal(view.square, axis1=-2, axis2=-1) - means * products
        logs = np.repeat(view.log_determinant[:, None], self.n_features, axis=1)
        return Gaussians(means, np.repeat(precisions, self.n_features, axis=1), logs, excess)

    def means(self, lam: Array) -> Array:
        """Return m."""
        result: Array = self.family.standard(lam).mean[:, 0]
        return result

    def covariances(self, lam: Array) -> Array:
        """Return S / nu."""
        usual = self.family.standard(lam)
        result: Array = usual.scatter[:, 0, 0] / usual.degrees
        return result

    def named(self, values: Array) -> tuple[Array, Array]:
        """Take the only output's."""
        found = self.family.named(values)
        return found["coefficients"][:, :, 0], found["covariance"][..., 0, 0]

    def students(self, lam: Array, noise: float) -> Students:
        """Return distributions of nu degrees and S (noise I + K^-1) / nu."""
        usual = self.family.standard(lam)
        widening = noise * np.eye(self.n_features) + np.linalg.inv(usual.strength)
        return Students(usual.mean[:, 0], self.covariances(lam)[:, None, None] * widening, usual.degrees)

    def draw(self, rng: np.random.Generator, mean: Array, strength: float, scatter: Array, degrees: float) -> Array:
        """Draw gamma variables."""
        return rng.gamma(0.5 * degrees, 2.0 / float(scatter), self.n_components)

    def dense(self, matrices: Array) -> Array:
        """Return multiples of the identity."""
        return matrices[:, None, None] * np.eye(self.n_features)
