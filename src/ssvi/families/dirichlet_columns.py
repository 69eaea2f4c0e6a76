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
from ssvi.tasks import Each, row_tasks, run_all
from ssvi.typing import Array


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
def _draw_large(lam: Array, least: float, key: np.uint64, out: Array) -> None:
    """Fill `out` with log Gamma(lam, 1) draws where lam is `least` or more, and with log lam elsewhere."""
    widest_vectors()
    shapes, place, count = np.empty(lam.size + 1), np.empty(lam.size + 1, np.int64), 0
    for i in range(lam.size):
        shapes[count], place[count] = lam[i], i
        count += int(not (lam[i] < least))  # what is not a number is drawn, and so found
    for i in range(lam.size):
        out[i] = fast_log(lam[i])
    drawn = np.empty(count)
    log_gamma_batch(shapes[:count], key, drawn)
    for j in range(count):
        out[place[j]] = drawn[j]


@kernel
def _soften(lam: Array, log_beta: Array, log_sums: Array, softening: float, least: float, out: Array) -> None:
    """Fill `out` with log beta of the mean, and k of the way from there to the draw."""
    widest_vectors()
    for v in range(lam.shape[0]):
        for k in range(lam.shape[1]):
            mean = fast_log(lam[v, k]) - log_sums[k]
            share = lam[v, k] / (lam[v, k] + softening)
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
        return self._drawn_from(lam, keys, 0.0)

    def softened_draw(self, lam: Array, keys: Keys, softening: float) -> tuple[Array, Draw]:
        """Return log beta of a draw that is drawn in to the mean where lambda is small, and the draw."""
        draw = self._drawn_from(lam, keys, SELDOM * softening)
        log_sums, out = np.log(self._totals(lam)), np.empty(lam.shape)

        def soften(words: slice) -> None:
            _soften(lam[words], draw.stats[words], log_sums, softening, draw.least, out[words])

        run_all(self.each, soften, row_tasks(lam.shape))
        return out, draw

    def _drawn_from(self, lam: Array, keys: Keys, least: float) -> Draw:
        """Draw beta, with lambda in place of gamma variables of shapes below `least`."""
        stats = np.empty(lam.shape)
        tasks = row_tasks(lam.shape)

        def draw(task: tuple[slice, np.uint64]) -> tuple[Array, Array]:
            words, key = task
            part, totals = stats[words], np.empty(lam.shape[1])
            flat = lam[words].reshape(-1), part.reshape(-1)
            if least:
                _draw_large(flat[0], least, key, flat[1])
            else:
                log_gamma_batch(flat[0], key, flat[1])
            largest = part.max(axis=0)
            _add_exponentials(part, largest, totals)
            return largest, totals

        others = np.empty(lam.shape[1])
        _draw_rest(self.rest, keys[len(tasks)], others)
        parts = [(others, np.ones_like(others)), *self.each(draw, list(zip(tasks, keys[: len(tasks)], strict=True)))]
        log_totals = _log_sum(parts)
        run_all(self.each, lambda words: _subtract_from_rows(stats[words], log_totals), tasks)
        return Draw(stats, np.stack([log_totals, others]), least)

    def correction(self, lam: Array, draw: Draw, x: Statistics, others: Others) -> Correction:
        """Return V x."""
        return natural_correction(lam, self.rest, draw, x, others, self.each)

    def project(self, candidate: Array, current: Array, prior: Array) -> int:
        """Keep every coordinate above its floor."""
        return raise_rows(candidate, current, prior)

    def _totals(self, lam: Array) -> Array:
        """Return the sum of each distribution's lambda over all words."""
        totals: Array = lam.sum(axis=0) + self.rest
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
