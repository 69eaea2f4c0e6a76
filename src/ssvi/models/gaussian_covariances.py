"""The four kinds of covariances that a Gaussian mixture can have, all of them of one family.

A matrix-normal-Wishart is q of the coefficients A and the precision Lambda of a regression y = A x + noise, of which an
observation adds (y x^T, x x^T, y y^T, 1). Each kind is that regression with other inputs x:

- full: a row y of component k has the input 1, and each component its own A (its mean) and Lambda;
- diag: so has each number of a row, and each column of each component its own mean and precision;
- spherical: the D numbers of a row are D observations of one output, with the inputs e_1, ..., e_D;
- tied: a row of component k has the input e_k; there is one regression, whose coefficients are all means.

So q of a component's mean and precision is never factorised.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from ssvi.families.matrix_normal_wishart import MatrixNormalWishart
from ssvi.families.normal_gamma import NormalGamma
from ssvi.families.normal_wishart import NormalWishart
from ssvi.families.precision import PrecisionFamily
from ssvi.families.symmetric import pack, pack_dual
from ssvi.numerics.cholesky import invert_lower, nearly_cholesky
from ssvi.typing import Array


class Gaussians(NamedTuple):
    """What a view says of the components; K precisions, or one for all of them.

    Attributes
    ----------
    means : (K, D)
        m = Lambda^-1 (Lambda mu).
    precisions : (K or 1, D, D), or (K, D) where columns are independent
        Lambda.
    log_determinants : (K or 1,), or (K, D)
        log|Lambda|, which is not the logarithm of the above if these are means.
    excess : (K,), or (K, D)
        mu^T Lambda mu - m^T Lambda m: 0 for one value of mu, and its spread for a mean over many.

    """

    means: Array
    precisions: Array
    log_determinants: Array
    excess: Array


class Sums(NamedTuple):
    """Sums over rows, weighted by how much of a row each component has.

    Attributes
    ----------
    counts : (K,), or (K, D) where columns are independent and a row need not have all
        The weights themselves.
    firsts : (K, D)
        Of the rows.
    seconds : (K, D, D); (1, D, D) for tied covariances; (K, D) for independent columns
        Of products.

    """

    counts: Array
    firsts: Array
    seconds: Array


class Students(NamedTuple):
    """Student distributions, one for each component, or one for each column of each.

    Attributes
    ----------
    means : (K, D)
        Where it is.
    scales : (K, D, D), or (K, D) for independent columns
        The square of its width.
    degrees : (K,), or (K, D)
        Its degrees of freedom.

    """

    means: Array
    scales: Array
    degrees: Array


@dataclass(frozen=True)
class Covariance(ABC):
    """A kind of covariances, for so many columns and components."""

    n_features: int
    n_components: int

    kind: ClassVar[str]
    independent: ClassVar[bool] = False
    """Whether columns are independent of each other, given a row's component."""

    @property
    @abstractmethod
    def family(self) -> PrecisionFamily:
        """The family of the block."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """The shape of the block."""

    @property
    def scatter_shape(self) -> tuple[int, ...]:
        """The shape of the prior's scatter; `covariances` have a leading axis for components, unless they are tied."""
        return (self.n_features, self.n_features)

    @property
    def least_degrees(self) -> int:
        """What the degrees of freedom must exceed."""
        return self.family.outputs - 1

    @abstractmethod
    def prior(self, mean: Array, strength: float, scatter: Array, degrees: float) -> Array:
        """Return eta."""

    @abstractmethod
    def natural(self, sums: Sums) -> Array:
        """Return eta-hat."""

    @abstractmethod
    def statistics(self, means: Array, precisions: Array) -> Array:
        """Return t of means (K, D) and precisions, in the shape of `covariances`."""

    @abstractmethod
    def gaussians(self, stats: Array) -> Gaussians:
        """Return what some view of t says."""

    @abstractmethod
    def means(self, lam: Array) -> Array:
        """Return E_q[mu], K x D."""

    @abstractmethod
    def covariances(self, lam: Array) -> Array:
        """Return the inverses of E_q[Lambda], as scikit-learn shapes them."""

    @abstractmethod
    def students(self, lam: Array, noise: float) -> Students:
        """Return the distribution of mu under q (noise 0), or of a new row (noise 1), for each component."""

    def deviations(self, lam: Array) -> Array:
        """Return the standard deviations of mu under q, K x D.

        mu has a Student distribution, whose deviation is infinite for 2 degrees or fewer; it is then a large number.
        """
        places, scales, degrees = self.students(lam, 0.0)
        variances = scales if scales.shape == places.shape else np.diagonal(scales, axis1=-2, axis2=-1)
        own = np.broadcast_to(degrees.reshape(len(places), -1), places.shape)
        return np.sqrt(variances * own / np.maximum(own - 2.0, 0.1))

    @abstractmethod
    def draw(self, rng: np.random.Generator, mean: Array, strength: float, scatter: Array, degrees: float) -> Array:
        """Draw precisions from the prior, in the shape of `covariances`."""

    def dense(self, matrices: Array) -> Array:
        """Return covariances or precisions as (K, D, D), whatever their kind."""
        return np.broadcast_to(matrices, (self.n_components, self.n_features, self.n_features))


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

    def students(self, lam: Array, noise: float) -> Students:
        """Return distributions of nu - D + 1 degrees and S (noise + (K^-1)_kk) / (nu - D + 1)."""
        usual = self.family.standard(lam)
        degrees = usual.degrees[0] - self.n_features + 1.0
        widening = (noise + np.diagonal(np.linalg.inv(usual.strength[0]))) / degrees
        return Students(self.means(lam), usual.scatter * widening[:, None, None], np.full(self.n_components, degrees))

    def draw(self, rng: np.random.Generator, mean: Array, strength: float, scatter: Array, degrees: float) -> Array:
        """Draw a Wishart matrix."""
        return _wishart(rng, scatter, degrees)


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


COVARIANCES: dict[str, type[Covariance]] = {kind.kind: kind for kind in (Full, Tied, Diagonal, Spherical)}
