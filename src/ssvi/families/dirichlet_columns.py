"""Dirichlet distributions that stand in columns, of which a few coordinates are looked at.

A topic model's block is words x topics, and a minibatch has few of the words. Because a Dirichlet variable is a row of
gamma variables over their sum, and gamma variables add up to a gamma variable, all that concerns the chosen words
follows from their lambda and from the *sum* of all others', which is `rest`: nothing here is proportional to the size
of the vocabulary. Arrays are chosen words x distributions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ssvi.families.draws import Draw
from ssvi.numerics.bits import fast_exp, fast_log
from ssvi.numerics.compile import kernel
from ssvi.numerics.gamma_slopes import inverse_curvature, slopes
from ssvi.numerics.gamma_variates import log_gamma_batch, log_gamma_variate
from ssvi.numerics.random import Keys
from ssvi.numerics.special import digamma, digamma_array, inverse_trigamma_growth
from ssvi.tasks import Each, row_tasks, run_all
from ssvi.typing import Array


@kernel
def _add_exponentials(log_values: Array, largest: Array, totals: Array) -> None:
    """Fill `totals` with the sums over words of exp(log_values - largest)."""
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


_NEGLIGIBLE = 1e-7  # the share of a distribution's counts that is too small to pull back
_LOG_NEGLIGIBLE = math.log(_NEGLIGIBLE)


@kernel
def _pull_back(
    lam: Array,
    draws: Array,
    log_totals: Array,
    x: Array,
    sums: Array,
    largest: npt.NDArray[np.int64],
    gradient: Array,
    inverse: Array,
    totals: Array,
) -> None:
    """Fill g = w (x - beta sum x) and 1 / psi', and add up what the Fisher solve needs.

    Words without counts whose beta is below `_NEGLIGIBLE` have g = 0: what they would add to V x is less than that
    share of the counts, times |log x|. `totals` receives, for each distribution, the sums of lambda and of 1 / psi'
    over all words but the one with the largest lambda, whose row is `largest`, and the sum of g / psi'.
    """
    size = lam.shape[1]
    shapes, log_x, found = np.empty(size), np.empty(size), np.empty(size)
    place = np.empty(size, np.int64)
    for v in range(lam.shape[0]):
        count = 0
        for k in range(size):
            gradient[v, k] = 0.0
            shapes[count], log_x[count], place[count] = lam[v, k], draws[v, k] + log_totals[k], k
            count += int((x[v, k] != 0.0) | (draws[v, k] > _LOG_NEGLIGIBLE))
        slopes(shapes[:count], log_x[:count], found[:count])
        for j in range(count):
            k = place[j]
            gradient[v, k] = found[j] * (x[v, k] - math.exp(draws[v, k]) * sums[k])
        for k in range(size):
            inverse[v, k] = inverse_curvature(lam[v, k])
            other = 0.0 if v == largest[k] else 1.0
            totals[0, k] += other * lam[v, k]
            totals[1, k] += other * inverse[v, k]
            totals[2, k] += gradient[v, k] * inverse[v, k]


@kernel
def _find_largest(lam: Array, largest: Array, rows: npt.NDArray[np.int64]) -> None:
    """Fill in the largest lambda of each distribution, and its row (the first, of several)."""
    for v in range(lam.shape[0]):
        for k in range(lam.shape[1]):
            if lam[v, k] > largest[k]:
                largest[k], rows[k] = lam[v, k], v


@kernel
def _complete(gradient: Array, shift: Array, inverse: Array, x: Array) -> None:
    """Replace x by (g + shift) / psi' - x."""
    for v in range(x.shape[0]):
        for k in range(x.shape[1]):
            x[v, k] = (gradient[v, k] + shift[k]) * inverse[v, k] - x[v, k]


@kernel
def _add_up(lam: Array, largest: npt.NDArray[np.int64], totals: Array) -> None:
    """Do for the words not chosen what `_pull_back` does for the others; the last sum is of 1 / psi' alone."""
    for v in range(lam.shape[0]):
        for k in range(lam.shape[1]):
            inverse = inverse_curvature(lam[v, k])
            other = 0.0 if v == largest[k] else 1.0
            totals[0, k] += other * lam[v, k]
            totals[1, k] += other * inverse
            totals[2, k] += inverse


@kernel
def _complete_others(lam: Array, common: Array, out: Array) -> None:
    for v in range(lam.shape[0]):
        for k in range(lam.shape[1]):
            out[v, k] = common[k] * inverse_curvature(lam[v, k])


@dataclass(frozen=True)
class Columns:
    """Some columns of a block of distributions (words of topics), a row each, and a way to all others.

    Attributes
    ----------
    columns : (C,) integers
        Which.
    lam : (C, K)
        Their lambda.
    rest : (K,)
        The sum over all other columns.
    prior : (V, K)
        eta of every column.
    others : function of a task of rows
        lambda of some of the other columns, a row each.
    n_others : int
        How many there are.

    """

    columns: npt.NDArray[np.int64]
    lam: Array
    rest: Array
    prior: Array
    others: Callable[[slice], Array]
    n_others: int

    def prior_of(self, task: slice) -> Array:
        """Return eta of some of them."""
        return self.prior[self.columns[task]]


