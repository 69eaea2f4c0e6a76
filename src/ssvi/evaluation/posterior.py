"""Draws of global parameters from q, for any model."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ssvi.models.base import Model
from ssvi.numerics.random import derive_key, derive_keys
from ssvi.typing import Array


def draws_of_q(
    model: Model, parameters: Mapping[str, Array], count: int, seed: int, purpose: str = "calibration"
) -> dict[str, Array]:
    """Draw the global parameters from q, `count` times: by block, a row a draw, as the model simulates them."""
    values = {}
    for name, block in model.blocks().items():
        lam = np.repeat(parameters[name][None], count, axis=0)
        keys = derive_keys(derive_key(seed, purpose, name), lam[..., 0].size)
        values[name] = block.family.values(block.family.draw(lam, keys).stats)
    return values
