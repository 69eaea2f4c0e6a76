"""Whether chains tell the same story."""

from __future__ import annotations

import numpy as np

from ssvi.typing import Array


def split_r_hat(draws: Array, chains: int) -> Array:
    """Return R-hat of each number (Gelman et al. 2013): of chains that lie behind each other, each cut into halves.

    It is the deviation of all draws relative to that within halves: 1 where every half has the same distribution. NaN
    where there are fewer than two draws in a half; 1 for a number that does not change.

    >>> round(float(split_r_hat(np.array([0.0, 1.0, 0.0, 1.0, 5.0, 6.0, 5.0, 6.0]), chains=2)), 2)  # sqrt(0.5 + 50 / 3)
    4.14
    """
    half = len(draws) // chains // 2
    if half < 2:
        return np.full(draws.shape[1:], np.nan)
    own = draws[: chains * (len(draws) // chains)].reshape(chains, -1, *draws.shape[1:])
    parts = np.concatenate([own[:, :half], own[:, -half:]])
    within = parts.var(axis=1, ddof=1).mean(axis=0)
    between = parts.mean(axis=1).var(axis=0, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.sqrt((half - 1) / half + between / within)
    return np.where(within > 0, ratio, np.where(between > 0, np.inf, 1.0))
