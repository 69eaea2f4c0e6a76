"""Wishart: lambda = (P, nu), t(Lambda) = (-Lambda / 2, log|Lambda| / 2), h = |Lambda|^(-(D + 1) / 2).

Symmetric matrices are packed (see `symmetric`). A known mean's observation y adds (y y^T, 1), y's deviation from it.
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np

from ssvi.families.precision import PrecisionFamily
from ssvi.families.regression_layout import Parts
from ssvi.families.symmetric import unpack
from ssvi.typing import Array


class WishartParameters(NamedTuple):
    """Usual parameters: E[Lambda] is degrees x scatter^-1.

    Attributes
    ----------
    scatter : (..., D, D)
        P, the inverse of what is often called V or W.
    degrees : (...)
        nu, the degrees of freedom, more than D - 1.

    """

    scatter: Array
    degrees: Array


class WishartStatistics(NamedTuple):
    """What statistics tell: the precision matrix Lambda (or its mean) and its log-determinant (or that's mean)."""

    precision: Array
    log_determinant: Array


class Wishart(PrecisionFamily):
    """Precision matrices Lambda ~ Wishart(P^-1, nu): a regression that has no inputs.

    >>> family = Wishart(2)
    >>> lam = family.natural(np.eye(2), np.array(5.0))
    >>> family.expand(family.mean_stats(lam)).precision
    array([[5., 0.],
           [0., 5.]])
    """

    name = "wishart"

    def __init__(self, size: int) -> None:
        super().__init__(size, 0)

    @property
    def parameters(self) -> tuple[int]:
        """The order D of the matrices."""
        return (self.outputs,)

    def natural(self, scatter: Array, degrees: Array) -> Array:
        """Return lambda from the usual parameters (see `WishartParameters`)."""
        degrees = np.asarray(degrees, dtype=float)
        none = np.empty((*degrees.shape, self.outputs, 0))
        return self._layout.merge(Parts(none, np.empty((*degrees.shape, 0, 0)), scatter, degrees))

    def standard(self, lam: Array) -> WishartParameters:
        """Return the usual parameters."""
        parts = self._layout.split(lam)
        return WishartParameters(parts.outputs, parts.degrees)

    def expand(self, stats: Array) -> WishartStatistics:
        """Return statistics as named arrays."""
        parts = self._layout.split_dual(stats)
        return WishartStatistics(-2.0 * parts.outputs, 2.0 * parts.degrees)

    def named(self, values: Array) -> dict[str, Array]:
        """Return the precision matrix."""
        return {"": unpack(values, self.outputs)}

    @classmethod
    def instances(cls) -> list[Self]:
        """Return matrices of one to ten rows."""
        return [cls(size) for size in (1, 2, 3, 10)]
