"""What the local steps of all multilevel regressions do around their kernels."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssvi.batches.groups import Groups
from ssvi.batches.moments import Moments
from ssvi.families.multivariate_gaussian import MultivariateGaussian
from ssvi.families.symmetric import pack
from ssvi.families.wishart import Wishart
from ssvi.local_steps.base import LocalResult, LocalStep
from ssvi.local_steps.hierarchical.group import Rows, Seen, Sums, Work, make_sums, make_work
from ssvi.models.hierarchical.base import HierarchicalRegression
from ssvi.numerics.random import Keys
from ssvi.tasks import Each
from ssvi.typing import Array

_NO_SPREAD = 1e-13  # of squares: a covariance that is nothing but rounding, of the view of one point


@dataclass(frozen=True)
class Prepared:
    """A minibatch and what the views say, in the form that kernels want; tau and E[log tau] are (1, 0) if known.

    `moments` are there if somebody has asked the minibatch for them.
    """

    rows: Rows
    seen: Seen
    tau: float
    log_tau: float
    moments: Moments | None = None


@dataclass(frozen=True)
class Found:
    """What a kernel fills in for some groups: sums of statistics, and for each the mean and covariance of b.

    `cross` is Cov(b_n, beta), in units of the covariance of beta: minus G.
    """

    sums: Sums
    effects: Array
    covariances: Array
    gains: Array
    work: Work


class HierarchicalStep(LocalStep):
    """A local step of a multilevel regression: subclasses run their kernel on some groups."""

    def prepare(
        self, model: HierarchicalRegression, views: Mapping[str, Any], batch: Groups, each: Each = map
    ) -> Prepared:
        """Take the views apart."""
        p, d = model.n_fixed, model.n_varying
        own = MultivariateGaussian(p).expand(views["coefficients"][0])
        spread = own.square - np.outer(own.value, own.value)
        is_point = bool((np.abs(np.diagonal(spread)) <= _NO_SPREAD * (np.diagonal(own.square) + 1e-300)).all())
        precision, log_determinant = np.zeros((d, d)), 0.0
        if d:
            group = Wishart(d).expand(views["precision"][0])
            precision, log_determinant = group.precision, float(group.log_determinant)
        tau = -float(views["noise"][0, 1]) if "noise" in views else 1.0
        log_tau = float(views["noise"][0, 0]) if "noise" in views else 0.0
        seen = Seen(
            np.array(model.fixed_columns, dtype=np.int64),
            np.array(model.varying, dtype=np.int64),
            np.ascontiguousarray(own.value),
            np.zeros((0, 0)) if is_point else np.ascontiguousarray(spread),
            np.ascontiguousarray(precision),
            log_determinant,
        )
        rows = Rows(batch.indptr, batch.inputs, batch.outputs, batch.weights)
        return Prepared(rows, seen, tau, log_tau, vars(batch).get("moments"))

    def room(self, model: HierarchicalRegression, prepared: Prepared, start: int, stop: int) -> Found:
        """Return room for what is found on some groups."""
        p, d, n = model.n_fixed, model.n_varying, stop - start
        longest = int(np.diff(prepared.rows.indptr[start : stop + 1]).max(initial=0))
        work = make_work(model.n_features, p, d, longest)
        return Found(make_sums(p, d), np.zeros((n, d)), np.zeros((n, d, d)), np.zeros((n, d, p)), work)

    def result(
        self,
        model: HierarchicalRegression,
        found: Found,
        bound: float | None = None,
        noise: tuple[float, float] = (0.0, 0.0),
    ) -> LocalResult:
        """Return statistics in the blocks' shapes, and b of each group."""
        n, sums = len(found.effects), found.sums
        eta_hat: dict[str, Array] = {"coefficients": np.concatenate([sums.linear, pack(sums.quadratic)])[None]}
        if model.n_varying:
            eta_hat["precision"] = np.append(pack(sums.scatter), float(n))[None]
        for name, shape in model.shapes.items():
            if name not in eta_hat:
                eta_hat[name] = np.array([noise]) if name == "noise" else np.zeros(shape)
        local = {"effects": found.effects, "covariances": found.covariances, "gains": found.gains}
        return LocalResult(eta_hat, local, bound)

    @abstractmethod
    def run(self, model: HierarchicalRegression, prepared: Prepared, start: int, stop: int, keys: Keys) -> LocalResult:
        """Handle groups start, ..., stop - 1."""
