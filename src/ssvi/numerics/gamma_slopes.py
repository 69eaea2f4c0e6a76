"""What SSVI needs of every coordinate, in a form that the compiler can vectorise.

For a gamma variable of shape s, with logarithm `log_x`, these are w(s, x) (see `ssvi.numerics.gamma_quantile`) and
1 / psi'(s). For w, shapes under 8 are raised by 8 with the recurrences

    w(s, x) = (x w(s + 1, x) - log x + psi(s + 1)) / s,    psi(s) = psi(s + 1) - 1 / s,

and at the raised shape a short form of Temme's expansion serves: where it is poor (x far below s) the recurrence makes
it small. All of it is arithmetic without branches. The relative error of w is below `BOUND`; the rare arguments for
which that does not hold (x far above s, or shapes over 8 at more than three standard deviations) are marked, and are
left to the exact form.
"""

from __future__ import annotations

import math

from ssvi.numerics.bits import fast_exp, fast_log
from ssvi.numerics.compile import fused_kernel, kernel, widest_vectors
from ssvi.numerics.gamma_quantile import TEMME, log_quantile_derivative
from ssvi.typing import Array

BOUND = 1e-4
"""The largest relative error of w."""

_STEEP = 1.7  # the largest |eta| that the polynomials are made for
_BATCH = 512

# The first coefficients of c_0, c_1 and c_2 of Temme's expansion, and of the derivatives of the first two. Written out
# below, term by term: a loop over them would keep the compiler from vectorising the loop over numbers.
_C0 = tuple(TEMME[0, :14].tolist())
_C1 = tuple(TEMME[1, :10].tolist())
_C2 = tuple(TEMME[2, :6].tolist())
_D0 = tuple(n * value for n, value in enumerate(_C0) if n)
_D1 = tuple(n * value for n, value in enumerate(_C1) if n)


@fused_kernel
def _slopes(shapes: Array, log_x: Array, slopes: Array) -> None:
    """Fill `slopes` with w, or -1 where it is to be computed exactly."""
    widest_vectors()
    for i in range(shapes.size):
        s, log_value = shapes[i], log_x[i]
        small = s < 8.0
        raised = s + 8.0 if small else s
        x, log_raised, y = fast_exp(log_value), fast_log(raised), 1.0 / raised
        y2 = y * y
        psi = log_raised - 0.5 * y - y2 * (1 / 12 - y2 * (1 / 120 - y2 * (1 / 252 - y2 * (1 / 240))))
        # eta, with (mu - log(1 + mu)) / mu^2 as a series where it would cancel.
        mu, log_ratio = x * y - 1.0, log_value - log_raised
        near = 1 / 8 - mu * (1 / 9 - mu * (1 / 10 - mu * (1 / 11 - mu * (1 / 12 - mu * (1 / 13 - mu * (1 / 14))))))
        near = 1 / 2 - mu * (1 / 3 - mu * (1 / 4 - mu * (1 / 5 - mu * (1 / 6 - mu * (1 / 7 - mu * near)))))
        far = (mu - log_ratio) / max(mu * mu, 1e-300)
        size = math.sqrt(2.0 * (near if abs(mu) < 0.2 else far)) * abs(mu)
        bounded = max(min(size, _STEEP), 1e-9)
        e = bounded if mu >= 0.0 else -bounded
        ratio = mu / e if size > 1e-7 else 1.0
        # Temme's expansion at the raised shape.
        e2 = e * e
        e4 = e2 * e2
        e8 = e4 * e4
        zeroth = (
            (_C0[0] + e * _C0[1] + e2 * (_C0[2] + e * _C0[3]))
            + e4 * (_C0[4] + e * _C0[5] + e2 * (_C0[6] + e * _C0[7]))
            + e8 * (_C0[8] + e * _C0[9] + e2 * (_C0[10] + e * _C0[11]) + e4 * (_C0[12] + e * _C0[13]))
        )
        zeroth_slope = (
            (_D0[0] + e * _D0[1] + e2 * (_D0[2] + e * _D0[3]))
            + e4 * (_D0[4] + e * _D0[5] + e2 * (_D0[6] + e * _D0[7]))
            + e8 * (_D0[8] + e * _D0[9] + e2 * (_D0[10] + e * _D0[11]) + e4 * _D0[12])
        )
        first = (
            (_C1[0] + e * _C1[1] + e2 * (_C1[2] + e * _C1[3]))
            + e4 * (_C1[4] + e * _C1[5] + e2 * (_C1[6] + e * _C1[7]))
            + e8 * (_C1[8] + e * _C1[9])
        )
        first_slope = (
            (_D1[0] + e * _D1[1] + e2 * (_D1[2] + e * _D1[3]))
            + e4 * (_D1[4] + e * _D1[5] + e2 * (_D1[6] + e * _D1[7]))
            + e8 * _D1[8]
        )
        second = _C2[0] + e * _C2[1] + e2 * (_C2[2] + e * _C2[3]) + e4 * (_C2[4] + e * _C2[5])
        total, slope = zeroth + y * (first + y * second), zeroth_slope + y * first_slope
        drift = (first + 2.0 * second * y) * y2
        bracket = ratio - 0.5 * e + total * (log_ratio - 0.5 * y) - slope * ratio * y - drift
        w = (1.0 + y * (1 / 12 + y * (1 / 288 - y * (139 / 51840)))) * bracket * y
        # Back down to the shape.
        lower, low_w = raised - 1.0, w
        for _ in range(2):
            # Four steps with one division, from which the inverses of all four shapes follow.
            first_two, last_two = lower * (lower - 1.0), (lower - 2.0) * (lower - 3.0)
            every = 1.0 / (first_two * last_two)
            inverse_first, inverse_last = last_two * every, first_two * every
            for inverse in (
                (lower - 1.0) * inverse_first,
                lower * inverse_first,
                (lower - 3.0) * inverse_last,
                (lower - 2.0) * inverse_last,
            ):
                low_w = (x * low_w - log_value + psi) * inverse
                psi -= inverse
            lower -= 4.0
        exact = x > 2.0 * s + 4.0 if small else size > 1.0
        slopes[i] = -1.0 if exact else (low_w if small else w)


@kernel
def slopes(shapes: Array, log_x: Array, out: Array) -> None:
    """Fill `out` with w(s, x), over one-dimensional arrays."""
    for start in range(0, shapes.size, _BATCH):
        own = slice(start, start + _BATCH)
        _slopes(shapes[own], log_x[own], out[own])
        for i in range(start, min(start + _BATCH, shapes.size)):
            if out[i] < 0.0:
                out[i] = log_quantile_derivative(shapes[i], log_x[i])


@fused_kernel
def inverse_curvature(s: float) -> float:
    """Return 1 / psi'(s), to nine digits: four steps of the recurrence and the asymptotic series."""
    a, b, c, d = s * s, (s + 1.0) * (s + 1.0), (s + 2.0) * (s + 2.0), (s + 3.0) * (s + 3.0)
    # 1/a + 1/b + 1/c + 1/d with one division; shapes beyond 1e30 would overflow, and need no steps.
    near = ((a + b) * (c * d) + (c + d) * (a * b)) / ((a * b) * (c * d))
    y = 1.0 / (s + 4.0)
    y2 = y * y
    tail = y2 * (1 / 30 - y2 * (1 / 42 - y2 * (1 / 30 - y2 * (5 / 66 - y2 * (691 / 2730 - y2 * (7 / 6))))))
    return 1.0 / (near + y * (1.0 + 0.5 * y + y2 * (1 / 6 - tail)))
