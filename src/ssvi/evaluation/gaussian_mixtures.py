"""The log probability of rows under a Gaussian mixture: its posterior predictive density, as q has it.

E_q[p(x | beta)] is a mixture of Student distributions with the weights E_q[pi] (Bishop 2006, 10.81): what q does not
know of a component makes its tails wide. Missing entries are integrated out.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import special

from ssvi.backends.base import Backend
from ssvi.backends.shards import shards
from ssvi.backends.threads import Threads
from ssvi.batches import DenseRows
from ssvi.local_steps.gaussian_mixture.dense import DenseGaussians
from ssvi.local_steps.gaussian_mixture.rows import kinds_of
from ssvi.models.covariances import Students
from ssvi.models.gaussian_mixture import GaussianMixture
from ssvi.numerics.cholesky import cholesky
from ssvi.typing import Array


def log_predictive_joint(
    model: GaussianMixture, parameters: Mapping[str, Array], rows: DenseRows, *, backend: Backend | None = None
) -> Array:
    """Return log p(x_o, z = k) of each row under q, rows x K."""
    students = model.covariance.students(parameters["components"], 1.0)
    log_weights = np.log(model.mean_weights(parameters))
    density = (_Columns if students.scales.ndim == 2 else _Rows)(students)

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


def draw_rows(
    model: GaussianMixture, parameters: Mapping[str, Array], rng: np.random.Generator, n: int
) -> tuple[Array, npt.NDArray[np.int64]]:
    """Draw n rows from the posterior predictive density; return them and their components."""
    students = model.covariance.students(parameters["components"], 1.0)
    z = rng.choice(model.n_components, n, p=model.mean_weights(parameters))
    rows = rng.normal(size=(n, model.n_features))
    for k in range(model.n_components):
        own = z == k
        scale, degrees = students.scales[k], students.degrees[k]
        if scale.ndim == 1:
            widths = np.sqrt(scale * degrees / rng.chisquare(degrees, (int(own.sum()), model.n_features)))
            rows[own] = students.means[k] + widths * rows[own]
        else:
            widths = np.sqrt(degrees / rng.chisquare(degrees, (int(own.sum()), 1)))
            rows[own] = students.means[k] + widths * (rows[own] @ cholesky(scale[None])[0].T)
    return rows, z


class _Rows:
    """Student distributions of whole rows."""

    def __init__(self, students: Students) -> None:
        self._degrees = students.degrees
        inverses = np.linalg.inv(students.scales).astype(np.float64)
        self._gaussians = DenseGaussians.of(students.means, inverses)
        diagonals = np.diagonal(cholesky(students.scales), axis1=1, axis2=2)
        self._log_determinants = 2.0 * np.log(diagonals).sum(axis=1)

    def __call__(self, values: Array) -> Array:
        """Return the log density of what is known of each row, rows x K; 0 where nothing is."""
        kinds = kinds_of(values)
        squares, lost = np.zeros((len(values), len(self._degrees))), np.zeros((len(values), len(self._degrees)))
        of_partial = np.empty((len(kinds.partial), len(self._degrees)))
        self._gaussians.squares(values, kinds.complete, kinds.partial, squares, of_partial)
        lost[kinds.partial] = of_partial
        known = (~np.isnan(values)).sum(axis=1, keepdims=True)
        constants = _constants(self._degrees, known) - 0.5 * (self._log_determinants + lost)
        logs: Array = constants - 0.5 * (self._degrees + known) * np.log1p(squares / self._degrees)
        logs[kinds.unknown] = 0.0
        return logs


class _Columns:
    """Rows whose columns have Student distributions of their own."""

    def __init__(self, students: Students) -> None:
        self._students = students
        self._constants = _constants(students.degrees, 1) - 0.5 * np.log(students.scales)

    def __call__(self, values: Array) -> Array:
        """Return the log density of what is known of each row, rows x K."""
        out = np.empty((len(values), len(self._constants)))
        for k, (mean, scale, degrees) in enumerate(zip(*self._students, strict=True)):
            logs = self._constants[k] - 0.5 * (degrees + 1.0) * np.log1p((values - mean) ** 2 / (scale * degrees))
            out[:, k] = np.where(np.isnan(values), 0.0, logs).sum(axis=1)
        return out


def _constants(degrees: Array, columns: Any) -> Array:
    """Return the part of a Student distribution's log density that knows neither its place nor its width."""
    result: Array = (
        special.gammaln(0.5 * (degrees + columns)) - special.gammaln(0.5 * degrees)
        - 0.5 * columns * (np.log(degrees) + math.log(math.pi))
    )  # fmt: skip
    return result
