"""The likelihood of all groups at given global parameters, the effects b of each group integrated out.

Rows that are Gaussian have it in closed form. Successes out of trials have it by adaptive Gauss-Hermite quadrature,
around the mode of b and as wide as the curvature there. With few varying columns there are so many points that the
error does not matter; with more than three there is one point, which is Laplace's approximation.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from ssvi.batches.groups import Groups
from ssvi.families.symmetric import unpack
from ssvi.local_steps.hierarchical.approximate import find_mode, log_joint
from ssvi.local_steps.hierarchical.group import Rows, Seen, Work, make_sums, make_work
from ssvi.local_steps.hierarchical.links import LOGIT, PROBIT, log_ways
from ssvi.local_steps.hierarchical_linear.gaussian import gaussian_groups
from ssvi.models.hierarchical.base import HierarchicalRegression
from ssvi.models.hierarchical.linear import HierarchicalLinear
from ssvi.models.hierarchical.logistic import HierarchicalLogistic
from ssvi.numerics.compile import kernel
from ssvi.typing import Array

_POINTS = {1: 9, 2: 7, 3: 5}  # of an axis, by the number of varying columns; one for more, and for none
_NEWTON = 30  # steps to the mode at most
_NO_KEYS = np.zeros(0, dtype=np.uint64)


class Said(NamedTuple):
    """What all rows say at a draw: log p(y | beta, Q, tau) and, where they are Gaussian, how that depends on beta."""

    log_likelihood: float
    linear: Array
    quadratic: Array


@kernel
def _quadrature(
    rows: Rows, first: int, last: int, seen: Seen, link: int, nodes: Array, log_weights: Array, work: Work
) -> float:  # fmt: skip
    """Return log p(y | beta, Q) of a group."""
    d, k = work.mean.size, nodes.size
    half = find_mode(rows, first, last, seen, link, _NEWTON, work)
    total, largest, points = 0.0, -np.inf, k**d
    at = np.zeros(d)
    for point in range(points):
        left, extra = point, 0.0
        at[:] = work.mean
        for axis in range(d):
            node = left % k
            left //= k
            extra += log_weights[node] + 0.5 * nodes[node] ** 2
            for i in range(axis + 1):
                at[i] += work.inverse[axis, i] * nodes[node]
        value = extra + log_joint(rows, first, last, seen, link, at, work)
        if value > largest:
            total = total * np.exp(largest - value) + 1.0
            largest = value
        else:
            total += np.exp(value - largest)
    for i in range(first, last):
        largest += log_ways(rows.outputs[i], rows.weights[i])
    return 0.5 * seen.log_determinant - half + largest + math.log(total)


@kernel
def _count_groups(rows: Rows, seen: Seen, link: int, nodes: Array, log_weights: Array, work: Work) -> float:
    total = 0.0
    for n in range(rows.indptr.size - 1):
        total += _quadrature(rows, rows.indptr[n], rows.indptr[n + 1], seen, link, nodes, log_weights, work)
    return total


class Likelihood(ABC):
    """What all groups of some data say at a draw of the global parameters; not for two threads at once."""

    def __init__(self, model: HierarchicalRegression, data: Groups) -> None:
        self._model, self._rows = model, Rows(data.indptr, data.inputs, data.outputs, data.weights)
        longest = int(np.diff(data.indptr).max(initial=0))
        self._work = make_work(model.n_features, model.n_fixed, model.n_varying, longest)
        self._columns = (np.array(model.fixed_columns, dtype=np.int64), np.array(model.varying, dtype=np.int64))

    def at(self, values: Mapping[str, Array]) -> Said:
        """Return it at one draw, given by block as models simulate it."""
        d, half = self._model.n_varying, 0.0
        precision = np.zeros((0, 0))
        if d:
            precision = np.ascontiguousarray(unpack(values["precision"][0], d))
            half = float(np.linalg.slogdet(precision)[1])
        beta = np.ascontiguousarray(values["coefficients"][0])
        seen = Seen(*self._columns, beta, np.zeros((0, 0)), precision, half)
        return self._said(seen, float(values["noise"][0]) if "noise" in values else 1.0)

    @abstractmethod
    def _said(self, seen: Seen, tau: float) -> Said:
        """Go over all groups."""


class GaussianLikelihood(Likelihood):
    """Rows are Gaussian."""

    def __init__(self, model: HierarchicalRegression, data: Groups) -> None:
        super().__init__(model, data)
        n, d, p = len(data), model.n_varying, model.n_fixed
        self._moments = data.moments
        self._room = np.zeros((n, d)), np.zeros((n, d, d)), np.zeros((n, d, p))

    def _said(self, seen: Seen, tau: float) -> Said:
        sums, n = make_sums(self._model.n_fixed, self._model.n_varying), len(self._room[0])
        _, _, value = gaussian_groups(
            self._moments, 0, n, seen, tau, float(np.log(tau)), _NO_KEYS, False, self._work, sums, *self._room
        )
        return Said(value, sums.linear, sums.quadratic)


class CountLikelihood(Likelihood):
    """Rows are successes out of trials."""

    def __init__(self, model: HierarchicalRegression, data: Groups) -> None:
        super().__init__(model, data)
        self._link = LOGIT if isinstance(model, HierarchicalLogistic) else PROBIT
        self._nodes, weights = np.polynomial.hermite_e.hermegauss(_POINTS.get(model.n_varying, 1))
        self._log_weights = np.log(weights / weights.sum())

    def _said(self, seen: Seen, tau: float) -> Said:
        value = _count_groups(self._rows, seen, self._link, self._nodes, self._log_weights, self._work)
        return Said(value, np.zeros(0), np.zeros((0, 0)))


def likelihood_of(model: HierarchicalRegression, data: Groups) -> Likelihood:
    """Return the likelihood of a model's data."""
    return (GaussianLikelihood if isinstance(model, HierarchicalLinear) else CountLikelihood)(model, data)
