"""Squared distances of sixteen points at once from a place, in units of a Gaussian's widths.

Points are columns x 16: an instruction handles one column of several points, and sums stay in registers.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import types

from ssvi.numerics.compile import intrinsic
from ssvi.numerics.simd import WIDTH, VectorCode, array_address, constant, loop, variable
from ssvi.typing import Array

_BAND = 4  # columns of the factor that go through a point's numbers together


def pack_factors(factors: Array) -> Array:
    """Return lower triangular factors (places, D, D) in the order in which `triangular_squares` reads them.

    That is by bands of four columns, row by row, from a band's first row that is not zero; missing columns are zero.
    """
    size = factors.shape[-1]
    columns = -(-size // _BAND) * _BAND
    wide = np.zeros((len(factors), size, columns))
    wide[:, :, :size] = factors
    bands = [wide[:, first:, first : first + _BAND].reshape(len(factors), -1) for first in range(0, columns, _BAND)]
    return np.ascontiguousarray(np.concatenate(bands, axis=1))


def pad_centres(centres: Array) -> Array:
    """Return centres (places, D) with as many columns of zeros more as make whole bands."""
    size = centres.shape[-1]
    wide = np.zeros((len(centres), -(-size // _BAND) * _BAND))
    wide[:, :size] = centres
    return wide


def _triangular_in_python(points: Array, factor: Array, centre: Array, out: Array) -> None:
    size, start, out[:] = len(points), 0, 0.0
    for first in range(0, size, _BAND):
        stop = start + _BAND * (size - first)
        band = factor[start:stop].reshape(size - first, _BAND)
        out += ((band.T @ points[first:] - centre[first : first + _BAND, None]) ** 2).sum(axis=0)
        start = stop


@intrinsic(in_python=_triangular_in_python)
def triangular_squares(_typing: Any, points: Any, factor: Any, centre: Any, out: Any) -> Any:
    """Fill `out` (16) with |L^T x - c|^2 of sixteen points x, D x 16; `factor` is L packed, `centre` c padded."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = VectorCode(context, builder, types.float64)
        data = [array_address(context, builder, *pair) for pair in zip(signature.args, arguments, strict=True)]
        rows, packed, shift, result = data
        columns = _length(context, builder, signature.args[0], arguments[0])
        total, place = variable(builder, code.zero), variable(builder, constant(0))
        bands = builder.udiv(builder.add(columns, constant(_BAND - 1)), constant(_BAND))
        with loop(builder, bands) as band:
            first = builder.mul(band, constant(_BAND))
            left, start = builder.sub(columns, first), builder.load(place)
            sums = [
                variable(builder, code.splat(builder.fneg(code.load_one(shift, builder.add(first, constant(c))))))
                for c in range(_BAND)
            ]
            with loop(builder, left) as turn:
                x = code.load(code.at(rows, builder.mul(builder.add(first, turn), constant(WIDTH))))
                here = builder.add(start, builder.mul(turn, constant(_BAND)))
                for c, own in enumerate(sums):
                    weight = code.splat(code.load_one(packed, builder.add(here, constant(c))))
                    builder.store(code.multiply_add(weight, x, builder.load(own)), own)
            for own in sums:
                value = builder.load(own)
                builder.store(code.multiply_add(value, value, builder.load(total)), total)
            builder.store(builder.add(start, builder.mul(left, constant(_BAND))), place)
        code.store(builder.load(total), result)
        return context.get_dummy_value()

    return types.void(points, factor, centre, out), codegen


def _diagonal_in_python(points: Array, scales: Array, centre: Array, out: Array) -> None:
    out[:] = ((scales[:, None] * (points - centre[:, None])) ** 2).sum(axis=0)


@intrinsic(in_python=_diagonal_in_python)
def diagonal_squares(_typing: Any, points: Any, scales: Any, centre: Any, out: Any) -> Any:
    """Fill `out` (16) with sum_d (s_d (x_d - c_d))^2 of sixteen points x, D x 16."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = VectorCode(context, builder, types.float64)
        data = [array_address(context, builder, *pair) for pair in zip(signature.args, arguments, strict=True)]
        rows, widths, shift, result = data
        total = variable(builder, code.zero)
        with loop(builder, _length(context, builder, signature.args[0], arguments[0])) as column:
            x = code.load(code.at(rows, builder.mul(column, constant(WIDTH))))
            away = builder.fsub(x, code.splat(code.load_one(shift, column)))
            value = builder.fmul(away, code.splat(code.load_one(widths, column)))
            builder.store(code.multiply_add(value, value, builder.load(total)), total)
        code.store(builder.load(total), result)
        return context.get_dummy_value()

    return types.void(points, scales, centre, out), codegen


def _length(context: Any, builder: Any, kind: Any, array: Any) -> Any:
    """Return the length of an array's first axis."""
    return builder.extract_value(context.make_array(kind)(context, builder, array).shape, 0)
