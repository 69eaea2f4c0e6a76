"""What SSVI needs of every coordinate, in a form that the compiler can vectorise.

For a gamma variable of shape s, with logarithm `log_x`, these are w(s, x) (see `ssvi.numerics.gamma_quantile`) and
1 / psi'(s). Shapes under 8 are raised by 8 with the recurrences

    w(s, x) = (x w(s + 1, x) - log x + psi(s + 1)) / s,
    psi(s) = psi(s + 1) - 1 / s,    psi'(s) = psi'(s + 1) + 1 / s^2,

and at the raised shape a short form of Temme's expansion serves: where it is poor (x far below s) the recurrence makes
it small. All of it is arithmetic without branches. The relative error of w is below `BOUND`; the rare arguments for
which that does not hold (x far above s, or shapes over 8 at more than three standard deviations) are marked, and are
left to the exact form.
"""

from __future__ import annotations

import math

import numpy as np

from ssvi.numerics.bits import fast_exp, fast_log
from ssvi.numerics.compile import kernel
from ssvi.numerics.gamma_quantile import TEMME, log_quantile_derivative
from ssvi.typing import Array

BOUND = 1e-4
"""The largest relative error of w."""

_RAISED = 8
_STEEP = 1.7  # the largest |eta| that the polynomials are made for
_TERMS = 18
_FIRST, _SECOND, _THIRD = (np.ascontiguousarray(TEMME[order, :_TERMS]) for order in range(3))
_BATCH = 512


@kernel
def _eta_ratio(mu: float, log_ratio: float) -> float:
    """Return (mu - log(1 + mu)) / mu^2, for log_ratio = log(1 + mu)."""
    near = 1 / 9 - mu * (1 / 10 - mu * (1 / 11 - mu * (1 / 12 - mu * (1 / 13 - mu / 14))))
    near = 1 / 2 - mu * (1 / 3 - mu * (1 / 4 - mu * (1 / 5 - mu * (1 / 6 - mu * (1 / 7 - mu * (1 / 8 - mu * near))))))
    small = abs(mu) < 0.2
    return near if small else (mu - log_ratio) / (mu * mu if mu != 0.0 else 1.0)


@kernel
def _slopes(shapes: Array, log_x: Array, slopes: Array, inverses: Array) -> None:
    """Fill `slopes` with w, or -1 where it is to be computed exactly, and `inverses` with 1 / psi'."""
    for i in range(shapes.size):
        s, log_value = shapes[i], log_x[i]
        raised = s + float(_RAISED) if s < _RAISED else s
        x, log_raised = fast_exp(log_value), fast_log(raised)
        y = 1.0 / raised
        y2 = y * y
        psi = log_raised - 0.5 * y - y2 * (1 / 12 - y2 * (1 / 120 - y2 * (1 / 252 - y2 / 240)))
        curvature = y * (1.0 + 0.5 * y + y2 * (1 / 6 - y2 * (1 / 30 - y2 * (1 / 42 - y2 / 30))))
        # Temme's expansion at the raised shape.
        mu, log_ratio = x * y - 1.0, log_value - log_raised
        size = math.sqrt(2.0 * _eta_ratio(mu, log_ratio)) * abs(mu)
        bounded = min(size, _STEEP)
        eta = bounded if mu >= 0.0 else -bounded
        total, slope, drift = 0.0, 0.0, 0.0  # S, dS/d eta and -s dS/ds, coefficient by coefficient
        for n in range(_TERMS - 1, -1, -1):
            later = y * _SECOND[n] + y2 * _THIRD[n]
            slope = slope * eta + total
            total = total * eta + (_FIRST[n] + later)
            drift = drift * eta + (later + y2 * _THIRD[n])
        ratio = mu / eta if size > 1e-7 else 1.0
        bracket = ratio - 0.5 * eta + total * (log_ratio - 0.5 * y) - slope * ratio * y - drift * y
        w = (1.0 + y * (1 / 12 + y * (1 / 288 - y * 139 / 51840))) * bracket * y
        # Back down.
        lower = raised
        for _ in range(_RAISED):
            lower -= 1.0
            inverse = 1.0 / lower if s < _RAISED else 0.0
            w = (x * w - log_value + psi) * inverse if s < _RAISED else w
            psi -= inverse
            curvature += inverse * inverse
        inverses[i] = 1.0 / curvature
        exact = (x > 2.0 * s + 4.0) if s < _RAISED else (size > 1.0)
        slopes[i] = -1.0 if exact else w


@kernel
def slopes_and_inverses(shapes: Array, log_x: Array, slopes: Array, inverses: Array) -> None:
    """Fill `slopes` with w(s, x) and `inverses` with 1 / psi'(s), over one-dimensional arrays."""
    for start in range(0, shapes.size, _BATCH):
        own = slice(start, start + _BATCH)
        _slopes(shapes[own], log_x[own], slopes[own], inverses[own])
        for i in range(start, min(start + _BATCH, shapes.size)):
            if slopes[i] < 0.0:
                slopes[i] = log_quantile_derivative(shapes[i], log_x[i])
