"""Whether another seed finds the same components."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np
from scipy.optimize import linear_sum_assignment

from ssvi.typing import Array


def agreement(first: Array, second: Array) -> float:
    """Return the mean cosine of the components of two fits, each with its partner in the other: 1 if they are the same.

    Partners are chosen so that the mean is largest, one for one; a component without a partner counts as 0.

    Parameters
    ----------
    first, second : (K, columns)
        The components' weights of the columns.

    Examples
    --------
    >>> agreement(np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[0.0, 1.0], [1.0, 0.0]]))
    1.0
    >>> agreement(np.array([[1.0, 0.0], [0.0, 2.0]]), np.array([[0.0, 1.0]]))
    0.5

    """
    lengths = [np.sqrt((rows**2).sum(axis=1, keepdims=True)) for rows in (first, second)]
    cosines = (first / np.maximum(lengths[0], 1e-300)) @ (second / np.maximum(lengths[1], 1e-300)).T
    return float(cosines[linear_sum_assignment(-cosines)].sum() / max(len(first), len(second), 1))


def stability(fits: Sequence[Array]) -> float | None:
    """Return the mean agreement of every two fits; None if there is only one."""
    pairs = [agreement(first, second) for first, second in combinations(fits, 2)]
    return float(np.mean(pairs)) if pairs else None