class DirichletColumns:
    """What `Dirichlet` can do, for some words of distributions in columns."""

    def totals(self, lam: Array, rest: Array) -> Array:
        """Return the sum of each distribution's lambda over all words."""
        totals: Array = lam.sum(axis=0) + rest
        return totals

    def mean_stats(self, lam: Array, rest: Array, each: Each) -> Array:
        """Return E[log beta]."""
        return _fill(lam, each, _mean, digamma_array(self.totals(lam, rest)))

    def mode_stats(self, lam: Array, rest: Array, each: Each) -> Array:
        """Return log(lambda / sum lambda)."""
        return _fill(lam, each, _mode, np.log(self.totals(lam, rest)))

    def draw(self, lam: Array, rest: Array, keys: Keys, each: Each) -> Draw:
        """Draw beta of the chosen words.

        `hidden` has two logarithms for each distribution: of the sum of all gamma variables, and of the sum of those of
        the words not chosen. `keys` has one more than there are tasks, the last for the words not chosen.
        """
        stats = np.empty(lam.shape)
        tasks = row_tasks(lam.shape)

        def draw(task: tuple[slice, np.uint64]) -> tuple[Array, Array]:
            words, key = task
            part, totals = stats[words], np.empty(lam.shape[1])
            log_gamma_batch(lam[words].reshape(-1), key, part.reshape(-1))
            largest = part.max(axis=0)
            _add_exponentials(part, largest, totals)
            return largest, totals

        others = np.empty(lam.shape[1])
        _draw_rest(rest, keys[len(tasks)], others)
        parts = [(others, np.ones_like(others)), *each(draw, list(zip(tasks, keys[: len(tasks)], strict=True)))]
        log_totals = _log_sum(parts)
        run_all(each, lambda words: _subtract_from_rows(stats[words], log_totals), tasks)
        return Draw(stats, np.stack([log_totals, others]))

    def natural_correction(
        self, chosen: Columns, draw: Draw, x: Callable[[slice], Array], each: Each
    ) -> ColumnCorrection:
        """Return V x - x, where x is 0 for words that are not chosen; `x` gives a task's rows as a new array.

        V x = F^-1 g, with g_v = w_v (x_v - beta_v sum x) and F = diag(psi'(lambda)) - psi'(sum lambda) 1 1^T; see
        `ssvi.families.dirichlet` for the form of its inverse, and `ssvi.numerics.gamma_slopes` for the bound on the
        error of w. For the words not chosen, which the draw has as one coordinate, g is that coordinate's.
        """
        lam, n = chosen.lam, chosen.lam.shape[1]
        tasks, other_tasks = row_tasks(lam.shape), row_tasks((chosen.n_others, n))
        gradient, inverse = np.empty(lam.shape), np.empty(lam.shape)
        surveys = [*each(lambda words: _survey(lam[words], x(words)), tasks)]
        surveys += each(lambda words: _survey(chosen.others(words), None), other_tasks)
        sums = sum((survey[0] for survey in surveys), np.zeros(n))
        first = np.argmax([survey[1] for survey in surveys], axis=0)  # the task that holds the largest lambda
        largest = np.array([survey[1] for survey in surveys])[first, np.arange(n)]
        rows = np.array([survey[2] for survey in surveys])[first, np.arange(n)]

        def place(number: int) -> npt.NDArray[np.int64]:
            """Return the rows of a task that hold a largest lambda; -1 for distributions whose largest is elsewhere."""
            return np.where(first == number, rows, -1)

        def pull_back(number: int) -> Array:
            words, totals = tasks[number], np.zeros((3, n))
            _pull_back(
                lam[words], draw.stats[words], draw.hidden[0], x(words), sums, place(number),
                gradient[words], inverse[words], totals,
            )  # fmt: skip
            return totals

        def add_up(number: int) -> Array:
            totals = np.zeros((3, n))
            _add_up(chosen.others(other_tasks[number]), place(len(tasks) + number), totals)
            return totals

        totals = sum(each(pull_back, range(len(tasks))), np.zeros((3, n)))
        outside = sum(each(add_up, range(len(other_tasks))), np.zeros((3, n)))
        common = np.zeros(n)
        if chosen.n_others:
            slopes(chosen.rest, draw.hidden[1], common)
            common *= -np.exp(draw.hidden[1] - draw.hidden[0]) * sums
        others, others_inverse = totals[:2] + outside[:2]
        weighted = totals[2] + common * outside[2]
        shift = np.zeros(n)
        if len(lam) + chosen.n_others > 1:  # else beta is 1 whatever lambda is, and x has been pulled back to 0
            growth = [inverse_trigamma_growth(start, step) for start, step in zip(largest, others, strict=True)]
            shift = weighted / (np.array(growth) - others_inverse)
        return ColumnCorrection(gradient, inverse, shift, common + shift, x)


@dataclass(frozen=True)
class ColumnCorrection:
    """V x - x, by tasks of the chosen words, and for any others."""

    _gradient: Array
    _inverse: Array
    _shift: Array
    _common: Array
    _x: Callable[[slice], Array]

    def chosen(self, words: slice) -> Array:
        """Return it for a task of the chosen words."""
        result = self._x(words)
        _complete(self._gradient[words], self._shift, self._inverse[words], result)
        return result

    def others(self, lam: Array) -> Array:
        """Return it for words that were not chosen, whose lambda is given."""
        out = np.empty(lam.shape)
        _complete_others(lam, self._common, out)
        return out


def _survey(lam: Array, x: Array | None) -> tuple[Array, Array, npt.NDArray[np.int64]]:
    """Return the sums of x, the largest lambda of each distribution, and its row."""
    largest, rows = np.zeros(lam.shape[1]), np.zeros(lam.shape[1], dtype=np.int64)
    _find_largest(lam, largest, rows)
    return (np.zeros(lam.shape[1]) if x is None else x.sum(axis=0)), largest, rows


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
