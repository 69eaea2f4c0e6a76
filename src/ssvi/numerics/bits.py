"""Logarithm and exponential that the compiler can vectorise, and the bits of a number that they are made of.

A loop over `math.log` calls a library function for each element. These are plain arithmetic without branches: in a loop
over an array the compiler does several elements at once. (Divisions by constants are multiplications: the compiler may
not turn one into the other.) Errors are below 2 units in the last place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types

from ssvi.numerics.compile import fused_kernel, intrinsic


def _bits_in_python(number: float) -> np.int64:
    return np.float64(number).view(np.int64)


def _double_in_python(bits: np.int64) -> np.float64:
    return np.int64(bits).view(np.float64)


@intrinsic(in_python=_bits_in_python)
def bits_of(_typing: Any, number: Any) -> Any:
    """Return the 64 bits of a double as an integer."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), codegen


@intrinsic(in_python=_double_in_python)
def double_of(_typing: Any, bits: Any) -> Any:
    """Return the double that has these 64 bits."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), codegen


_EXPONENT_SHIFT = np.int64(52)
_BIAS = np.int64(1023)
_ROOT_HALF = np.int64(0x3FE6A09E667F3BCD)  # sqrt(1/2)
_LOG2_HIGH, _LOG2_LOW = 0.6931471803691238, 1.9082149292705877e-10
_PER_LOG2 = 1.4426950408889634
_ROUND = 6755399441055744.0  # 1.5 2^52: adding it rounds to a whole number


@fused_kernel
def fast_log(x: float) -> float:
    """Return log x of a positive, normal number."""
    # x = 2^n m with m from sqrt(1/2) to sqrt(2); log m = 2 artanh(s), s = (m - 1) / (m + 1).
    shifted = bits_of(x) - _ROOT_HALF
    power = shifted >> _EXPONENT_SHIFT
    m = double_of(bits_of(x) - (power << _EXPONENT_SHIFT))
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    tail = 2 / 11 + z * (2 / 13 + z * (2 / 15 + z * (2 / 17 + z * (2 / 19))))
    series = z * (2 / 3 + z * (2 / 5 + z * (2 / 7 + z * (2 / 9 + z * tail))))
    half = 0.5 * f * f
    n = float(power)
    result: float = n * _LOG2_HIGH - ((half - (s * (half + series) + n * _LOG2_LOW)) - f)
    return result


@fused_kernel
def fast_exp(x: float) -> float:
    """Return e^x; 0 below -708, where results would be subnormal. `x` must not exceed 709."""
    bounded = -708.0 if x < -708.0 else x
    n = (bounded * _PER_LOG2 + _ROUND) - _ROUND
    r = (bounded - n * _LOG2_HIGH) - n * _LOG2_LOW
    tail = 1 / 362880 + r * (1 / 3628800 + r * (1 / 39916800 + r * (1 / 479001600 + r * (1 / 6227020800))))
    middle = 1 / 120 + r * (1 / 720 + r * (1 / 5040 + r * (1 / 40320 + r * tail)))
    total = 1.0 + r * (1.0 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * middle))))
    scale = double_of((np.int64(n) + _BIAS) << _EXPONENT_SHIFT)
    return 0.0 if x < -708.0 else total * scale
