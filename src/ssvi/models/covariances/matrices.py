"""Covariance matrices: one for each component, or one for all."""

from __future__ import annotations

import numpy as np

from ssvi.families.matrix_normal_wishart import MatrixNormalWishart
from ssvi.families.normal_wishart import NormalWishart
from ssvi.families.symmetric import pack, pack_dual
from ssvi.models.covariances.base import Covariance, Gaussians, Students, Sums
from ssvi.numerics.cholesky import invert_lower, nearly_cholesky
from ssvi.typing import Array


class Full(Covariance):
    """A covariance matrix for each component."""

    kind = "full"

    @property
    def family(self) -> NormalWishart:
        """Normal-Wishart."""
        return NormalWishart(self.n_features)

    @property
    def shape(self) -> tuple[int, ...]:
        """A row for each component."""
        return (self.n_components, self.family.dimension)

    def prior(self, mean: Array, strength: float, scatter: Array, degrees: float) -> Array:
        """Return one row, for all components."""
        return self.family.natural(mean, np.asarray(strength), scatter, np.asarray(degrees))[None]

    def natural(self, sums: Sums) -> Array:
        """Return (sum x, n, sum x x^T, n)."""
        counts = sums.counts[:, None]
        return np.concatenate([sums.firsts, counts, pack(sums.seconds), counts], axis=-1)

    def statistics(self, means: Array, precisions: Array) -> Array:
        """Return (Lambda mu, -mu^T Lambda mu / 2, -Lambda / 2, log|Lambda| / 2)."""
        products = np.einsum("kij,kj->ki", precisions, means)
        squares, logs = (means * products).sum(axis=-1), np.linalg.slogdet(precisions)[1]
        return np.concatenate(
            [products, -0.5 * squares[:, None], pack_dual(-0.5 * precisions), 0.5 * logs[:, None]], axis=-1
        )

    def gaussians(self, stats: Array) -> Gaussians:
        """Solve for the means."""
        view = self.family.expand(stats)
        precisions, means = _solve(view.precision, view.product[..., None])
        excess = view.square - (means[..., 0] * view.product).sum(axis=-1)
        return Gaussians(means[..., 0], precisions, view.log_determinant, excess)

    def means(self, lam: Array) -> Array:
        """Return m."""
        return self.family.standard(lam).mean

    def covariances(self, lam: Array) -> Array:
        """Return S / nu."""
        usual = self.family.standard(lam)
        return usual.scatter / usual.degrees[:, None, None]

    def named(self, values: Array) -> tuple[Array, Array]:
        """Split."""
        found = self.family.named(values)
        return found["mean"], found["covariance"]

    def students(self, lam: Array, noise: float) -> Students:
        """Return distributions of nu - D + 1 degrees and S (noise + 1 / kappa) / (nu - D + 1)."""
        usual = self.family.standard(lam)
        degrees = usual.degrees - self.n_features + 1.0
        widening = (noise + 1.0 / usual.strength) / degrees
        return Students(usual.mean, usual.scatter * widening[:, None, None], degrees)

    def draw(self, rng: np.random.Generator, mean: Array, strength: float, scatter: Array, degrees: float) -> Array:
        """Draw K Wishart matrices."""
        return np.stack([_wishart(rng, scatter, degrees) for _ in range(self.n_components)])


class Tied(Covariance):
    """One covariance matrix for all components."""

    kind = "tied"

    @property
    def family(self) -> MatrixNormalWishart:
        """Matrix-normal-Wishart with an input for each component."""
        return MatrixNormalWishart(self.n_features, self.n_components)

    @property
    def shape(self) -> tuple[int, ...]:
        """One row."""
        return (1, self.family.dimension)

    def prior(self, mean: Array, strength: float, scatter: Array, degrees: float) -> Array:
        """Return the one row; coefficients all have the same mean."""
        size = self.n_components
        means = np.repeat(mean[:, None], size, axis=1)
        return self.family.natural(means, strength * np.eye(size), scatter, np.asarray(degrees))[None]

    def natural(self, sums: Sums) -> Array:
        """Return (sum x e_z^T, sum e_z e_z^T, sum x x^T, n)."""
        parts = [
            sums.firsts.T.reshape(-1),
            pack(np.diag(sums.counts)),
            pack(sums.seconds[0]),
            sums.counts.sum(keepdims=True),
        ]
        return np.concatenate(parts)[None]

    def statistics(self, means: Array, precisions: Array) -> Array:
        """Return (Lambda A, -A^T Lambda A / 2, -Lambda / 2, log|Lambda| / 2), with means as columns of A."""
        products = precisions @ means.T
        parts = [
            products.reshape(-1), pack_dual(-0.5 * means @ products), pack_dual(-0.5 * precisions),
            0.5 * np.linalg.slogdet(precisions[None])[1],
        ]  # fmt: skip
        return np.concatenate(parts)[None]

    def gaussians(self, stats: Array) -> Gaussians:
        """Solve for the means, all at once."""
        view = self.family.expand(stats)
        precisions, means = _solve(view.precision, view.product)
        excess = np.diagonal(view.square[0]) - (means[0] * view.product[0]).sum(axis=0)
        return Gaussians(np.ascontiguousarray(means[0].T), precisions, view.log_determinant, excess)

    def means(self, lam: Array) -> Array:
        """Return the columns of M."""
        return np.ascontiguousarray(self.family.standard(lam).mean[0].T)

    def covariances(self, lam: Array) -> Array:
        """Return S / nu."""
        usual = self.family.standard(lam)
        result: Array = usual.scatter[0] / usual.degrees[0]
        return result

    def named(self, values: Array) -> tuple[Array, Array]:
        """Turn the coefficients: means are their columns."""
        found = self.family.named(values)
        return np.swapaxes(found["coefficients"][:, 0], -1, -2), found["covariance"][:, 0]

    @property
    def covariance_dims(self) -> tuple[str, ...]:
        """There is one covariance for all components."""
        return ("feature", "other_feature")

    def students(self, lam: Array, noise: float) -> Students:
        """Return distributions of nu - D + 1 degrees and S (noise + (K^-1)_kk) / (nu - D + 1)."""
        usual = self.family.standard(lam)
        degrees = usual.degrees[0] - self.n_features + 1.0
        widening = (noise + np.diagonal(np.linalg.inv(usual.strength[0]))) / degrees
        return Students(self.means(lam), usual.scatter * widening[:, None, None], np.full(self.n_components, degrees))

    def draw(self, rng: np.random.Generator, mean: Array, strength: float, scatter: Array, degrees: float) -> Array:
        """Draw a Wishart matrix."""
        return _wishart(rng, scatter, degrees)


def _solve(precisions: Array, products: Array) -> tuple[Array, Array]:
    """Return positive definite precisions and Lambda^-1 times the products."""
    precisions, factors = nearly_cholesky(np.ascontiguousarray(precisions))
    inverses = invert_lower(factors)
    solved: Array = np.swapaxes(inverses, -1, -2) @ (inverses @ products)
    return precisions, solved


def _wishart(rng: np.random.Generator, scatter: Array, degrees: float) -> Array:
    """Draw Lambda ~ Wishart(S^-1, nu) by Bartlett's factor."""
    size = len(scatter)
    lower = np.tril(rng.normal(size=(size, size)), -1)
    lower[np.diag_indices(size)] = np.sqrt(rng.chisquare(degrees - np.arange(size)))
    root = np.linalg.solve(np.linalg.cholesky(scatter).T, lower)
    result: Array = root @ root.T
    return result
