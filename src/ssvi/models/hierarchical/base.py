"""What all multilevel regressions are: coefficients that all groups share, and those in which groups differ.

    beta ~ N(location, scale^2),  b_n ~ N(0, Q^-1),  y_i given eta_i = x_i . beta + v_i . b_n for rows i of group n

x_i are the `fixed` columns of a row, v_i the `varying` ones. Most columns that vary are fixed too, so that a group's
own coefficient is beta_j + b_nj. All of beta is one Gaussian block, which keeps how its numbers hang together.

Priors of Q are in `deviations`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ssvi.batches.groups import Groups
from ssvi.families.gamma import Gamma
from ssvi.families.learned import Usual
from ssvi.families.multivariate_gaussian import MultivariateGaussian
from ssvi.families.symmetric import unpack
from ssvi.families.wishart import Wishart
from ssvi.local_steps.base import Part
from ssvi.models.base import Block, Model, check_learned
from ssvi.models.hierarchical.deviations import DeviationPrior
from ssvi.typing import Array

Numbers = float | tuple[float, ...]
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
    spreads, spread : tuple of int, float
        The places of some fixed columns, and what their `coefficient_scale` is multiplied by.
    learned : () or ("spread",)
        What a fit learns; the value given is where it starts.

    """

    n_features: int
    fixed: tuple[int, ...] | None = None
    varying: tuple[int, ...] = (0,)
    coefficient_location: Numbers = 0.0
    coefficient_scale: Numbers = 10.0
    deviation_prior: str = "half_t"
    deviation_scale: Numbers = 10.0
    deviation_degrees: float = 2.0
    spreads: tuple[int, ...] = ()
    spread: float = 1.0
    learned: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not all(0 <= place < self.n_fixed for place in self.spreads):
            raise ValueError(f"spreads must be places of the {self.n_fixed} fixed columns, not {self.spreads!r}.")
        check_learned(self)

    def usual_numbers(self) -> Mapping[str, Usual]:
        """Return what coefficients that belong together are multiplied by."""
        return {"spread": Usual(1.0)} if self.spreads else {}

    @property
    def coefficient_scales(self) -> Array:
        """The deviation of the prior of each coefficient."""
        scales = _spread(self.coefficient_scale, self.n_fixed)
        scales[list(self.spreads)] *= self.spread
        return scales

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
    def deviations(self) -> DeviationPrior:
        """The prior of Q."""
        squares = _spread(self.deviation_scale, self.n_varying) ** 2.0
        return DeviationPrior(self.deviation_prior, squares, self.deviation_degrees)

    def blocks(self) -> Mapping[str, Block]:
        """Return beta, and Q with its scales where there are groups."""
        gaussian = MultivariateGaussian(self.n_fixed)
        precision = np.diag(self.coefficient_scales**-2.0)
        location = _spread(self.coefficient_location, self.n_fixed)
        blocks = {
            "coefficients": Block(gaussian, gaussian.natural(location, precision)[None], (1, int(gaussian.dimension)))
        }
        if self.n_varying:
            wishart = Wishart(self.n_varying)
            blocks["precision"] = Block(wishart, self.deviations.precision(), (1, wishart.dimension))
        if self.deviations.is_scaled:
            blocks["scales"] = Block(Gamma(), self.deviations.scales(), (self.n_varying, 2))
        return blocks

    @cached_property
    def shapes(self) -> Mapping[str, tuple[int, ...]]:
        """The shapes of the blocks."""
        return {name: block.shape for name, block in self.blocks().items()}

    def log_prior(self, values: Mapping[str, Array]) -> Array:
        """Return log p / h of draws of all blocks but beta, scales integrated out; but for a constant."""
        return self.deviations.log_density(values["precision"][:, 0]) if self.n_varying else np.zeros(1)

    def priors(self, views: Mapping[str, Array | Part]) -> Mapping[str, Array]:
        """Return the priors of Q given g and of g given Q."""
        prior = self.deviations
        if not prior.is_scaled:
            return {}
        diagonal = np.diagonal(Wishart(self.n_varying).expand(stats_of(views["precision"])).precision[0])
        return {
            "precision": prior.precision(-stats_of(views["scales"])[:, 1]),
            "scales": prior.scales(np.array(diagonal)),
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
        if self.deviations.is_scaled:
            found["scales"] = self.deviations.scales(np.asarray(1.0 / deviations))
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
        location = _spread(self.coefficient_location, self.n_fixed)
        values = {"coefficients": rng.normal(location, self.coefficient_scales)[None]}
        return values | (self.deviations.simulate(rng) if self.n_varying else {})

    @abstractmethod
    def _simulate_outputs(
        self, rng: np.random.Generator, eta: Array, values: Mapping[str, Array]
    ) -> tuple[Array, Array]:
        """Draw y given the linear predictor of each row; return it and the weights."""


def stats_of(view: Any) -> Array:
    """Return the statistics of a view, whole or of a part."""
    result: Array = view.stats if isinstance(view, Part) else view
    return result


def _spread(value: Numbers, size: int) -> Array:
    """Return a number for each of some columns."""
    return np.array(np.broadcast_to(np.asarray(value, dtype=float), (size,)))
