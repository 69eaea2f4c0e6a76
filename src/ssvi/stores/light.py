"""Rows of lambda that a step which corrects can put off nevertheless: those that are too small to be corrected.

`Ssvi(draw_softening=s)` neither draws nor corrects coordinates below a limit, s / 2. A row below it in all of its
distributions just shrinks towards eta, as all rows left out do in other steps; and where the vocabulary is large, most
rows of most steps are such. One thing only is asked of them in every step: the sum of 1 / psi'(lambda), for the Fisher
solve. Up to the limit 1 / psi' is a polynomial, to about 1e-9 of its value (`curvature`), and sums of powers can be
carried along without a look at the rows, since all of them take the same step, lambda to (1 - rho) lambda + rho eta.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from ssvi.families.restricted import Light
from ssvi.numerics.compile import kernel
from ssvi.numerics.special import trigamma
from ssvi.stores.base import Chosen, Update
from ssvi.stores.put_off import PutOff
from ssvi.tasks import Each, row_tasks
from ssvi.typing import Array

DEGREE = 12
"""Of the polynomial."""
MOST = 0.5
"""The largest limit: beyond it a polynomial is not as good."""

Flags = npt.NDArray[np.bool_]


@functools.cache
def curvature(limit: float) -> Array:
    """Return c_0, ..., c_12 such that 1 / psi'(u limit) is sum_j c_j u^j, for u from 0 to 1.

    >>> round(float(sum(c * 0.6**j for j, c in enumerate(curvature(0.5)))), 8), round(1 / trigamma(0.3), 8)
    (0.08166355, 0.08166355)
    """
    fitted = np.polynomial.Chebyshev.interpolate(
        lambda u: np.array([1.0 / (trigamma(limit * one) * one**2) for one in u]), DEGREE - 2, domain=[0.0, 1.0]
    )
    powers = fitted.convert(kind=np.polynomial.Polynomial, domain=[-1.0, 1.0], window=[-1.0, 1.0])
    return np.concatenate([[0.0, 0.0], powers.coef])


@kernel
def _note_light(values: Array, limit: float, light: Flags) -> None:
    """Tell of each row whether all of it is below the limit."""
    for row in range(values.shape[0]):
        is_light = True
        for k in range(values.shape[1]):
            is_light &= values[row, k] < limit
        light[row] = is_light


@kernel
def _add_powers(values: Array, limit: float, light: Flags, sums: Array) -> None:
    """Add the powers of (lambda / limit) of those rows that are light, from the 0th on."""
    power = np.empty(values.shape[1])
    for row in range(values.shape[0]):
        if light[row]:
            power[:] = 1.0
            for j in range(sums.shape[0]):
                own = sums[j]
                for k in range(power.size):
                    own[k] += power[k]
                    power[k] *= values[row, k] / limit


class LightRows:
    """Which rows of lambda are light, and the sums of their powers."""

    def __init__(self, limit: float, rows: PutOff, each: Each, powers: Array | None = None) -> None:
        """Look at all rows; `powers` are the sums that a fit which is taken up again had carried along."""
        self.limit = limit
        self.flags: Flags = np.zeros(rows.shape[0], np.bool_)

        def look(task: slice) -> Array:
            return self.note(np.arange(task.start, task.stop), rows.look_at(np.arange(task.start, task.stop)))

        found = sum(each(look, row_tasks(rows.shape)), np.zeros((DEGREE + 1, rows.shape[1])))
        self.powers: Array = found if powers is None else powers.copy()

    def note(self, rows: Chosen, values: Array) -> Array:
        """Note which of some rows are light now; return the sums of powers of those that are."""
        light, sums = np.empty(len(rows), np.bool_), np.zeros((DEGREE + 1, values.shape[1]))
        _note_light(values, self.limit, light)
        _add_powers(values, self.limit, light, sums)
        self.flags[rows] = light
        return sums

    def leave(self, rows: Chosen, values: Array) -> None:
        """Take some rows, which a step is going to move, out of the sums."""
        gone = np.zeros_like(self.powers)
        _add_powers(values, self.limit, self.flags[rows], gone)
        self.powers = np.maximum(self.powers - gone, 0.0)
        self.flags[rows] = False
        if not self.powers[0].any():
            self.powers[:] = 0.0  # and not what rounding has left

    def shrink(self, update: Update, rows: PutOff) -> Array:
        """Let all rows in the sums take a step towards eta; return what they then add up to."""
        kept, shift = 1.0 - update.step_size, update.step_size * rows.prior[0] / self.limit
        new = np.zeros_like(self.powers)
        for j in range(DEGREE + 1):
            for i in range(j + 1):
                new[j] += math.comb(j, i) * kept**i * shift ** (j - i) * self.powers[i]
        self.powers = new
        return self.sums

    def join(self, powers: Iterable[Array | None]) -> None:
        """Take rows into the sums that were moved, and are light now."""
        for own in powers:
            if own is not None:
                self.powers = self.powers + own

    def summary(self) -> Light:
        """Return what a correction has to know of them."""
        return Light(self.sums, curvature(self.limit) @ self.powers)

    @property
    def sums(self) -> Array:
        """The sums of lambda."""
        result: Array = self.limit * self.powers[1]
        return result
