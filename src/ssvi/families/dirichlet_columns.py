"""Dirichlet distributions that stand in columns, of which a few coordinates are looked at.

Because a Dirichlet variable is a row of gamma variables over their sum, and gamma variables add up to a gamma variable,
all that concerns the chosen words follows from their lambda and from the *sum* of all others', which is `rest`: a
Dirichlet whose other words are summed is a Dirichlet. Arrays are chosen words x distributions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ssvi.families.dirichlet_correction import natural_correction
from ssvi.families.draws import SELDOM, Draw
from ssvi.families.floors import raise_rows
from ssvi.families.restricted import Correction, Others, Restricted, Statistics
from ssvi.numerics.bits import fast_exp, fast_log
from ssvi.numerics.compile import kernel, widest_vectors
from ssvi.numerics.gamma_variates import log_gamma_batch, log_gamma_variate
from ssvi.numerics.random import Keys
from ssvi.numerics.special import digamma, digamma_array
from ssvi.tasks import Each, column_sums, row_tasks, run_all
from ssvi.typing import Array

_TINY = 1e-300  # more than a sum of gamma variables that are all too small for a number


@kernel
def _add_exponentials(log_values: Array, largest: Array, totals: Array) -> None:
    """Fill `totals` with the sums over words of exp(log_values - largest)."""
    widest_vectors()
    totals[:] = 0.0
    for v in range(log_values.shape[0]):
        for k in range(log_values.shape[1]):
            totals[k] += fast_exp(log_values[v, k] - largest[k])


@kernel
def _subtract_from_rows(values: Array, amounts: Array) -> None:
    for v in range(values.shape[0]):
        for k in range(values.shape[1]):
            values[v, k] -= amounts[k]


@kernel
def _mean(lam: Array, shift: Array, out: Array) -> None:
    for v in range(lam.shape[0]):
        for k in range(lam.shape[1]):
            out[v, k] = digamma(lam[v, k]) - shift[k]


@kernel
def _mode(lam: Array, shift: Array, out: Array) -> None:
    for v in range(lam.shape[0]):
        for k in range(lam.shape[1]):
            out[v, k] = fast_log(lam[v, k]) - shift[k]


@kernel
def _draw_rest(rest: Array, key: np.uint64, out: Array) -> None:
    """Draw the logarithm of the gamma variable that the other words add up to; minus infinity if there are none."""
    state = key
    for k in range(rest.size):
        out[k] = -np.inf
        if rest[k] > 0.0:
            out[k], state = log_gamma_variate(rest[k], state)


@kernel
def _draw_large(lam: Array, least: float, key: np.uint64, out: Array, totals: Array) -> None:
    """Fill `out` with log Gamma(lam, 1) draws where lam is `least` or more, and with log lam elsewhere.

    `totals` receives the sums over words of what these are logarithms of.
    """
    widest_vectors()
    n = lam.shape[1]
    shapes, place, count = np.empty(lam.size + 1), np.empty(lam.size + 1, np.int64), 0
    for v in range(lam.shape[0]):
        for k in range(n):
            shapes[count], place[count] = lam[v, k], v * n + k
            count += int(not (lam[v, k] < least))  # what is not a number is drawn, and so found
    totals[:] = 0.0
    for v in range(lam.shape[0]):
        for k in range(n):
            out[v, k] = fast_log(lam[v, k])
            totals[k] += lam[v, k] if lam[v, k] < least else 0.0
    drawn, flat = np.empty(count), out.reshape(-1)
    log_gamma_batch(shapes[:count], key, drawn)
    for j in range(count):
        flat[place[j]] = drawn[j]
    for j in range(count):
        drawn[j] = fast_exp(drawn[j])
    for j in range(count):
        totals[place[j] % n] += drawn[j]


@kernel
def _soften(
    lam: Array, log_totals: Array, log_sums: Array, softening: float, least: float, log_beta: Array, out: Array
) -> None:
    """Make log beta of logarithms of gamma variables, and fill `out` with what lies k of the way to it from the mean.

    Where nothing was drawn the logarithms are those of lambda.
    """
    widest_vectors()
    for v in range(lam.shape[0]):
        for k in range(lam.shape[1]):
            mean = fast_log(lam[v, k]) - log_sums[k]
            share = lam[v, k] / (lam[v, k] + softening)
            log_beta[v, k] -= log_totals[k]
            out[v, k] = mean + (0.0 if lam[v, k] < least else share) * (log_beta[v, k] - mean)


@dataclass(frozen=True)
class DirichletColumns(Restricted):
    """Some words of Dirichlet distributions in columns.

    Attributes
    ----------
    rest : (K,)
        The sum of lambda over all words that were not chosen.
    each : function
        Runs tasks.

    """

    rest: Array
    each: Each = map

    def streams(self, shape: tuple[int, ...]) -> int:
        """Return one for each task of words, and one for the words not chosen."""
        return len(row_tasks(shape)) + 1

    def mean_stats(self, lam: Array) -> Array:
        """Return E[log beta]."""
        return _fill(lam, self.each, _mean, digamma_array(self._totals(lam)))

    def mode_stats(self, lam: Array) -> Array:
        """Return log(lambda / sum lambda)."""
        return _fill(lam, self.each, _mode, np.log(self._totals(lam)))

    def draw(self, lam: Array, keys: Keys) -> Draw:
        """Draw beta of the chosen words.

        `hidden` has two logarithms for each distribution: of the sum of all gamma variables, and of the sum of those of
        the words not chosen. The last of `keys` is for the words not chosen.
        """

        def draw(words: slice, key: np.uint64, out: Array) -> tuple[Array, Array]:
            log_gamma_batch(lam[words].reshape(-1), key, out.reshape(-1))
            largest, totals = out.max(axis=0), np.empty(lam.shape[1])
            _add_exponentials(out, largest, totals)
            return largest, totals

        stats, log_totals, others = self._gammas(lam.shape, keys, draw)
        run_all(self.each, lambda words: _subtract_from_rows(stats[words], log_totals), row_tasks(lam.shape))
        return Draw(stats, np.stack([log_totals, others]))

    def softened_draw(self, lam: Array, keys: Keys, softening: float) -> tuple[Array, Draw]:
        """Return log beta of a draw that is drawn in to the mean where lambda is small, and the draw.

        Gamma variables of shapes that are too small to be drawn are at their means.
        """
        least, unscaled = SELDOM * softening, np.zeros(lam.shape[1])

        def draw(words: slice, key: np.uint64, out: Array) -> tuple[Array, Array]:
            totals = np.empty(lam.shape[1])
            _draw_large(lam[words], least, key, out, totals)
            return unscaled, np.maximum(totals, _TINY)

        stats, log_totals, others = self._gammas(lam.shape, keys, draw)
        log_sums, out = np.log(self._totals(lam)), np.empty(lam.shape)

        def soften(words: slice) -> None:
            _soften(lam[words], log_totals, log_sums, softening, least, stats[words], out[words])

        run_all(self.each, soften, row_tasks(lam.shape))
        return out, Draw(stats, np.stack([log_totals, others]), least)

    def _gammas(
        self, shape: tuple[int, ...], keys: Keys, draw: Callable[[slice, np.uint64, Array], tuple[Array, Array]]
    ) -> tuple[Array, Array, Array]:
        """Return logarithms of gamma variables, of their sums, and of those that the words not chosen add up to.

        `draw` fills in some words and returns their sums, as a logarithm and a factor.
        """
        stats, tasks, others = np.empty(shape), row_tasks(shape), np.empty(shape[1])
        _draw_rest(self.rest, keys[len(tasks)], others)
        numbered = list(zip(tasks, keys[: len(tasks)], strict=True))
        parts = self.each(lambda task: draw(task[0], task[1], stats[task[0]]), numbered)
        return stats, _log_sum([(others, np.ones_like(others)), *parts]), others

    def correction(self, lam: Array, draw: Draw, x: Statistics, others: Others) -> Correction:
        """Return V x."""
        return natural_correction(lam, self.rest, draw, x, others, self.each)

    def project(self, candidate: Array, current: Array, prior: Array) -> int:
        """Keep every coordinate above its floor."""
        return raise_rows(candidate, current, prior)

    def _totals(self, lam: Array) -> Array:
        """Return the sum of each distribution's lambda over all words."""
        totals: Array = column_sums(lam, self.each) + self.rest
        return totals


def _fill(lam: Array, each: Each, function: Callable[[Array, Array, Array], None], shift: Array) -> Array:
    """Return an array like `lam` that a kernel fills, chunk by chunk."""
    out = np.empty(lam.shape)
    run_all(each, lambda words: function(lam[words], shift, out[words]), row_tasks(lam.shape))
    return out


def _log_sum(parts: Sequence[tuple[Array, Array]]) -> Array:
    """Return log sum_c exp(largest_c) total_c, added in the order of the chunks."""
    largest = np.max([part[0] for part in parts], axis=0)
    total = np.zeros_like(largest)
    for own, amount in parts:
        total += np.exp(own - largest) * amount
    result: Array = largest + np.log(total)
    return result
