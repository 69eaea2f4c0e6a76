"""Dirichlet: lambda = concentration, t(beta) = log beta, h(beta) = 1 / prod beta."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
from scipy import special

from ssvi.families.base import ExponentialFamily, as_rows
from ssvi.families.dirichlet_columns import DirichletColumns
from ssvi.families.draws import Draw
from ssvi.families.floors import raise_to_floor, rows_are_positive
from ssvi.numerics.compile import kernel
from ssvi.numerics.gamma_quantile import log_quantile_derivative
from ssvi.numerics.gamma_variates import log_gamma_long_rows, log_gamma_rows
from ssvi.numerics.random import Keys
from ssvi.numerics.special import digamma, inverse_trigamma_growth, trigamma
from ssvi.tasks import Each
from ssvi.typing import Array

_LONG = 64  # coordinates from which on a row is drawn in vectors


@kernel
def _mean_rows(lam: Array, out: Array) -> None:
    for row in range(lam.shape[0]):
        total = 0.0
        for v in range(lam.shape[1]):
            total += lam[row, v]
        shift = digamma(total)
        for v in range(lam.shape[1]):
            out[row, v] = digamma(lam[row, v]) - shift


@kernel
def _normalize_rows(log_values: Array, log_totals: Array) -> None:
    """Subtract from each row, in place, the logarithm of the sum of its exponentials."""
    for row in range(log_values.shape[0]):
        largest = -np.inf
        for v in range(log_values.shape[1]):
            largest = max(largest, log_values[row, v])
        total = 0.0
        for v in range(log_values.shape[1]):
            total += math.exp(log_values[row, v] - largest)
        log_total = largest + math.log(total)
        log_totals[row] = log_total
        for v in range(log_values.shape[1]):
            log_values[row, v] -= log_total


@kernel
def _pullback_rows(lam: Array, stats: Array, log_totals: Array, x: Array, out: Array) -> None:
    """g_v = w_v (x_v - beta_v sum(x)), with w_v = d log beta'_v / d lambda_v at fixed u_v."""
    for row in range(lam.shape[0]):
        total = 0.0
        for v in range(lam.shape[1]):
            total += x[row, v]
        for v in range(lam.shape[1]):
            slope = log_quantile_derivative(lam[row, v], stats[row, v] + log_totals[row])
            out[row, v] = slope * (x[row, v] - math.exp(stats[row, v]) * total)


@kernel
def _fisher_solve_rows(lam: Array, x: Array, out: Array) -> None:
    """Sherman-Morrison on diag(psi'(lambda)) - psi'(sum lambda) 1 1^T.

    Its denominator f(sum lambda) - sum f(lambda), with f = 1 / psi', is small beside its terms where one coordinate
    holds almost all of the sum: that one is taken together with the sum.
    """
    for row in range(lam.shape[0]):
        largest = np.argmax(lam[row])
        others, others_inverse, weighted = 0.0, 0.0, 0.0
        for v in range(lam.shape[1]):
            inverse = 1.0 / trigamma(lam[row, v])
            weighted += x[row, v] * inverse
            out[row, v] = inverse
            if v != largest:
                others += lam[row, v]
                others_inverse += inverse
        # With a single outcome beta is 1 whatever lambda is, and x has been pulled back to 0.
        shift = 0.0
        if lam.shape[1] > 1:
            shift = weighted / (inverse_trigamma_growth(lam[row, largest], others) - others_inverse)
        for v in range(lam.shape[1]):
            out[row, v] *= x[row, v] + shift


