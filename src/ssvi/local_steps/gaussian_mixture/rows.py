"""What the local steps of the Gaussian mixture share.

log p(x, z = k) = log pi_k - |L_k^T (x - m_k)|^2 / 2 - e_k / 2 + log|Lambda_k| / 2 - D / 2 log 2 pi, with the four
statistics as the view has them: m = Lambda^-1 (Lambda mu), and e = mu^T Lambda mu - m^T Lambda m is the spread of mu if
they are means over q. No difference of large numbers is taken.

Missing entries are hidden variables, and q of them is exact given beta. Where columns are independent that is to leave
them out. A row of which nothing is known has probability 1 under every beta: it adds nothing to eta-hat or to the
bound, and its component has the probabilities of the weights.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ssvi.batches import DenseRows
from ssvi.local_steps.base import LocalResult, LocalStep
from ssvi.local_steps.gaussian_mixture.columns import ColumnGaussians
from ssvi.local_steps.gaussian_mixture.dense import DenseGaussians, Rows
from ssvi.local_steps.mixtures import draw_components, normalise
from ssvi.models.covariances import Sums
from ssvi.models.gaussian_mixture import GaussianMixture
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys
from ssvi.tasks import Each
from ssvi.typing import Array

_LARGEST = 1e6  # a log weight beyond this says no more than this, and infinities would meet as NaN
_LOG_TWO_PI = math.log(2.0 * math.pi)


class Kinds(NamedTuple):
    """Which rows have all entries, some (those with the same ones together), or none."""

    complete: Rows
    partial: Rows
    unknown: Rows


def kinds_of(values: Array) -> Kinds:
    """Tell rows apart by what is missing."""
    missing = np.isnan(values)
    if not missing.any():  # as it mostly is; sums over short rows are slow
        return Kinds(np.arange(len(values)), np.empty(0, np.int64), np.empty(0, np.int64))
    counts = missing.sum(axis=1)
    partial = np.flatnonzero((counts > 0) & (counts < values.shape[1]))
    if len(partial):
        partial = np.concatenate([partial[own] for _, own in DenseRows(values[partial]).patterns()])
    return Kinds(np.flatnonzero(counts == 0), partial, np.flatnonzero(counts == values.shape[1]))


@dataclass(frozen=True)
class Prepared:
    """A minibatch, and the view in the form that kernels want.

    Attributes
    ----------
    rows : DenseRows
        The minibatch.
    log_weights : (K,)
        log pi.
    constants : (K,), or (K, D) for independent columns
        What is added to log p besides the distance.
    gaussians : DenseGaussians or ColumnGaussians
        The components.

    """

    rows: DenseRows
    log_weights: Array
    constants: Array
    gaussians: DenseGaussians | ColumnGaussians

    def log_joint(self, values: Array, kinds: Kinds) -> Array:
        """Return log p(x_o, z = k), rows x K."""
        out = np.empty((len(values), len(self.log_weights)))
        out[kinds.unknown] = self.log_weights
        if isinstance(self.gaussians, ColumnGaussians):
            self.gaussians.log_joint(values, kinds.complete, kinds.partial, self.log_weights, out)
            return out
        lost = np.empty((len(kinds.partial), out.shape[1]))
        self.gaussians.squares(values, kinds.complete, kinds.partial, out, lost)
        base = self.log_weights + self.constants
        _to_scores(out, kinds.complete, base)
        missing = np.isnan(values[kinds.partial]).sum(axis=1, keepdims=True)
        out[kinds.partial] = base - 0.5 * (out[kinds.partial] + lost - missing * _LOG_TWO_PI)
        return out

    def log_probability(self, start: int, stop: int) -> Array:
        """Return log p(x_o) of some rows under the view."""
        values = np.ascontiguousarray(self.rows.values[start:stop])
        logs = np.empty(len(values))
        normalise_rows(self.log_joint(values, kinds_of(values)), logs)
        return logs

    def sums(self, values: Array, kinds: Kinds, local: Array, keys: Keys, sampled: bool) -> Sums:
        """Return the sums that eta-hat is made of."""
        if isinstance(self.gaussians, ColumnGaussians):
            return self.gaussians.sums(values, kinds.complete, kinds.partial, local)
        return self.gaussians.sums(values, kinds.complete, kinds.partial, local, keys, sampled)


@kernel
def _to_scores(squares: Array, rows: Rows, base: Array) -> None:
    """Turn squared distances into log probabilities, in place."""
    for n in rows:
        for k in range(base.size):
            squares[n, k] = base[k] - 0.5 * squares[n, k]


@kernel
def normalise_rows(scores: Array, log_probability: Array) -> None:
    """Turn log p(x, z = k) into p(z = k | x), in place, and fill in log p(x)."""
    for n in range(scores.shape[0]):
        log_probability[n] = normalise(scores[n])


def prepare_components(model: GaussianMixture, log_weights: Array, view: Array, rows: DenseRows) -> Prepared:
    """Factor the precisions of a view of components."""
    seen = model.covariance.gaussians(view)
    constants = 0.5 * (seen.log_determinants - seen.excess)
    if model.covariance.independent:
        constants -= 0.5 * _LOG_TWO_PI
        columns = ColumnGaussians(np.ascontiguousarray(seen.means), np.sqrt(seen.precisions), constants)
        return Prepared(rows, log_weights, constants, columns)
    constants -= 0.5 * model.n_features * _LOG_TWO_PI
    return Prepared(rows, log_weights, constants, DenseGaussians.of(seen.means, seen.precisions))


class MixtureStep(LocalStep):
    """Components and missing entries, expected or drawn."""

    model = "gaussian_mixture"
    sampled: bool

    def check(self, batch: DenseRows) -> None:
        """Raise if a number is infinite."""
        infinite = np.isinf(batch.values)
        if infinite.any():
            row, column = np.argwhere(infinite)[0]
            raise ValueError(
                f"there is an infinite number in row {row}, column {column}: a Gaussian mixture needs finite ones, and "
                "NaN for those that are missing."
            )

    def prepare(
        self, model: GaussianMixture, views: Mapping[str, Array], batch: DenseRows, each: Each = map
    ) -> Prepared:
        """Factor the precisions of the view."""
        log_weights = np.maximum(views["weights"][0], -_LARGEST)
        return prepare_components(model, log_weights, views["components"], batch)

    def run(self, model: GaussianMixture, prepared: Prepared, start: int, stop: int, keys: Keys) -> LocalResult:
        """Handle rows start, ..., stop - 1."""
        values = np.ascontiguousarray(prepared.rows.values[start:stop])
        kinds = kinds_of(values)
        local, log_probability = prepared.log_joint(values, kinds), np.empty(len(values))
        normalise_rows(local, log_probability)
        log_probability[kinds.unknown] = 0.0
        if self.sampled:
            draw_components(local, keys)
        sums = prepared.sums(values, kinds, local, keys, self.sampled)
        known = local.sum(axis=0) - local[kinds.unknown].sum(axis=0)
        eta_hat = {"weights": known[None], "components": model.covariance.natural(sums)}
        return LocalResult(eta_hat, {"responsibilities": local}, self._bound(log_probability))

    def local(self, model: GaussianMixture, prepared: Prepared, start: int, stop: int, keys: Keys) -> dict[str, Array]:
        """Return each row's shares of components, without statistics."""
        values = np.ascontiguousarray(prepared.rows.values[start:stop])
        local = prepared.log_joint(values, kinds_of(values))
        normalise_rows(local, np.empty(len(values)))
        if self.sampled:
            draw_components(local, keys)
        return {"responsibilities": local}

    @abstractmethod
    def _bound(self, log_probability: Array) -> float | None:
        """Return the sum of the rows' local ELBOs, if the step optimises one."""
