"""Gamma: lambda = (shape, rate), t(beta) = (log beta, -beta), h(beta) = 1 / beta."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
from scipy import special

from ssvi.families.base import ExponentialFamily
from ssvi.families.draws import Draw
from ssvi.families.floors import raise_to_floor, rows_are_positive
from ssvi.numerics.gamma_quantile import log_quantile_derivative_into
from ssvi.numerics.gamma_variates import log_gamma_rows
from ssvi.numerics.random import Keys
from ssvi.numerics.special import digamma_array, trigamma_array, trigamma_excess
from ssvi.typing import Array


class Gamma(ExponentialFamily):
    """Positive numbers beta with density proportional to beta^(shape - 1) exp(-rate beta)."""

    name = "gamma"

    @property
    def dimension(self) -> int:
        """Shape and rate."""
        return 2

    def values(self, stats: Array) -> Array:
        """Return beta."""
        result: Array = -stats[..., 1]
        return result

    def statistics(self, values: Array) -> Array:
        """Return (log beta, -beta)."""
        return np.stack([np.log(values), -values], axis=-1)

    def log_normalizer(self, lam: Array) -> Array:
        """Return log Gamma(shape) - shape log(rate)."""
        shape, rate = lam[..., 0], lam[..., 1]
        result: Array = special.gammaln(shape) - shape * np.log(rate)
        return result

    def mean_stats(self, lam: Array) -> Array:
        """Return (psi(shape) - log(rate), -shape / rate)."""
        shape, rate = lam[..., 0], lam[..., 1]
        return np.stack([digamma_array(shape) - np.log(rate), -shape / rate], axis=-1)

    def shapes(self, lam: Array) -> Array:
        """Return the shape, for both coordinates."""
        return lam[..., :1]

    def deviations(self, lam: Array) -> Array:
        """Return the standard deviation of beta in each row."""
        deviations: Array = np.sqrt(lam[..., 0]) / lam[..., 1]
        return deviations

    def seen(self, lam: Array, prior: Array) -> Array:
        """Return lambda less its prior, and nothing where it has not yet reached it."""
        return np.maximum(lam - prior, 0.0)

    def mode_stats(self, lam: Array) -> Array:
        """Return t(shape / rate)."""
        mode = lam[..., 0] / lam[..., 1]
        return np.stack([np.log(mode), -mode], axis=-1)

    def draw(self, lam: Array, keys: Keys) -> Draw:
        """Draw log Gamma(shape, 1), kept as `hidden`, and divide by the rate."""
        shape, rate = lam[..., 0], lam[..., 1]
        standard = np.empty(shape.shape)
        log_gamma_rows(np.ascontiguousarray(shape).reshape(-1, 1), keys, standard.reshape(-1, 1))
        log_value = standard - np.log(rate)
        return Draw(np.stack([log_value, -np.exp(log_value)], axis=-1), standard)

    def pullback(self, lam: Array, draw: Draw, x: Array) -> Array:
        """Return the derivatives of x . t(beta): through log beta, which moves by w in shape and -1/rate in rate."""
        shape, rate = lam[..., 0], lam[..., 1]
        slope = np.empty(shape.shape)
        log_quantile_derivative_into(
            np.ascontiguousarray(shape).reshape(-1), draw.hidden.reshape(-1), slope.reshape(-1)
        )
        through_log = x[..., 0] + x[..., 1] * draw.stats[..., 1]
        return np.stack([slope * through_log, -through_log / rate], axis=-1)

    def fisher_solve(self, lam: Array, x: Array) -> Array:
        """Solve the two equations with matrix [[psi'(shape), -1/rate], [-1/rate, shape/rate^2]]."""
        shape, rate = lam[..., 0], lam[..., 1]
        curvature = trigamma_array(shape)
        determinant = trigamma_excess(shape, curvature)
        first = (shape * x[..., 0] + rate * x[..., 1]) / determinant
        second = rate * (x[..., 0] + curvature * rate * x[..., 1]) / determinant
        return np.stack([first, second], axis=-1)

    def quantile(self, lam: Array, u: Array) -> Array:
        """Invert the gamma distribution function; only u's first coordinate is used."""
        value = special.gammaincinv(lam[..., 0], u[..., 0]) / lam[..., 1]
        return np.stack([np.log(value), -value], axis=-1)

    def probability(self, lam: Array, draw: Draw) -> Array:
        """Return the distribution function at the draw."""
        result: Array = special.gammainc(lam[..., 0], np.exp(draw.hidden))[..., None]
        return result

    def in_domain(self, lam: Array) -> npt.NDArray[np.bool_]:
        """Want shape and rate positive."""
        return rows_are_positive(lam)

    def project(self, candidate: Array, current: Array, prior: Array) -> tuple[Array, int]:
        """Keep shape and rate above their floors; return them with the number of coordinates moved."""
        return raise_to_floor(candidate, current, prior)

    def examples(self, rng: np.random.Generator) -> Array:
        """Return rows of like shapes and rates, and one with a small shape and a large rate."""
        mild = rng.gamma(2.0, 1.0, (5, 2)) + 0.3
        return np.concatenate([mild, [[0.1, 30.0]]])