class Dirichlet(ExponentialFamily):
    """Points beta of a simplex.

    >>> import numpy as np
    >>> Dirichlet().mean_stats(np.array([[1.0, 1.0]]))  # E[log beta] of a uniform weight
    array([[-1., -1.]])
    """

    name = "dirichlet"

    @property
    def dimension(self) -> int | None:
        """Any number of outcomes."""
        return None

    def values(self, stats: Array) -> Array:
        """Return beta."""
        result: Array = np.exp(stats)
        return result

    def statistics(self, values: Array) -> Array:
        """Return log beta. A draw with a small lambda may have fallen to 0, for which the least number stands."""
        result: Array = np.log(np.maximum(values, np.finfo(float).tiny))
        return result

    def log_normalizer(self, lam: Array) -> Array:
        """Return sum_v log Gamma(lambda_v) - log Gamma(sum_v lambda_v)."""
        result: Array = special.gammaln(lam).sum(axis=-1) - special.gammaln(lam.sum(axis=-1))
        return result

    def mean_stats(self, lam: Array) -> Array:
        """Return psi(lambda) - psi(sum lambda)."""
        out = np.empty(lam.shape)
        _mean_rows(as_rows(lam), out.reshape(-1, lam.shape[-1]))
        return out

    def shapes(self, lam: Array) -> Array:
        """Return lambda: beta is a row of gamma variables, normalised."""
        return lam

    def deviations(self, lam: Array) -> Array:
        """Return the standard deviations of beta."""
        totals = lam.sum(axis=-1, keepdims=True)
        means = lam / totals
        deviations: Array = np.sqrt(means * (1.0 - means) / (totals + 1.0))
        return deviations

    def seen(self, lam: Array, prior: Array) -> Array:
        """Return lambda less its prior, and nothing where it has not yet reached it."""
        return np.maximum(lam - prior, 0.0)

    def mode_stats(self, lam: Array) -> Array:
        """Return log(lambda / sum lambda): in this measure the mode is the mean."""
        result: Array = np.log(lam) - np.log(lam.sum(axis=-1, keepdims=True))
        return result

    def draw(self, lam: Array, keys: Keys) -> Draw:
        """Draw independent gammas in log space and normalise; `hidden` is the log of each row's sum."""
        stats = np.empty(lam.shape)
        rows = stats.reshape(-1, lam.shape[-1])
        log_totals = np.empty(lam.shape[:-1])
        (log_gamma_rows if lam.shape[-1] < _LONG else log_gamma_long_rows)(as_rows(lam), keys, rows)
        _normalize_rows(rows, log_totals.reshape(-1))
        return Draw(stats, log_totals)

    def _drawn_from(self, lam: Array, keys: Keys, least: float) -> Draw:
        """Draw the gammas of shapes from `least` on; the others are their means."""
        draw = self.draw(lam, keys)
        stats = np.where(lam >= least, draw.stats + draw.hidden[..., None], np.log(lam))
        log_totals = np.empty(lam.shape[:-1])
        _normalize_rows(stats.reshape(-1, lam.shape[-1]), log_totals.reshape(-1))
        return Draw(stats, log_totals, least)

    def pullback(self, lam: Array, draw: Draw, x: Array) -> Array:
        """Return w_v (x_v - beta_v sum(x)) in each row, or its mean for what was not drawn."""
        out = np.empty(lam.shape)
        _pullback_rows(as_rows(lam), as_rows(draw.stats), draw.hidden.reshape(-1), as_rows(x), as_rows(out))
        if draw.least:
            common = special.polygamma(1, lam.sum(axis=-1)) * x.sum(axis=-1)
            out = np.where(lam < draw.least, special.polygamma(1, lam) * x - common[..., None], out)
        return out

    def fisher_solve(self, lam: Array, x: Array) -> Array:
        """Solve against diag(psi'(lambda)) - psi'(sum lambda) 1 1^T, in time linear in its size."""
        out = np.empty(lam.shape)
        _fisher_solve_rows(as_rows(lam), as_rows(x), as_rows(out))
        return out

    def restricted(self, rest: Array, each: Each = map) -> DirichletColumns:
        """Return the formulas for some words in columns."""
        return DirichletColumns(rest, each)

    def quantile(self, lam: Array, u: Array) -> Array:
        """Invert one gamma distribution a coordinate and normalise."""
        gammas = special.gammaincinv(lam, u)
        result: Array = np.log(gammas / gammas.sum(axis=-1, keepdims=True))
        return result

    def probability(self, lam: Array, draw: Draw) -> Array:
        """Return the gamma distribution functions at the unnormalised draws."""
        result: Array = special.gammainc(lam, np.exp(draw.stats + draw.hidden[..., None]))
        return result

    def in_domain(self, lam: Array) -> npt.NDArray[np.bool_]:
        """Want every concentration positive."""
        return rows_are_positive(lam)

    def project(self, candidate: Array, current: Array, prior: Array) -> tuple[Array, int]:
        """Keep every concentration above its floor; return them with the number of coordinates moved."""
        return raise_to_floor(candidate, current, prior)

    def examples(self, rng: np.random.Generator) -> Array:
        """Return rows of like concentrations, and one with a small and a large one."""
        size = self.dimension or 4
        mild = rng.gamma(2.0, 1.0, (5, size)) + 0.3
        return np.concatenate([mild, np.geomspace(0.1, 30.0, size)[None]])
