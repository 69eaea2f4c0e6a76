"""SSVI's correction for Dirichlet distributions in columns, of which a minibatch has some words.

V x = F^-1 g, with g_v = w_v (x_v - beta_v sum x) and F = diag(psi'(lambda)) - psi'(sum lambda) 1 1^T; see
`ssvi.families.dirichlet` for the form of its inverse, and `ssvi.numerics.gamma_slopes` for the bound on the error of w.
x is 0 for the words that were not chosen. A draw has them as one coordinate, their sum, and so g of each of them is
that coordinate's.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ssvi.families.draws import Draw
from ssvi.families.restricted import Correction, Others, Statistics, TargetFormulas
from ssvi.numerics.bits import fast_exp
from ssvi.numerics.compile import kernel, widest_vectors
from ssvi.numerics.gamma_slopes import inverse_curvature, slopes
from ssvi.numerics.special import inverse_trigamma_growth, trigamma
from ssvi.tasks import Each, column_sums, row_tasks
from ssvi.typing import Array

_NEGLIGIBLE = 1e-7  # the share of a distribution's counts that is too small to pull back
_LOG_NEGLIGIBLE = math.log(_NEGLIGIBLE)


@kernel
def _rows_with_largest(lam: Array, largest: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Tell which rows hold the largest lambda of any distribution."""
    found = np.zeros(lam.shape[0], np.bool_)
    for row in largest:
        if row >= 0:
            found[row] = True
    return found


@kernel
def _add_row(
    row: int,
    lam: Array,
    inverse: Array,
    largest: npt.NDArray[np.int64],
    has_largest: bool,
    lam_sums: Array,
    inverse_sums: Array,
) -> None:
    """Fill a row of 1 / psi', and add it and lambda to sums, but for distributions whose largest lambda is in it."""
    widest_vectors()
    for k in range(lam.size):
        inverse[k] = inverse_curvature(lam[k])
    if has_largest:
        for k in range(lam.size):
            if row != largest[k]:
                lam_sums[k] += lam[k]
                inverse_sums[k] += inverse[k]
        return
    for k in range(lam.size):
        lam_sums[k] += lam[k]
        inverse_sums[k] += inverse[k]


@kernel
def _fill_gradient(
    lam: Array,
    draws: Array,
    log_totals: Array,
    counts: npt.NDArray[Any],
    scale: float,
    sums: Array,
    least: float,
    gradient: Array,
) -> None:
    """Fill g = w (x - beta sum x), or 0 where it need not be known; see `_pull_back`.

    The words of all rows that are to be pulled back are put together first: few of a row are, and short runs would not
    fill the processor's registers.
    """
    size, count = lam.shape[1], 0
    shapes, log_x, place = np.empty(lam.size + 1), np.empty(lam.size + 1), np.empty(lam.size + 1, np.int64)
    for v in range(lam.shape[0]):
        for k in range(size):
            gradient[v, k] = 0.0
            shapes[count], log_x[count], place[count] = lam[v, k], draws[v, k] + log_totals[k], v * size + k
            count += int((lam[v, k] >= least) & ((counts[v, k] != 0) | (draws[v, k] > _LOG_NEGLIGIBLE)))
    found = np.empty(count)
    slopes(shapes[:count], log_x[:count], found)
    for j in range(count):
        v, k = place[j] // size, place[j] % size
        gradient[v, k] = found[j] * (counts[v, k] * scale - fast_exp(draws[v, k]) * sums[k])


@kernel
def _pull_back(
    lam: Array,
    draws: Array,
    log_totals: Array,
    counts: npt.NDArray[Any],
    scale: float,
    sums: Array,
    largest: npt.NDArray[np.int64],
    least: float,
    common: Array,
    gradient: Array,
    inverse: Array,
    totals: Array,
) -> None:
    """Fill g = w (x - beta sum x) and 1 / psi', and add up what the Fisher solve needs; x = counts times scale.

    Words without counts whose beta is below `_NEGLIGIBLE` have g = 0: what they would add to V x is less than that
    share of the counts, times |log x|. Words whose lambda is below `least` were not drawn: to the sums they bring the
    mean of g, which is F x, of which `common` is psi'(sum lambda) sum x. `totals` receives, for each distribution, the
    sums of lambda and of 1 / psi' over all words but the one with the largest lambda, whose row is `largest`, and the
    sum of g / psi'.
    """
    size, has_largest = lam.shape[1], _rows_with_largest(lam, largest)
    _fill_gradient(lam, draws, log_totals, counts, scale, sums, least, gradient)
    for v in range(lam.shape[0]):
        _add_row(v, lam[v], inverse[v], largest, has_largest[v], totals[0], totals[1])
        own, inverses, sums_of_both = gradient[v], inverse[v], totals[2]
        for k in range(size):
            mean = counts[v, k] * scale - common[k] * inverses[k]
            sums_of_both[k] += mean if lam[v, k] < least else own[k] * inverses[k]


