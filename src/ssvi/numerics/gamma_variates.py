"""Gamma draws in log space, for shapes from 1e-8 to 1e8.

A shape that no gamma distribution has (zero, negative, infinite or NaN) gives NaN: left to the tests of acceptance, it
would be proposed for ever.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ssvi.numerics.bits import fast_log
from ssvi.numerics.compile import kernel, widest_vectors
from ssvi.numerics.random import EDGES, Keys, normal, normal_from, scramble, uniform, ziggurat_layer


@kernel
def _accept(shape: float, deviate: float, chance: float, state: np.uint64) -> tuple[float, np.uint64]:
    """Return a Gamma(shape, 1) draw, shape >= 1, from a first proposal (a normal and a uniform) or further ones."""
    scale = shape - 1.0 / 3.0
    width = 1.0 / math.sqrt(9.0 * scale)
    while True:
        root = 1.0 + width * deviate
        if root > 0.0:
            cube = root * root * root
            square = deviate * deviate
            if chance < 1.0 - 0.0331 * square * square:
                return scale * cube, state
            if math.log(chance) < 0.5 * square + scale * (1.0 - cube + math.log(cube)):
                return scale * cube, state
        deviate, state = normal(state)
        chance, state = uniform(state)


@kernel
def log_gamma_variate(shape: float, state: np.uint64) -> tuple[float, np.uint64]:
    """Return the logarithm of a Gamma(shape, 1) draw and the state that follows.

    Marsaglia and Tsang's squeeze for shape >= 1. Below, Gamma(s) = Gamma(s + 1) U^(1/s): in log space the power is a
    division, so that nothing underflows however small the shape is.
    """
    power = 0.0
    if not (shape > 0.0 and shape < math.inf):
        return math.nan, state
    if shape < 1.0:
        chance, state = uniform(state)
        power = math.log(chance) / shape
        shape += 1.0
    deviate, state = normal(state)
    chance, state = uniform(state)
    value, state = _accept(shape, deviate, chance, state)
    return math.log(value) + power, state


@kernel
def log_gamma_rows(shapes: npt.NDArray[np.float64], keys: Keys, out: npt.NDArray[np.float64]) -> None:
    """Fill `out` with log Gamma(shapes, 1) draws, row i of the two-dimensional arrays from the stream `keys[i]`."""
    for row in range(shapes.shape[0]):
        state = keys[row]
        for column in range(shapes.shape[1]):
            out[row, column], state = log_gamma_variate(shapes[row, column], state)


_BATCH = 512  # draws whose intermediate results fit the nearest cache
_STRIDE = np.uint64(0x9E3779B97F4A7C15)
_SHIFT_12, _SHIFT_32 = np.uint64(12), np.uint64(32)
_PURPOSES = np.uint64(3)  # random words that a draw begins with


@kernel
def _propose(shapes: npt.NDArray[np.float64], key: np.uint64, values: npt.NDArray[np.float64]) -> None:
    """Fill `values` with Gamma draws of shape s (s + 1 for s < 1) where the quick tests accept, and -1 elsewhere."""
    widest_vectors()
    for i in range(shapes.size):
        counter = key + np.uint64(i) * (_PURPOSES * _STRIDE)
        layer, sign, place = ziggurat_layer(scramble(counter + _STRIDE))
        chance = (float(np.int64(scramble(counter + _STRIDE + _STRIDE) >> _SHIFT_32)) + 0.5) * 2.0**-32
        scale = shapes[i] + (1.0 if shapes[i] < 1.0 else 0.0) - 1.0 / 3.0
        root = 1.0 + sign * place / math.sqrt(9.0 * scale)
        square = place * place
        accepted = (place < EDGES[layer + 1]) & (root > 0.0) & (chance < 1.0 - 0.0331 * square * square)
        values[i] = scale * root * root * root if accepted else -1.0


@kernel
def _finish(shape: float, counter: np.uint64) -> float:
    """Return a Gamma draw whose first proposal needs the full tests."""
    state = scramble(counter) ^ counter  # the proposals after the first come from a stream of their own
    bits, chance_bits = scramble(counter + _STRIDE), scramble(counter + _STRIDE + _STRIDE)
    deviate, state = normal_from(bits, state)
    chance = (float(np.int64(chance_bits >> _SHIFT_32)) + 0.5) * 2.0**-32
    value, state = _accept(shape + (1.0 if shape < 1.0 else 0.0), deviate, chance, state)
    return value


@kernel
def _draw_batch(shapes: npt.NDArray[np.float64], key: np.uint64, out: npt.NDArray[np.float64]) -> None:
    """Fill `out` with log Gamma(shapes, 1) draws of shapes that are positive and finite."""
    widest_vectors()
    values = np.empty(_BATCH)
    for start in range(0, shapes.size, _BATCH):
        own, result = shapes[start : start + _BATCH], out[start : start + _BATCH]
        first = key + np.uint64(start) * (_PURPOSES * _STRIDE)
        _propose(own, first, values)
        for i in range(own.size):
            if values[i] < 0.0:
                values[i] = _finish(own[i], first + np.uint64(i) * (_PURPOSES * _STRIDE))
        for i in range(own.size):
            counter = first + np.uint64(i) * (_PURPOSES * _STRIDE)
            bits = scramble(counter + _PURPOSES * _STRIDE)
            power = fast_log((float(np.int64(bits >> _SHIFT_12)) + 0.5) * 2.0**-52) / own[i]
            result[i] = fast_log(values[i]) + (power if own[i] < 1.0 else 0.0)


@kernel
def _count_improper(shapes: npt.NDArray[np.float64]) -> int:
    """Return how many shapes no gamma distribution has."""
    widest_vectors()
    proper = 0
    for i in range(shapes.size):
        proper += int((shapes[i] > 0.0) & (shapes[i] < math.inf))
    return shapes.size - proper


@kernel
def log_gamma_batch(shapes: npt.NDArray[np.float64], key: np.uint64, out: npt.NDArray[np.float64]) -> None:
    """Fill `out` with log Gamma(shapes, 1) draws, over one-dimensional arrays.

    The method is `log_gamma_variate`'s, in loops of one thing each that the compiler can vectorise. Most proposals pass
    quick tests; the few others are gone through one by one.
    """
    if _count_improper(shapes) == 0:
        _draw_batch(shapes, key, out)
        return
    # In loops: whole arrays take compilers seconds longer, with all that is said of shapes that do not fit.
    mended = shapes.copy()
    for i in range(shapes.size):
        if not (shapes[i] > 0.0 and shapes[i] < math.inf):
            mended[i] = 1.0
    _draw_batch(mended, key, out)
    for i in range(shapes.size):
        if not (shapes[i] > 0.0 and shapes[i] < math.inf):
            out[i] = math.nan


@kernel
def log_gamma_long_rows(shapes: npt.NDArray[np.float64], keys: Keys, out: npt.NDArray[np.float64]) -> None:
    """Do what `log_gamma_rows` does, by other numbers and in vectors, which pays where rows are long."""
    for row in range(shapes.shape[0]):
        log_gamma_batch(shapes[row], keys[row], out[row])
