"""What a fitted multilevel regression says of coefficients, of groups, and of further rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from ssvi.backends.base import Backend
from ssvi.batches.groups import Groups
from ssvi.families.multivariate_gaussian import MultivariateGaussian
from ssvi.families.symmetric import unpack
from ssvi.families.wishart import Wishart
from ssvi.local_steps.base import LocalStep
from ssvi.models.hierarchical.base import HierarchicalRegression
from ssvi.models.hierarchical.units import Units
from ssvi.numerics.random import derive_keys
from ssvi.typing import Array

UNKNOWN, AVERAGE = -1, -2
"""Places of a group that the fit has not seen, and of the average group."""

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(21)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()

Places = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Globals:
    """Draws in the data's units: coefficients, the population's covariance, and the noise's deviation."""

    coefficients: Array
    covariances: Array
    noise: Array | None

    @classmethod
    def of(cls, model: HierarchicalRegression, values: Mapping[str, Array], units: Units) -> Globals:
        """Take draws by block, as models simulate them."""
        coefficients = values["coefficients"][:, 0] * units.factors(model.fixed_columns)
        noise = units.output / np.sqrt(values["noise"][:, 0]) if "noise" in values else None
        factors = units.factors(model.varying)
        return cls(coefficients, _covariances(model, values) * np.outer(factors, factors), noise)

    @property
    def deviations(self) -> Array:
        """Of each varying column between groups, a row a draw."""
        return np.sqrt(np.diagonal(self.covariances, axis1=1, axis2=2))

    @property
    def correlations(self) -> Array:
        """Of the varying columns between groups."""
        deviations = self.deviations
        return np.asarray(self.covariances / (deviations[:, :, None] * deviations[:, None, :]))


@dataclass(frozen=True)
class GroupPosterior:
    """b of some groups under q, in units of the model.

    Attributes
    ----------
    means, covariances : (groups, d), (groups, d, d)
        Over draws of the global parameters, and over what is open given them.
    cross : (groups, d, p)
        Covariances with beta.

    """

    means: Array
    covariances: Array
    cross: Array


def group_posterior(
    step: LocalStep,
    model: HierarchicalRegression,
    values: Mapping[str, Array],
    data: Groups,
    backend: Backend,
    seed: int,
) -> GroupPosterior:
    """Run the local step at draws of the global parameters."""
    count = len(values["coefficients"])
    values = dict(values) | {name: np.ones((count, 1)) for name in model.blocks() if name not in values}
    beta = values["coefficients"][:, 0] - values["coefficients"][:, 0].mean(axis=0)
    n, d, keys = len(data), model.n_varying, derive_keys(seed, len(data))
    mean, square, cross = np.zeros((n, d)), np.zeros((n, d, d)), np.zeros((n, d, model.n_fixed))
    inner = np.zeros((n, d, d))
    first: Array | None = None
    for draw in range(count):
        views = model.statistics_of({name: value[draw] for name, value in values.items()})
        local = backend.map_local(step, model, views, data, keys)
        first = local["effects"] if first is None else first
        moved = local["effects"] - first  # without a shift, squares would lose digits
        mean += moved / count
        square += moved[:, :, None] * moved[:, None, :] / count
        cross += moved[:, :, None] * beta[draw] / count
        inner += local["covariances"] / count
    between = square - mean[:, :, None] * mean[:, None, :]
    return GroupPosterior(mean + (0.0 if first is None else first), inner + between, cross)


@dataclass(frozen=True)
class Known:
    """What is known of the average group and of the population, in units of the model.

    Attributes
    ----------
    mean, covariance : (p,), (p, p)
        Of beta.
    population : (d, d)
        E[Q^-1]; under a q that has none, the inverse of E[Q].

    """

    mean: Array
    covariance: Array
    population: Array

    @classmethod
    def of_q(cls, model: HierarchicalRegression, parameters: Mapping[str, Array]) -> Known:
        """Take q."""
        mean, precision = MultivariateGaussian(model.n_fixed).standard(parameters["coefficients"][0])
        d, population = model.n_varying, np.zeros((0, 0))
        if d:
            scatter, degrees = Wishart(d).standard(parameters["precision"][0])
            population = np.asarray(scatter / (degrees - d - 1.0 if degrees > d + 1.5 else degrees))
        return cls(mean, np.asarray(np.linalg.inv(precision), dtype=float), population)

    @classmethod
    def of_draws(cls, model: HierarchicalRegression, values: Mapping[str, Array]) -> Known:
        """Take draws of equal weight."""
        beta = values["coefficients"][:, 0]
        covariance = np.atleast_2d(np.cov(beta, rowvar=False))
        return cls(beta.mean(axis=0), covariance, _covariances(model, values).mean(axis=0))


def likely_size(draws: Array) -> Array:
    """Return a likely value of positive numbers: the mode of the gamma distribution with their mean and variance.

    It lies near the posterior's mode, which is what restricted maximum likelihood reports, and has much less noise than
    a mode that is read off a histogram. It is 0 where deviations are as large as means.
    """
    mean = draws.mean(axis=0)
    return np.asarray(np.maximum(mean - draws.var(axis=0) / np.maximum(mean, 1e-300), 0.0))


def _covariances(model: HierarchicalRegression, values: Mapping[str, Array]) -> Array:
    """Return Q^-1 of each draw."""
    if not model.n_varying:
        return np.zeros((len(values["coefficients"]), 0, 0))
    return np.asarray(np.linalg.inv(unpack(values["precision"][:, 0], model.n_varying)))


@dataclass(frozen=True)
class Predictor:
    """The linear predictor of rows under q, in units of the model: its mean and its variance."""

    model: HierarchicalRegression
    known: Known
    groups: GroupPosterior

    def eta(self, inputs: Array, places: Places) -> tuple[Array, Array]:
        """Return mean and variance of eta for rows of known groups, of the average one, and of ones not seen.

        A group that was not seen is a draw from the population: its effects have mean 0 and the population's
        covariance (as its posterior mean has it).
        """
        model = self.model
        x, v = inputs[:, model.fixed_columns], inputs[:, model.varying]
        eta, variance = x @ self.known.mean, ((x @ self.known.covariance) * x).sum(axis=1)
        known = np.flatnonzero(places >= 0)
        if model.n_varying and len(known):
            own, rows, at = self.groups, v[known], places[known]
            eta[known] += (rows * own.means[at]).sum(axis=1)
            variance[known] += np.einsum("nd,nde,ne->n", rows, own.covariances[at], rows)
            variance[known] += 2.0 * np.einsum("nd,ndp,np->n", rows, own.cross[at], x[known])
        unknown = np.flatnonzero(places == UNKNOWN)
        if model.n_varying and len(unknown):
            variance[unknown] += ((v[unknown] @ self.known.population) * v[unknown]).sum(axis=1)
        return eta, np.maximum(variance, 0.0)


def mean_share(kind: Any, eta: Array, variance: Array) -> Array:
    """Return the mean over N(eta, variance) of a probability as a function of eta, by Gauss-Hermite quadrature."""
    nodes = eta[:, None] + np.sqrt(variance)[:, None] * _NODES
    return np.asarray(kind(nodes) @ _WEIGHTS)


def mean_normal_share(eta: Array, variance: Array) -> Array:
    """Return the mean over N(eta, variance) of Phi(eta)."""
    return np.asarray(special.ndtr(eta / np.sqrt(1.0 + variance)))