@kernel
def _find_largest(lam: Array, largest: Array, rows: npt.NDArray[np.int64]) -> None:
    """Fill in the largest lambda of each distribution, and its row (the first, of several)."""
    for v in range(lam.shape[0]):
        own = lam[v]
        for k in range(own.size):
            larger = own[k] > largest[k]
            largest[k] = own[k] if larger else largest[k]
            rows[k] = v if larger else rows[k]


@kernel
def _add_counts(counts: npt.NDArray[Any], sums: Array) -> None:
    for v in range(counts.shape[0]):
        own = counts[v]
        for k in range(own.size):
            sums[k] += own[k]


@kernel
def _complete(
    lam: Array,
    gradient: Array,
    shift: Array,
    inverse: Array,
    x: Array,
    ramp: float,
    softening: float,
    least: float,
    out: Array,
) -> None:
    """Fill `out` with x + k (V x - x), k = ramp lambda / (lambda + softening), and 0 where nothing was drawn."""
    widest_vectors()
    for v in range(lam.shape[0]):
        for k in range(lam.shape[1]):
            corrected = (gradient[v, k] + shift[k]) * inverse[v, k]
            share = 0.0 if lam[v, k] < least else ramp * lam[v, k] / (lam[v, k] + softening)
            out[v, k] = x[v, k] + share * (corrected - x[v, k])


@kernel
def _add_up(lam: Array, largest: npt.NDArray[np.int64], totals: Array) -> None:
    """Do for the words not chosen what `_pull_back` does for the others; the last sum is of 1 / psi' alone."""
    inverse, has_largest, sums = np.empty(lam.shape[1]), _rows_with_largest(lam, largest), totals[2]
    for v in range(lam.shape[0]):
        _add_row(v, lam[v], inverse, largest, has_largest[v], totals[0], totals[1])
        for k in range(inverse.size):
            sums[k] += inverse[k]


@kernel
def _complete_others(lam: Array, common: Array, ramp: float, softening: float, out: Array) -> None:
    for v in range(lam.shape[0]):
        for k in range(lam.shape[1]):
            share = ramp * lam[v, k] / (lam[v, k] + softening)
            out[v, k] = share * (common[k] * inverse_curvature(lam[v, k]))


@dataclass(frozen=True)
class _Chosen:
    """The correction of some of the chosen words."""

    gradient: Array
    inverse: Array
    shift: Array

    has_location: ClassVar[bool] = False

    def corrected(self, lam: Array, draw: Draw, x: Array, ramp: float = 1.0, softening: float = 0.0) -> Array:
        """Return x + k (V x - x)."""
        out = np.empty(lam.shape)
        _complete(lam, self.gradient, self.shift, self.inverse, x, ramp, softening, draw.least, out)
        return out


@dataclass(frozen=True)
class _Other:
    """The correction of any other words, where x is 0."""

    common: Array

    has_location: ClassVar[bool] = False

    def corrected(self, lam: Array, draw: Draw, x: Array, ramp: float = 1.0, softening: float = 0.0) -> Array:
        """Return k V x."""
        out = np.empty(lam.shape)
        _complete_others(lam, self.common, ramp, softening, out)
        return out


@dataclass(frozen=True)
class ColumnCorrection(Correction):
    """V x, by tasks of the chosen words, and for any others."""

    _gradient: Array
    _inverse: Array
    _shift: Array
    _common: Array

    def of(self, task: slice) -> TargetFormulas:
        """Return the formulas for a task of the chosen words."""
        return _Chosen(self._gradient[task], self._inverse[task], self._shift)

    def of_others(self) -> TargetFormulas:
        """Return the formulas for words that were not chosen."""
        return _Other(self._common)


