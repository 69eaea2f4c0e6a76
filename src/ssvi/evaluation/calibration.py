"""Whether a posterior is as wide as it should be: simulation-based calibration (Talts et al. 2018).

Parameters are drawn from the prior and data given them. Under the exact posterior of these data the true value of any
function of the parameters is one more draw, so that its rank among some draws is uniform. A posterior that is too
narrow puts the truth too often at either end of its draws, one that leans to a side too often at one end.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ssvi.typing import Array

Ranks = npt.NDArray[np.int64]
LEVELS = (0.5, 0.8, 0.9)
"""The shares that intervals are made to cover: with 19, 39, 59, ... draws this can be done exactly."""
BINS = 20
"""Of a histogram of ranks; their number divides that of the possible ranks."""
_FLIPS = 2_000


def suits(n_draws: int) -> bool:
    """Tell whether so many draws have ranks that `LEVELS` and `BINS` divide without rest."""
    return n_draws >= 1 and (n_draws + 1) % BINS == 0


def ranks_of(truth: Array, draws: Array, rng: np.random.Generator) -> Ranks:
    """Return how many of the draws (a row each) lie below the truth in each column; ties are broken at random."""
    below, ties = (draws < truth).sum(axis=0), (draws == truth).sum(axis=0)
    ranks: Ranks = below + rng.integers(0, ties + 1)
    return ranks


def covered(ranks: Ranks, n_draws: int, level: float) -> npt.NDArray[np.bool_]:
    """Tell for each rank whether the truth lies in the middle interval that should have it with probability `level`."""
    tail = _tail(n_draws, level)
    inside: npt.NDArray[np.bool_] = (ranks >= tail) & (ranks <= n_draws - tail)
    return inside


def interval_widths(draws: Array, level: float) -> Array:
    """Return the width of that interval in each column."""
    tail, ordered = _tail(len(draws), level), np.sort(draws, axis=0)
    widths: Array = ordered[len(draws) - tail] - ordered[tail - 1]
    return widths


def rank_histogram(ranks: Ranks, n_draws: int) -> npt.NDArray[np.int64]:
    """Return how many of the ranks 0, ..., n_draws fall in each of `BINS` bins of equal width."""
    histogram: npt.NDArray[np.int64] = np.bincount(ranks * BINS // (n_draws + 1), minlength=BINS)
    return histogram


@dataclass(frozen=True)
class Uniformity:
    """How far ranks are from uniform.

    Attributes
    ----------
    deviation : float
        The largest distance between the distribution function of the ranks and that of uniform ones.
    p_value : float
        How probable so large a distance (relative to what independent ranks have there) would be for uniform ranks.

    """

    deviation: float
    p_value: float


def uniformity(histograms: npt.ArrayLike, seed: int = 0) -> Uniformity:
    """Compare ranks with uniform ones, given a histogram (a row) for each data set.

    Functions of the same data set are not independent, so that the data sets are what counts as one observation: under
    uniform ranks each one's distribution function deviates from the straight line by something of mean zero, and the
    p-value comes from turning the signs of these deviations round at random, a data set at a time.
    """
    counts = np.asarray(histograms, dtype=float)
    line = np.arange(1, counts.shape[1]) / counts.shape[1]
    deviations = np.cumsum(counts, axis=1)[:, :-1] / counts.sum(axis=1, keepdims=True) - line
    # In units that make the ends count as much as the middle. They do not depend on what was found: few truths lie at
    # the ends, and where none does an estimated error would be too small.
    scaled = deviations / np.sqrt(line * (1.0 - line))
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (_FLIPS, len(counts)))
    found, flipped = np.abs(scaled.sum(axis=0)).max(), np.abs(signs @ scaled).max(axis=1)
    p_value = (1 + np.count_nonzero(flipped >= found * (1 - 1e-12))) / (1 + _FLIPS)
    return Uniformity(float(np.abs(deviations.mean(axis=0)).max()), float(p_value))


def _tail(n_draws: int, level: float) -> int:
    """Return how many of the possible ranks are left out at either end."""
    return round((1.0 - level) / 2.0 * (n_draws + 1))
