"""The log probability of rows under a Gaussian mixture: its posterior predictive density, as q has it.

E_q[p(x | beta)] is a mixture of Student distributions with the weights E_q[pi] (Bishop 2006, 10.81): what q does not
know of a component makes its tails wide. Missing entries are integrated out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np
from scipy import special

from ssvi.backends.base import Backend
from ssvi.backends.shards import shards
from ssvi.backends.threads import Threads
from ssvi.batches import DenseRows
from ssvi.local_steps.gaussian_mixture.common import kinds_of
from ssvi.local_steps.gaussian_mixture.dense import DenseGaussians
from ssvi.models.gaussian_covariances import Predictive
from ssvi.models.gaussian_mixture import GaussianMixture
from ssvi.numerics.cholesky import cholesky
from ssvi.typing import Array


def log_predictive_joint(
    model: GaussianMixture, parameters: Mapping[str, Array], rows: DenseRows, *, backend: Backend | None = None
) -> Array:
    """Return log p(x_o, z = k) of each row under q, rows x K."""
    predictive = model.covariance.predictive(parameters["components"])
    log_weights = np.log(model.mean_weights(parameters))
    density = _by_column(predictive) if predictive.scales.ndim == 2 else _Student(predictive)

    def run(shard: slice) -> Array:
        return density(np.ascontiguousarray(rows.values[shard])) + log_weights

    return np.concatenate(list((backend or Threads()).workers.map(run, shards(rows.costs()))))


def log_predictive(
    model: GaussianMixture,
    estimates: Iterable[Mapping[str, Array]],
    rows: DenseRows,
    *,
    backend: Backend | None = None,
) -> Array:
    """Return the log probability of each row, averaged over one or several lambda."""
    logs = [
        special.logsumexp(log_predictive_joint(model, parameters, rows, backend=backend), axis=1)
        for parameters in estimates
    ]
    result: Array = np.logaddexp.reduce(logs, axis=0) - np.log(len(logs))
    return result


class _Student:
    """Student distributions of whole rows."""

    def __init__(self, predictive: Predictive) -> None:
        self._degrees = predictive.degrees
        self._gaussians = DenseGaussians.of(predictive.means, np.linalg.inv(predictive.scales))
        diagonals = np.diagonal(cholesky(predictive.scales), axis1=1, axis2=2)
        self._log_determinants = 2.0 * np.log(diagonals).sum(axis=1)

    def __call__(self, values: Array) -> Array:
        """Return the log density of what is known of each row, rows x K; 0 where nothing is."""
        kinds = kinds_of(values)
        squares, lost = np.zeros((len(values), len(self._degrees))), np.zeros((len(values), len(self._degrees)))
        of_partial = np.empty((len(kinds.partial), len(self._degrees)))
        self._gaussians.squares(values, kinds.complete, kinds.partial, squares, of_partial)
        lost[kinds.partial] = of_partial
        known = (~np.isnan(values)).sum(axis=1, keepdims=True)
        constants = _student_constants(self._degrees, known) - 0.5 * (self._log_determinants + lost)
        logs: Array = constants - 0.5 * (self._degrees + known) * np.log1p(squares / self._degrees)
        logs[kinds.unknown] = 0.0
        return logs


def _by_column(predictive: Predictive):  # type: ignore[no-untyped-def]
    """Return what gives the log density of rows whose columns have Student distributions of their own."""
    constants = _student_constants(predictive.degrees, 1) - 0.5 * np.log(predictive.scales)

    def density(values: Array) -> Array:
        out = np.empty((len(values), len(constants)))
        for k, (mean, scale, degrees) in enumerate(zip(*predictive, strict=True)):
            logs = constants[k] - 0.5 * (degrees + 1.0) * np.log1p((values - mean) ** 2 / (scale * degrees))
            out[:, k] = np.where(np.isnan(values), 0.0, logs).sum(axis=1)
        return out

    return density


def _student_constants(degrees: Array, columns: Array | int) -> Array:
    """Return the part of a Student distribution's log density that knows neither its place nor its width."""
    result: Array = (
        special.gammaln(0.5 * (degrees + columns)) - special.gammaln(0.5 * degrees)
        - 0.5 * columns * (np.log(degrees) + math.log(math.pi))
    )  # fmt: skip
    return result
