"""Global parameters in the form that people know: topics, means, covariances, transition matrices."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ssvi.typing import Array

if TYPE_CHECKING:
    from ssvi.models.base import Block


class Quantity(NamedTuple):
    """Draws of one quantity.

    Attributes
    ----------
    draws : (n, ...)
        A row a draw.
    dims : tuple of str
        What each further axis counts, or nothing where nobody has said. The last word of a name (they are parted by
        `_`) is what is counted: "topic" and "other_topic" are both axes of topics.

    """

    draws: Array
    dims: tuple[str, ...] = ()


Quantities = dict[str, Quantity]


def counted(dim: str) -> str:
    """Return what an axis counts.

    >>> counted("other_topic")
    'topic'
    """
    return dim.rpartition("_")[2]


def plain_quantities(blocks: Mapping[str, Block], values: Mapping[str, Array]) -> Quantities:
    """Return the quantities of each block as its family names them, behind the block's own name."""
    return {
        f"{name}_{part}" if part else name: Quantity(draws)
        for name, block in blocks.items()
        for part, draws in block.family.named(values[name]).items()
    }


def correlations_of(covariances: Array) -> Array:
    """Return the correlations of covariance matrices, which lie on the last two axes."""
    deviations = np.sqrt(np.diagonal(covariances, axis1=-2, axis2=-1))
    result: Array = covariances / (deviations[..., :, None] * deviations[..., None, :])
    return result
