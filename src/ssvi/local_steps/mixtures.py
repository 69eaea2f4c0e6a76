"""What the local steps of all mixtures share: from log p(y, z = k) to the component of a row, expected or drawn."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys, uniform
from ssvi.typing import Array

_NEGLIGIBLE = 40.0  # exp(-40) is 4e-18


@kernel
def normalise(scores: Array) -> float:
    """Turn log p(y, z = k) into p(z = k | y), in place; return log p(y)."""
    largest = scores.max()
    total = 0.0
    for k in range(scores.size):
        # What is left out is below the last digit of the sum.
        value = math.exp(scores[k] - largest) if scores[k] > largest - _NEGLIGIBLE else 0.0
        scores[k] = value
        total += value
    scores /= total
    return float(largest + math.log(total))


@kernel
def draw_components(local: Array, keys: Keys) -> npt.NDArray[np.int64]:
    """Replace each row of probabilities by a draw from it, a one among zeros; return the draws."""
    drawn = np.empty(local.shape[0], np.int64)
    for n in range(local.shape[0]):
        level, _ = uniform(keys[n])
        chosen = 0
        for k in range(local.shape[1]):
            if local[n, k] > 0.0:
                chosen = k
                level -= local[n, k]
                if level < 0.0:
                    break
        local[n] = 0.0
        local[n, chosen] = 1.0
        drawn[n] = chosen
    return drawn
