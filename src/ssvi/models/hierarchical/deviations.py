"""Priors of Q, the precision of the population of groups, and so of how much groups differ.

wishart  Q ~ Wishart(nu, nu diag(A^2)): deviations (square roots of the diagonal of Q^-1) of about A_j.
half_t   every deviation has a half-t prior with nu degrees of freedom and the scale A_j (Huang and Wand 2013), which
         lets small deviations be small: Q ~ Wishart(nu + d - 1, 2 nu diag(g)), g_j ~ Gamma(1/2, 1 / A_j^2). With nu = 2
         correlations are uniform, with nu = 1 and d = 1 the deviation is half-Cauchy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from ssvi.families.symmetric import pack, unpack
from ssvi.families.wishart import Wishart
from ssvi.typing import Array

DEVIATION_PRIORS = ("half_t", "wishart")


@dataclass(frozen=True)
class DeviationPrior:
    """The prior of Q: its kind, A^2 of each varying column, and nu."""

    kind: str
    squares: Array
    degrees: float

    @property
    def size(self) -> int:
        """The number d of varying columns."""
        return len(self.squares)

    @property
    def is_scaled(self) -> bool:
        """Whether deviations have scales g that are variables too."""
        return self.size > 0 and self.kind == "half_t"

    def precision(self, scales: Array | None = None) -> Array:
        """Return eta of Q given g, for half-t deviations at the mean of g by default."""
        family = Wishart(self.size)
        if self.kind == "wishart":
            return family.natural(self.degrees * np.diag(self.squares), np.array(self.degrees))[None]
        g = 0.5 * self.squares if scales is None else scales
        return family.natural(2.0 * self.degrees * np.diag(g), np.array(self.degrees + self.size - 1.0))[None]

    def scales(self, diagonal: Array | None = None) -> Array:
        """Return eta of g, given the diagonal of Q if that is known: shapes and rates."""
        shape, rate = 0.5, 1.0 / self.squares
        if diagonal is not None:
            shape, rate = self._scales_shape, rate + self.degrees * diagonal
        return np.stack([np.full(self.size, shape), rate], axis=-1)

    @property
    def _scales_shape(self) -> float:
        return 0.5 + 0.5 * (self.degrees + self.size - 1.0)

    def log_density(self, precision: Array) -> Array:
        """Return log p(Q) / h(Q) of some packed matrices, g integrated out."""
        family, d, nu = Wishart(self.size), self.size, self.degrees
        stats = family.statistics(precision)
        if self.kind == "wishart":
            return np.asarray((stats * self.precision()[0]).sum(axis=-1) - family.log_normalizer(self.precision()[0]))
        diagonal = np.diagonal(unpack(precision, d), axis1=-2, axis2=-1)
        log_rates = np.log(1.0 / self.squares + nu * diagonal).sum(axis=-1)
        constant = d * (special.gammaln(self._scales_shape) - special.gammaln(0.5)) - 0.5 * np.log(self.squares).sum()
        constant -= family.log_normalizer(self.precision(np.full(d, 1.0))[0])
        return np.asarray(constant + (nu + d - 1.0) * stats[..., -1] - self._scales_shape * log_rates)

    def simulate(self, rng: np.random.Generator) -> dict[str, Array]:
        """Draw Q, and g if it has scales."""
        if not self.is_scaled:
            return {"precision": draw_wishart(rng, self.size, self.precision()[0])[None]}
        g = rng.gamma(0.5, self.squares)
        return {"scales": g, "precision": draw_wishart(rng, self.size, self.precision(g)[0])[None]}


def draw_wishart(rng: np.random.Generator, order: int, lam: Array) -> Array:
    """Draw a precision matrix by the Bartlett decomposition, and return it as the family's `statistics` takes it."""
    scatter, degrees = Wishart(order).standard(lam)
    bartlett = np.tril(rng.normal(size=(order, order)), -1)
    bartlett += np.diag(np.sqrt(rng.chisquare(degrees - np.arange(order))))
    root = np.linalg.cholesky(np.linalg.inv(scatter)) @ bartlett
    return pack(root @ root.T)
