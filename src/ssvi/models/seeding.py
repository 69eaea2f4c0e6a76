"""Where components of a mixture of points can start: k-means with the seeds of k-means++."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ssvi.typing import Array

_MOST_ROUNDS = 20
_STARTS = 8


def k_means(points: Array, size: int, rng: np.random.Generator, starts: int = _STARTS) -> npt.NDArray[np.int64]:
    """Return a cluster from 0 to size - 1 for each point; some clusters have none where there are few distinct points.

    The tightest clusters of a few starts: what a start has merged, a fit seldom parts again. Seeds are chosen with
    chances that grow with the square of their distance from those before (Arthur and Vassilvitskii 2007), the best of a
    few tries each. Sums are taken in one order, so that the same generator gives the same clusters on every machine.
    """
    found = [_one_start(points, size, rng) for _ in range(starts)]
    return min(found, key=lambda start: start[0])[1]


def _one_start(points: Array, size: int, rng: np.random.Generator) -> tuple[float, npt.NDArray[np.int64]]:
    """Return how loose the clusters of one start are, the sum of squared distances, and the clusters."""
    seeds = _seeds(points, size, rng)
    squares = _all_squares(points, seeds)
    labels = squares.argmin(axis=0)
    for _ in range(_MOST_ROUNDS):
        counts = np.bincount(labels, minlength=len(seeds))
        sums = np.stack([np.bincount(labels, column, len(seeds)) for column in points.T], axis=1)
        seeds = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], seeds)
        squares = _all_squares(points, seeds)
        moved = squares.argmin(axis=0)
        if np.array_equal(moved, labels):
            break
        labels = moved
    return float(squares.min(axis=0).sum()), labels


def _seeds(points: Array, size: int, rng: np.random.Generator) -> Array:
    """Return up to `size` of the points, apart from each other."""
    tries = 2 + int(np.log(size))
    chosen = [int(rng.integers(len(points)))]
    nearest = _squares(points, points[chosen[0]])
    while len(chosen) < size and nearest.sum() > 0:
        reached = np.cumsum(nearest)
        candidates = np.searchsorted(reached, rng.random(tries) * reached[-1], side="right")
        candidates = np.minimum(candidates, len(points) - 1)
        options = [np.minimum(nearest, _squares(points, points[one])) for one in candidates]
        best = int(np.argmin([option.sum() for option in options]))
        chosen.append(int(candidates[best]))
        nearest = options[best]
    return points[chosen]


def _all_squares(points: Array, seeds: Array) -> Array:
    """Return the squared distances of all points from each seed, a row each."""
    return np.stack([_squares(points, seed) for seed in seeds])


def _squares(points: Array, seed: Array) -> Array:
    result: Array = ((points - seed) ** 2).sum(axis=1)
    return result