@dataclass(frozen=True)
class _Survey:
    """What must be known of all words before any is corrected.

    Attributes
    ----------
    sums : (K,)
        sum x of each distribution.
    largest : (K,)
        Its largest lambda, which the Fisher solve keeps apart.
    task, row : (K,) integers
        Where that is: in which task (those of the chosen words come first), and in which row of it.

    """

    sums: Array
    largest: Array
    task: npt.NDArray[np.int64]
    row: npt.NDArray[np.int64]

    @classmethod
    def of(cls, chosen: Array, x: Statistics, others: Others, each: Each) -> _Survey:
        """Go over all words once."""

        def look(lam: Array) -> tuple[Array, npt.NDArray[np.int64]]:
            largest, rows = np.zeros(lam.shape[1]), np.zeros(lam.shape[1], dtype=np.int64)
            _find_largest(lam, largest, rows)
            return largest, rows

        def look_at(words: slice) -> tuple[Array, tuple[Array, npt.NDArray[np.int64]]]:
            sums = np.zeros(chosen.shape[1])
            _add_counts(x.counts[words], sums)
            return sums, look(chosen[words])

        tasks, other_tasks = _tasks(chosen, others)
        inside = list(each(look_at, tasks))
        found = [own for _, own in inside]
        found += each(lambda words: look(others.lam(words)), other_tasks)
        sums = sum((own for own, _ in inside), np.zeros(chosen.shape[1])) * x.scale
        task = np.argmax([largest for largest, _ in found], axis=0)
        every = np.arange(len(task))
        largest = np.array([largest for largest, _ in found])[task, every]
        return cls(sums, largest, task, np.array([rows for _, rows in found])[task, every])

    def rows_in(self, task: int) -> npt.NDArray[np.int64]:
        """Return the rows of a task that hold a largest lambda; -1 for distributions whose largest is elsewhere."""
        return np.where(self.task == task, self.row, -1)


def natural_correction(
    chosen: Array, rest: Array, draw: Draw, x: Statistics, others: Others, each: Each
) -> ColumnCorrection:
    """Return V x, for chosen words whose lambda is given and others whose lambda adds up to `rest`."""
    n, survey = chosen.shape[1], _Survey.of(chosen, x, others, each)
    gradient, inverse = np.empty(chosen.shape), np.empty(chosen.shape)
    tasks, other_tasks = _tasks(chosen, others)
    expected = survey.sums * np.array([trigamma(total) for total in column_sums(chosen, each) + rest])

    def pull_back(number: int) -> Array:
        words, totals = tasks[number], np.zeros((3, n))
        _pull_back(
            chosen[words], draw.stats[words], draw.hidden[0], x.counts[words], x.scale,
            survey.sums, survey.rows_in(number), draw.least, expected, gradient[words], inverse[words], totals,
        )  # fmt: skip
        return totals

    def add_up(number: int) -> Array:
        totals = np.zeros((3, n))
        _add_up(others.lam(other_tasks[number]), survey.rows_in(len(tasks) + number), totals)
        return totals

    inside = sum(each(pull_back, range(len(tasks))), np.zeros((3, n)))
    outside = sum(each(add_up, range(len(other_tasks))), np.zeros((3, n)))
    common = np.zeros(n)  # g of the words that were not chosen
    if others.count:
        slopes(rest, draw.hidden[1], common)
        common *= -np.exp(draw.hidden[1] - draw.hidden[0]) * survey.sums
    shift = np.zeros(n)
    if len(chosen) + others.count > 1:  # else beta is 1 whatever lambda is, and x has been pulled back to 0
        lam_sums, inverse_sums = inside[:2] + outside[:2]
        growth = [inverse_trigamma_growth(*pair) for pair in zip(survey.largest, lam_sums, strict=True)]
        shift = (inside[2] + common * outside[2]) / (np.array(growth) - inverse_sums)
    return ColumnCorrection(gradient, inverse, shift, common + shift)


def _tasks(chosen: Array, others: Others) -> tuple[list[slice], list[slice]]:
    """Return the tasks of the chosen words and of the others."""
    return row_tasks(chosen.shape), row_tasks((others.count, chosen.shape[1]))
