"""Multivariate Gaussian mean: lambda = (Lambda m, Lambda), t(beta) = (beta, -beta beta^T / 2), h = (2 pi)^(-D/2).

This is the family of an unknown mean beta (or of coefficients) of Gaussian data whose precision is known: an
observation y of precision matrix P adds (P y, P), one y = x . beta + noise of precision tau adds (tau y x, tau x x^T).
Symmetric matrices are packed (see `symmetric`).
"""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy import special

from ssvi.families.base import ExponentialFamily, as_rows
from ssvi.families.draws import Draw
from ssvi.families.symmetric import pack, pack_dual, packed_size, unpack, unpack_dual
from ssvi.numerics.cholesky import cholesky, cholesky_pullback, invert_lower
from ssvi.numerics.random import Keys, normal_rows
from ssvi.typing import Array


class GaussianParameters(NamedTuple):
    """Usual parameters: the mean m, (..., D), and the precision matrix Lambda, (..., D, D)."""

    mean: Array
    precision: Array


class GaussianStatistics(NamedTuple):
    """What statistics tell: beta, (..., D), and beta beta^T, (..., D, D), or their means."""

    value: Array
    square: Array


class _Factors(NamedTuple):
    """Lambda = L L^T, L^-1, and L^-1 (Lambda m) = L^T m."""

    lower: Array
    inverse: Array
    whitened: Array

    @property
    def mean(self) -> Array:
        """M = L^-T L^T m."""
        return _transposed_times(self.inverse, self.whitened)


def _times(matrices: Array, vectors: Array) -> Array:
    result: Array = (matrices @ vectors[..., None])[..., 0]
    return result


def _transposed_times(matrices: Array, vectors: Array) -> Array:
    result: Array = (vectors[..., None, :] @ matrices)[..., 0, :]
    return result


def _outer(first: Array, second: Array) -> Array:
    return first[..., :, None] * second[..., None, :]


