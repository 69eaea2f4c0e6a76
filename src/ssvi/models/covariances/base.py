"""What a kind of covariances is: from sums over rows to eta-hat, and from lambda or a view of t to Gaussians."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from ssvi.families.precision import PrecisionFamily
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
    def named(self, values: Array) -> tuple[Array, Array]:
        """Return draws of means (n, K, D) and of covariances, n times the shape of `covariances`.

        They come as draws of the block's values.
        """

    @property
    def covariance_dims(self) -> tuple[str, ...]:
        """What the axes of `covariances` count, if rows of the block are of components."""
        return ("component", *("feature", "other_feature")[: len(self.scatter_shape)])

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
