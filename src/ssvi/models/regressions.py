"""Regressions y = C x + noise as blocks of a model: outputs share a noise covariance, or have a noise each."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ssvi.families.matrix_normal_wishart import MatrixNormalWishart
from ssvi.families.precision import turned
from ssvi.families.regression_layout import Parts, RegressionLayout
from ssvi.numerics.random import derive_keys
from ssvi.typing import Array

NOISES = ("full", "diag")


class RegressionView(NamedTuple):
    """What a view of t says of a regression of D outputs on Q inputs.

    Attributes
    ----------
    product : (D, Q)
        Lambda C.
    square : (Q, Q), or (D, Q, Q) where outputs are independent
        C^T Lambda C.
    precision : (D, D), or (D,)
        Lambda.
    log_determinant : (), or (D,)
        log|Lambda|, which is not the logarithm of the above if these are means.

    """

    product: Array
    square: Array
    precision: Array
    log_determinant: Array


class RegressionSums(NamedTuple):
    """Sums over observations (x, y).

    Attributes
    ----------
    cross : (D, Q)
        Of y x^T.
    inputs : (Q, Q), or (D, Q, Q) where outputs are independent and an observation need not have all
        Of x x^T.
    outputs : (D, D), or (D,)
        Of y y^T.
    counts : (), or (D,)
        How many there are.

    """

    cross: Array
    inputs: Array
    outputs: Array
    counts: Array | float


@dataclass(frozen=True)
class RegressionPrior:
    """C given Lambda has the mean M and the precision K over inputs times Lambda; Lambda ~ Wishart(S^-1, nu).

    Attributes
    ----------
    mean : (D, Q)
        M.
    strength : (Q,)
        The diagonal of K: for how many observations of a unit input the prior mean counts.
    scatter : (D,)
        The diagonal of S.
    degrees : float
        nu; more than D - 1, or more than 0 where outputs are independent.

    """

    mean: Array
    strength: Array
    scatter: Array
    degrees: float


@dataclass(frozen=True)
class Regression:
    """A block of D outputs on Q inputs.

    Attributes
    ----------
    outputs, inputs : int
        D and Q.
    independent : bool
        Whether each output has a noise of its own: then the block has a row for each, else one for all.

    """

    outputs: int
    inputs: int
    independent: bool = False

    @property
    def family(self) -> MatrixNormalWishart:
        """The family of a row."""
        return MatrixNormalWishart(1 if self.independent else self.outputs, self.inputs)

    @property
    def shape(self) -> tuple[int, int]:
        """The shape of the block."""
        return (self.outputs if self.independent else 1, self.family.dimension)

    def prior(self, own: RegressionPrior) -> Array:
        """Return eta."""
        strength = np.diag(own.strength)
        if not self.independent:
            return self.family.natural(own.mean, strength, np.diag(own.scatter), np.asarray(own.degrees))[None]
        rows = (self.outputs, self.inputs, self.inputs)
        return self.family.natural(
            own.mean[:, None],
            np.broadcast_to(strength, rows),
            own.scatter[:, None, None],
            np.full(self.outputs, own.degrees),
        )

    def natural(self, sums: RegressionSums) -> Array:
        """Return eta-hat."""
        layout = RegressionLayout(self.family.outputs, self.inputs)
        if self.independent:
            return layout.merge(
                Parts(sums.cross[:, None], sums.inputs, sums.outputs[:, None, None], np.asarray(sums.counts))
            )
        return layout.merge(Parts(*(np.asarray(part)[None] for part in sums)))

    def view(self, stats: Array) -> RegressionView:
        """Return what some view of t says."""
        found = self.family.expand(stats)
        if self.independent:
            return RegressionView(
                found.product[:, 0], found.square, found.precision[:, 0, 0], np.asarray(found.log_determinant)
            )
        return RegressionView(*(np.asarray(part)[0] for part in found))

    def statistics(self, coefficients: Array, covariance: Array) -> Array:
        """Return t of coefficients (D, Q) and a noise covariance (D, D), or variances (D,)."""
        layout = RegressionLayout(self.family.outputs, self.inputs)
        if self.independent:
            precision = (1.0 / covariance)[:, None, None]
            own = coefficients[:, None]
        else:
            precision, own = np.linalg.inv(covariance)[None].astype(float), coefficients[None]
        product = precision @ own
        half = 0.5 * np.linalg.slogdet(precision)[1]
        return layout.merge_dual(Parts(product, -0.5 * turned(own) @ product, -0.5 * precision, half))

    def usual(self, stats: Array) -> tuple[Array, Array]:
        """Return the coefficients (D, Q) and the noise covariance, (D, D) or (D,), of a view of t."""
        found = self.view(stats)
        if self.independent:
            return found.product / found.precision[:, None], 1.0 / found.precision
        inverse = np.linalg.inv(found.precision).astype(float)
        return np.linalg.solve(found.precision, found.product).astype(float), inverse

    def named(self, values: Array) -> tuple[Array, Array]:
        """Return draws of the coefficients (n, D, Q) and of the noise covariance, (n, D, D) or (n, D).

        They come as draws of the block's values, (n, rows, numbers).
        """
        found = self.family.named(values)
        coefficients, covariance = found["coefficients"], found["covariance"]
        if self.independent:
            return coefficients[:, :, 0], covariance[:, :, 0, 0]
        return coefficients[:, 0], covariance[:, 0]

    def draw(self, rng: np.random.Generator, lam: Array) -> Array:
        """Draw values of the block, in the form that the family's `statistics` takes."""
        keys = derive_keys(int(rng.integers(2**63)), len(lam))
        return self.family.values(self.family.draw(lam, keys).stats)


def noise_root(covariance: Array) -> Array:
    """Return L with L L^T the covariance, which may be a matrix or variances."""
    return np.diag(np.sqrt(covariance)) if covariance.ndim == 1 else np.linalg.cholesky(covariance).astype(float)
