"""Gamma draws in log space, for shapes from 1e-8 to 1e8."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys, normal, uniform


@kernel
def log_gamma_variate(shape: float, state: np.uint64) -> tuple[float, np.uint64]:
    """Return the logarithm of a Gamma(shape, 1) draw and the state that follows.

    Marsaglia and Tsang's squeeze for shape >= 1. Below, Gamma(s) = Gamma(s + 1) U^(1/s): in log space the power is a
    division, so that nothing underflows however small the shape is.
    """
    power = 0.0
    if shape < 1.0:
        chance, state = uniform(state)
        power = math.log(chance) / shape
        shape += 1.0
    scale = shape - 1.0 / 3.0
    width = 1.0 / math.sqrt(9.0 * scale)
    while True:
        deviate, state = normal(state)
        root = 1.0 + width * deviate
        if root <= 0.0:
            continue
        cube = root * root * root
        chance, state = uniform(state)
        square = deviate * deviate
        if chance < 1.0 - 0.0331 * square * square:
            return math.log(scale * cube) + power, state
        if math.log(chance) < 0.5 * square + scale * (1.0 - cube + math.log(cube)):
            return math.log(scale * cube) + power, state


@kernel
def log_gamma_rows(shapes: npt.NDArray[np.float64], keys: Keys, out: npt.NDArray[np.float64]) -> None:
    """Fill `out` with log Gamma(shapes, 1) draws, row i of the two-dimensional arrays from the stream `keys[i]`."""
    for row in range(shapes.shape[0]):
        state = keys[row]
        for column in range(shapes.shape[1]):
            out[row, column], state = log_gamma_variate(shapes[row, column], state)