class MultivariateGaussian(ExponentialFamily):
    """Vectors beta with mean m and precision matrix Lambda, both in lambda."""

    name = "multivariate_gaussian"
    has_location = True

    def __init__(self, size: int) -> None:
        if size < 1:
            raise ValueError(f"a vector needs at least one coordinate, not {size}.")
        self.size = size

    @property
    def parameters(self) -> tuple[int]:
        """The number D of coordinates."""
        return (self.size,)

    @property
    def dimension(self) -> int:
        """The numbers of Lambda m and of Lambda, packed."""
        return self.size + packed_size(self.size)

    def natural(self, mean: Array, precision: Array) -> Array:
        """Return lambda from the mean m and the precision matrix Lambda."""
        return np.concatenate([_times(precision, mean), pack(precision)], axis=-1)

    def standard(self, lam: Array) -> GaussianParameters:
        """Return the mean and the precision matrix."""
        precision = unpack(lam[..., self.size :], self.size)
        mean: Array = np.linalg.solve(precision, lam[..., : self.size, None]).astype(float)
        return GaussianParameters(mean[..., 0], precision)

    def expand(self, stats: Array) -> GaussianStatistics:
        """Return statistics as named arrays."""
        return GaussianStatistics(stats[..., : self.size], -2.0 * unpack_dual(stats[..., self.size :], self.size))

    def values(self, stats: Array) -> Array:
        """Return beta."""
        return stats[..., : self.size]

    def statistics(self, values: Array) -> Array:
        """Return (beta, -beta beta^T / 2)."""
        return np.concatenate([values, -0.5 * pack_dual(_outer(values, values))], axis=-1)

    def log_normalizer(self, lam: Array) -> Array:
        """Return m^T Lambda m / 2 - log|Lambda| / 2."""
        factors = self._factors(as_rows(lam))
        log_diagonal = np.log(np.diagonal(factors.lower, axis1=-2, axis2=-1)).sum(axis=-1)
        result: Array = 0.5 * (factors.whitened**2).sum(axis=-1) - log_diagonal
        return result.reshape(lam.shape[:-1])

    def seen(self, lam: Array, prior: Array) -> Array:
        """Return lambda less its prior, and nothing in directions in which that is no precision."""
        rows = as_rows(lam - prior)
        sizes, axes = np.linalg.eigh(unpack(rows[:, self.size :], self.size))
        sizes = np.where(sizes > 0.0, sizes, 0.0)
        along = _times(np.swapaxes(axes, -1, -2), rows[:, : self.size]) * (sizes > 0.0)
        precision = (axes * sizes[:, None, :]) @ np.swapaxes(axes, -1, -2)
        return np.concatenate([_times(axes, along), pack(precision)], axis=-1).reshape(lam.shape)

    def mean_stats(self, lam: Array) -> Array:
        """Return (m, -(m m^T + Lambda^-1) / 2)."""
        factors = self._factors(as_rows(lam))
        covariance = np.swapaxes(factors.inverse, -1, -2) @ factors.inverse
        return self._stats(factors.mean, covariance).reshape(lam.shape)

    def mode_stats(self, lam: Array) -> Array:
        """Return t at the mean."""
        return self._stats(self._factors(as_rows(lam)).mean).reshape(lam.shape)

    def draw(self, lam: Array, keys: Keys) -> Draw:
        """Draw standard normal numbers z, kept as `hidden`; beta = m + L^-T z."""
        rows = as_rows(lam)
        hidden = np.empty((len(rows), self.size))
        normal_rows(keys, hidden)
        return Draw(self._draw_stats(rows, hidden).reshape(lam.shape), hidden.reshape(*lam.shape[:-1], self.size))

    def pullback(self, lam: Array, draw: Draw, x: Array) -> Array:
        """Go back from t to beta = L^-T (L^-1 lambda_1 + z), and from L to Lambda."""
        factors, x_rows = self._factors(as_rows(lam)), as_rows(x)
        value = as_rows(draw.stats)[:, : self.size]
        to_value = x_rows[:, : self.size] - _times(unpack(x_rows[:, self.size :], self.size), value)
        to_whitened = _times(factors.inverse, to_value)
        to_first = _transposed_times(factors.inverse, to_whitened)
        to_lower = -_outer(value, to_whitened) - _outer(to_first, factors.whitened)
        to_precision = cholesky_pullback(factors.lower, factors.inverse, to_lower)
        return np.concatenate([to_first, pack_dual(to_precision)], axis=-1).reshape(lam.shape)

    def fisher_solve(self, lam: Array, x: Array) -> Array:
        """Solve in the coordinates (m, Lambda), with the metric in blocks: Lambda, and Lambda^-1 . Lambda^-1 / 2."""
        rows, x_rows = as_rows(lam), as_rows(x)
        mean = self._factors(rows).mean
        precision = unpack(rows[:, self.size :], self.size)
        first, crossed = x_rows[:, : self.size], _outer(x_rows[:, : self.size], mean)
        gradient = unpack_dual(x_rows[:, self.size :], self.size) + 0.5 * (crossed + np.swapaxes(crossed, -1, -2))
        precision_step = 2.0 * precision @ gradient @ precision
        first_step = _times(precision, first) + _times(precision_step, mean)
        return np.concatenate([first_step, pack(precision_step)], axis=-1).reshape(lam.shape)

    def quantile(self, lam: Array, u: Array) -> Array:
        """Invert D normal distribution functions."""
        return self._draw_stats(as_rows(lam), special.ndtri(as_rows(u))).reshape(lam.shape)

    def probability(self, lam: Array, draw: Draw) -> Array:
        """Return the normal distribution function of each z."""
        result: Array = special.ndtr(draw.hidden)
        return result

    def in_domain(self, lam: Array) -> npt.NDArray[np.bool_]:
        """Want Lambda positive definite."""
        rows = as_rows(lam)
        lower = cholesky(unpack(rows[:, self.size :], self.size))
        inside: npt.NDArray[np.bool_] = np.isfinite(lower[:, 0, 0]) & np.isfinite(rows).all(axis=-1)
        return inside.reshape(lam.shape[:-1])

    def examples(self, rng: np.random.Generator) -> Array:
        """Return rows with round Lambda, and one with long and short axes."""
        factors = rng.normal(size=(5, self.size, self.size + 4))
        precision = factors @ np.swapaxes(factors, -1, -2) / (self.size + 4) + 0.3 * np.eye(self.size)
        skewed = np.diag(np.geomspace(0.1, 10.0, self.size))[None]
        return self.natural(rng.normal(0.0, 1.5, (6, self.size)), np.concatenate([precision, skewed]))

    @classmethod
    def instances(cls) -> list[Self]:
        """Return one to ten coordinates."""
        return [cls(size) for size in (1, 2, 3, 10)]

    def _factors(self, rows: Array) -> _Factors:
        lower = cholesky(unpack(rows[:, self.size :], self.size))
        inverse = invert_lower(lower)
        return _Factors(lower, inverse, _times(inverse, rows[:, : self.size]))

    def _draw_stats(self, rows: Array, standard: Array) -> Array:
        factors = self._factors(rows)
        return self._stats(_transposed_times(factors.inverse, factors.whitened + standard))

    @staticmethod
    def _stats(value: Array, covariance: Array | float = 0.0) -> Array:
        return np.concatenate([value, -0.5 * pack_dual(_outer(value, value) + covariance)], axis=-1)
