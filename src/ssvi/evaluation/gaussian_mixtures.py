"""The log probability of rows under a Gaussian mixture: its posterior predictive density, as q has it.

E_q[p(x | beta)] is a mixture of Student distributions with the weights E_q[pi] (Bishop 2006, 10.81): what q does not
know of a component makes its tails wide. Missing entries are integrated out.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt
from scipy import special

from ssvi.backends.base import Backend
from ssvi.backends.shards import shards
from ssvi.backends.threads import Threads
from ssvi.batches import DenseRows
from ssvi.local_steps.gaussian_mixture.students import density_of
from ssvi.models.gaussian_mixture import GaussianMixture
from ssvi.numerics.cholesky import cholesky
from ssvi.typing import Array


def log_predictive_joint(
    model: GaussianMixture, parameters: Mapping[str, Array], rows: DenseRows, *, backend: Backend | None = None
) -> Array:
    """Return log p(x_o, z = k) of each row under q, rows x K."""
    students = model.covariance.students(parameters["components"], 1.0)
    log_weights = np.log(model.mean_weights(parameters))
    density = density_of(students)

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
