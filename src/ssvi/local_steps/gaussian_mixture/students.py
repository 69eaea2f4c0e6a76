"""Student distributions of rows: what a component's posterior predicts. Missing entries are integrated out."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from ssvi.local_steps.gaussian_mixture.dense import DenseGaussians
from ssvi.local_steps.gaussian_mixture.rows import kinds_of
from ssvi.models.covariances import Students
from ssvi.numerics.cholesky import cholesky
from ssvi.typing import Array


def density_of(students: Students) -> Callable[[Array], Array]:
    """Return what gives the log density of what is known of each row, rows x K; 0 where nothing is."""
    return (_Columns if students.scales.ndim == 2 else _Rows)(students)


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
