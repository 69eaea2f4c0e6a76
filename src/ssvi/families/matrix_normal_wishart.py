"""Matrix-normal-Wishart: the coefficients A and the noise precision Lambda of a regression or of linear dynamics.

lambda = (M K, K, S + M K M^T, nu), and an observation (x, y) adds (y x^T, x x^T, y y^T, 1); `precision` has the rest.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from ssvi.families.precision import PrecisionFamily, turned
from ssvi.families.regression_layout import Parts
from ssvi.typing import Array


class RegressionParameters(NamedTuple):
    """Usual parameters; E[A] is mean, E[Lambda] is degrees x scatter^-1.

    Attributes
    ----------
    mean : (..., D, Q)
        M, the mean of the coefficients; for a normal-Wishart (..., D).
    strength : (..., Q, Q)
        K, what is known of the coefficients in units of the noise precision; for a normal-Wishart kappa, (...).
    scatter : (..., D, D)
        S, the inverse scale of Lambda.
    degrees : (...)
        nu, the degrees of freedom, more than D - 1.

    """

    mean: Array
    strength: Array
    scatter: Array
    degrees: Array


class RegressionStatistics(NamedTuple):
    """What statistics tell of A and Lambda: values of a draw or of the mode, or their means.

    Attributes
    ----------
    product : (..., D, Q)
        Lambda A; for a normal-Wishart Lambda mu, (..., D).
    square : (..., Q, Q)
        A^T Lambda A; for a normal-Wishart mu^T Lambda mu, (...).
    precision : (..., D, D)
        Lambda.
    log_determinant : (...)
        log|Lambda|.

    """

    product: Array
    square: Array
    precision: Array
    log_determinant: Array


class MatrixNormalWishart(PrecisionFamily):
    """A (outputs x inputs) and Lambda of y = A x + noise, noise ~ N(0, Lambda^-1).

    Lambda ~ Wishart(S^-1, nu); A given Lambda has the mean M and the precision K over inputs times Lambda over outputs.
    """

    name = "matrix_normal_wishart"
    has_location = True

    def __init__(self, outputs: int, inputs: int) -> None:
        if inputs < 1:
            raise ValueError(f"a regression needs at least one input, not {inputs}; without any it is a Wishart.")
        super().__init__(outputs, inputs)

    @property
    def parameters(self) -> tuple[int, ...]:
        """The numbers of outputs D and of inputs Q."""
        return (self.outputs, self.inputs)

    def natural(self, mean: Array, strength: Array, scatter: Array, degrees: Array) -> Array:
        """Return lambda from the usual parameters (see `RegressionParameters`)."""
        cross = mean @ strength
        return self._layout.merge(
            Parts(cross, strength, scatter + cross @ turned(mean), np.asarray(degrees, dtype=float))
        )

    def standard(self, lam: Array) -> RegressionParameters:
        """Return the usual parameters."""
        parts = self._layout.split(lam)
        mean: Array = turned(np.linalg.solve(parts.inputs, turned(parts.cross)).astype(float))
        return RegressionParameters(mean, parts.inputs, parts.outputs - mean @ turned(parts.cross), parts.degrees)

    def expand(self, stats: Array) -> RegressionStatistics:
        """Return statistics as named arrays."""
        parts = self._layout.split_dual(stats)
        return RegressionStatistics(parts.cross, -2.0 * parts.inputs, -2.0 * parts.outputs, 2.0 * parts.degrees)

    @classmethod
    def instances(cls) -> list[Self]:
        """Return regressions with more and with fewer inputs than outputs."""
        return [cls(*sizes) for sizes in ((1, 1), (2, 3), (3, 2), (10, 2))]
