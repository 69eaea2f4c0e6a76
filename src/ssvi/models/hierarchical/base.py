"""What all multilevel regressions are: coefficients that all groups share, and those in which groups differ.

    beta ~ N(location, scale^2),  b_n ~ N(0, Q^-1),  y_i given eta_i = x_i . beta + v_i . b_n for rows i of group n

x_i are the `fixed` columns of a row, v_i the `varying` ones. Most columns that vary are fixed too, so that a group's
own coefficient is beta_j + b_nj. All of beta is one Gaussian block, which keeps how its numbers hang together.

Two priors of Q, the precision of the population of groups:

wishart  Q ~ Wishart(nu, nu diag(A^2)): deviations (square roots of the diagonal of Q^-1) of about A_j.
half_t   every deviation has a half-t prior with nu degrees of freedom and the scale A_j (Huang and Wand 2013), which
         lets small deviations be small: Q ~ Wishart(nu + d - 1, 2 nu diag(g)), g_j ~ Gamma(1/2, 1 / A_j^2). With nu = 2
         correlations are uniform, with nu = 1 and d = 1 the deviation is half-Cauchy.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssvi.batches.groups import Groups
from ssvi.families.gamma import Gamma
from ssvi.families.multivariate_gaussian import MultivariateGaussian
from ssvi.families.symmetric import pack, unpack
from ssvi.families.wishart import Wishart
from ssvi.local_steps.base import Part
from ssvi.models.base import Block, Model
from ssvi.typing import Array

Numbers = float | tuple[float, ...]
DEVIATION_PRIORS = ("half_t", "wishart")
_FIRST_SHARE = 0.3  # of what a first regression leaves unexplained, for the deviations of groups
_RIDGE = 1e-6


@dataclass(frozen=True)
class Noise:
    """What rows say besides their groups at the start of a fit: working values of y, and how precise each is."""

    values: Array
    precisions: Array


@dataclass(frozen=True)
class HierarchicalRegression(Model):
    """A regression with coefficients that vary between groups; see the module.

    Blocks: `coefficients` (beta), `precision` (Q) and, for half-t deviations, `scales` (g).

    Attributes
    ----------
    n_features : int
        The columns of a row.
    fixed : tuple of int, optional
        Which columns have coefficients that all groups share; all of them by default.
    varying : tuple of int
        Which columns have coefficients that vary between groups; with none, there are no groups.
    coefficient_location, coefficient_scale : float or one for each fixed column
        Mean and deviation of the normal prior of beta.
    deviation_prior : {"half_t", "wishart"}
        The prior of the population of groups.
    deviation_scale : float or one for each varying column
        A.
    deviation_degrees : float
        nu.

    """

    n_features: int
    fixed: tuple[int, ...] | None = None
    varying: tuple[int, ...] = (0,)
    coefficient_location: Numbers = 0.0
    coefficient_scale: Numbers = 10.0
    deviation_prior: str = "half_t"
    deviation_scale: Numbers = 10.0
    deviation_degrees: float = 2.0

    @property
    def fixed_columns(self) -> tuple[int, ...]:
        """The columns of x."""
        return tuple(range(self.n_features)) if self.fixed is None else self.fixed

    @property
    def n_fixed(self) -> int:
        """The length p of beta."""
        return len(self.fixed_columns)

    @property
    def n_varying(self) -> int:
        """The length d of b_n."""
        return len(self.varying)

    @property
    def is_scaled(self) -> bool:
        """Whether deviations have scales that are variables too."""
        return self.n_varying > 0 and self.deviation_prior == "half_t"

    def blocks(self) -> Mapping[str, Block]:
        """Return beta, and Q with its scales where there are groups."""
        gaussian = MultivariateGaussian(self.n_fixed)
        precision = np.diag(_spread(self.coefficient_scale, self.n_fixed) ** -2.0)
        location = _spread(self.coefficient_location, self.n_fixed)
        blocks = {
            "coefficients": Block(gaussian, gaussian.natural(location, precision)[None], (1, int(gaussian.dimension)))
        }
        if self.n_varying:
            wishart = Wishart(self.n_varying)
            blocks["precision"] = Block(wishart, self._precision_prior(), (1, wishart.dimension))
        if self.is_scaled:
            blocks["scales"] = Block(Gamma(), self._scales_prior(), (self.n_varying, 2))
        return blocks

    def _precision_prior(self, scales: Array | None = None) -> Array:
        """Return eta of Q given g, for half-t deviations at the mean of g by default."""
        squares, degrees = self._squared_scales(), self.deviation_degrees
        if self.deviation_prior == "wishart":
            return Wishart(self.n_varying).natural(degrees * np.diag(squares), np.array(degrees))[None]
        g = 0.5 * squares if scales is None else scales
        scatter = 2.0 * degrees * np.diag(g)
        return Wishart(self.n_varying).natural(scatter, np.array(degrees + self.n_varying - 1.0))[None]

    def _scales_prior(self, diagonal: Array | float = 0.0) -> Array:
        """Return eta of g, with what Q says of it: shapes and rates."""
        given = np.ndim(diagonal) > 0
        shape = 0.5 + (0.5 * (self.deviation_degrees + self.n_varying - 1.0) if given else 0.0)
        rate = 1.0 / self._squared_scales() + self.deviation_degrees * diagonal
        return np.stack([np.full(self.n_varying, shape), rate], axis=-1)

    def _squared_scales(self) -> Array:
        return np.asarray(_spread(self.deviation_scale, self.n_varying) ** 2.0)

    def priors(self, views: Mapping[str, Array | Part]) -> Mapping[str, Array]:
        """Return the priors of Q given g and of g given Q."""
        if not self.is_scaled:
            return {}
        diagonal = np.diagonal(Wishart(self.n_varying).expand(stats_of(views["precision"])).precision[0])
        return {
            "precision": self._precision_prior(-stats_of(views["scales"])[:, 1]),
            "scales": self._scales_prior(np.array(diagonal)),
        }

    def init(self, rng: np.random.Generator) -> dict[str, Array]:
        """Return a rough lambda: as if little had been seen."""
        blocks, p, d = self.blocks(), self.n_fixed, self.n_varying
        gaussian = MultivariateGaussian(p)
        root = rng.normal(size=(p, 3 * p + 3))
        found = {"coefficients": gaussian.natural(rng.normal(0.0, 0.5, p), 2.0 * root @ root.T)[None]}
        if d:
            root, degrees = rng.normal(size=(d, 4 * d + 4)), 3.0 * d + 5.0
            found["precision"] = Wishart(d).natural(degrees * root @ root.T / (4 * d + 4), np.array(degrees))[None]
        for name, block in blocks.items():
            if name not in found:
                found[name] = block.prior + rng.gamma(10.0, 0.5, block.shape)
        return found

    def start(self, data: Groups, rng: np.random.Generator) -> dict[str, Array]:
        """Return what a regression without groups finds, and groups that differ by a part of what it leaves open."""
        rows = slice(data.indptr[0], data.indptr[-1])
        inputs, noise = data.inputs[rows], self.working(data.outputs[rows], data.weights[rows])
        x, blocks, n = inputs[:, self.fixed_columns], self.blocks(), max(len(inputs), 1)
        gaussian = MultivariateGaussian(self.n_fixed)
        weighted = x * noise.precisions[:, None]
        location, prior = gaussian.standard(blocks["coefficients"].prior[0])
        precision = prior + weighted.T @ x + _RIDGE * np.diag((weighted * x).sum(axis=0))
        mean: Array = np.linalg.solve(precision, prior @ location + weighted.T @ noise.values).astype(float)
        residuals = noise.values - x @ mean
        squares = float((noise.precisions * residuals**2).sum() / max(noise.precisions.sum(), 1e-300)) or 1.0
        found = {"coefficients": gaussian.natural(mean, precision * self._first_precision(squares))[None]}
        if self.n_varying:
            v = inputs[:, self.varying]
            deviations = _FIRST_SHARE**2 * squares / np.maximum((v**2).mean(axis=0), 1e-12)
            degrees = self.n_varying + 1.0 + min(len(data), 20)
            found["precision"] = Wishart(self.n_varying).natural(degrees * np.diag(deviations), np.array(degrees))[None]
        if self.is_scaled:
            found["scales"] = self._scales_prior(np.asarray(1.0 / deviations))
        return found | self._start_noise(n, squares)

    @abstractmethod
    def working(self, outputs: Array, weights: Array) -> Noise:
        """Return values of y on the scale of eta, for a first regression."""

    def _first_precision(self, squares: float) -> float:
        """Return what the precision of a first regression is multiplied with, given its mean squared residual."""
        return 1.0

    def _start_noise(self, n: int, squares: float) -> dict[str, Array]:
        """Return lambda of the blocks of noise at the start."""
        return {}

    def simulate(
        self, rng: np.random.Generator, n: int, *, values: Mapping[str, Array] | None = None
    ) -> tuple[dict[str, Array], Groups]:
        """Draw global parameters from the prior and n groups of 3 to 8 rows: a column of ones, others normal."""
        values = self._simulate_globals(rng) if values is None else values
        sizes = rng.integers(3, 9, n)
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        inputs = rng.normal(size=(indptr[-1], self.n_features))
        inputs[:, 0] = 1.0
        eta = inputs[:, self.fixed_columns] @ values["coefficients"][0]
        if self.n_varying:
            covariance = np.linalg.inv(unpack(values["precision"][0], self.n_varying))
            effects = rng.normal(size=(n, self.n_varying)) @ np.linalg.cholesky(covariance).T
            eta = eta + (inputs[:, self.varying] * np.repeat(effects, sizes, axis=0)).sum(axis=1)
        outputs, weights = self._simulate_outputs(rng, eta, values)
        return dict(values), Groups(indptr, inputs, outputs, weights)

    def _simulate_globals(self, rng: np.random.Generator) -> dict[str, Array]:
        """Draw the global parameters from the prior."""
        location, scale = (
            _spread(value, self.n_fixed) for value in (self.coefficient_location, self.coefficient_scale)
        )
        values = {"coefficients": rng.normal(location, scale)[None]}
        eta: Array | None = None
        if self.is_scaled:
            values["scales"] = rng.gamma(0.5, self._squared_scales())
            eta = self._precision_prior(values["scales"])
        if self.n_varying:
            prior = self._precision_prior() if eta is None else eta
            values["precision"] = draw_wishart(rng, self.n_varying, prior[0])[None]
        return values

    @abstractmethod
    def _simulate_outputs(
        self, rng: np.random.Generator, eta: Array, values: Mapping[str, Array]
    ) -> tuple[Array, Array]:
        """Draw y given the linear predictor of each row; return it and the weights."""


def draw_wishart(rng: np.random.Generator, order: int, lam: Array) -> Array:
    """Draw a precision matrix by the Bartlett decomposition, and return it as the family's `statistics` takes it."""
    scatter, degrees = Wishart(order).standard(lam)
    bartlett = np.tril(rng.normal(size=(order, order)), -1)
    bartlett += np.diag(np.sqrt(rng.chisquare(degrees - np.arange(order))))
    root = np.linalg.cholesky(np.linalg.inv(scatter)) @ bartlett
    return pack(root @ root.T)


def stats_of(view: Any) -> Array:
    """Return the statistics of a view, whole or of a part."""
    result: Array = view.stats if isinstance(view, Part) else view
    return result


def _spread(value: Numbers, size: int) -> Array:
    """Return a number for each of some columns."""
    return np.array(np.broadcast_to(np.asarray(value, dtype=float), (size,)))
