"""Where components of a mixture of points can start: k-means with the seeds of k-means++."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ssvi.numerics.compile import kernel
from ssvi.typing import Array

_MOST_ROUNDS = 20
_STARTS = 8
_CHUNK = 512  # points that stay in a near cache while every seed looks at them


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
    columns = np.ascontiguousarray(points.T)
    seeds = _seeds(points, columns, size, rng)
    labels, squares = _nearest(columns, seeds)
    for _ in range(_MOST_ROUNDS):
        counts = np.bincount(labels, minlength=len(seeds))
        sums = np.stack([np.bincount(labels, column, len(seeds)) for column in columns], axis=1)
        seeds = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], seeds)
        moved, squares = _nearest(columns, seeds)
        if np.array_equal(moved, labels):
            break
        labels = moved
    return float(squares.sum()), labels


def _seeds(points: Array, columns: Array, size: int, rng: np.random.Generator) -> Array:
    """Return up to `size` of the points, apart from each other."""
    tries = 2 + int(np.log(size))
    chosen = [int(rng.integers(len(points)))]
    nearest = _closer(columns, points[chosen[0]], np.full(len(points), np.inf))
    while len(chosen) < size and nearest.sum() > 0:
        reached = np.cumsum(nearest)
        candidates = np.searchsorted(reached, rng.random(tries) * reached[-1], side="right")
        candidates = np.minimum(candidates, len(points) - 1)
        options = [_closer(columns, points[one], nearest) for one in candidates]
        best = int(np.argmin([option.sum() for option in options]))
        chosen.append(int(candidates[best]))
        nearest = options[best]
    return points[chosen]


def _nearest(columns: Array, seeds: Array) -> tuple[npt.NDArray[np.int64], Array]:
    """Return each point's nearest seed, the first of several, and the square of its distance."""
    labels, squares = np.zeros(columns.shape[1], np.int64), np.full(columns.shape[1], np.inf)
    _find_nearest(columns, np.ascontiguousarray(seeds), labels, squares)
    return labels, squares


def _closer(columns: Array, seed: Array, squares: Array) -> Array:
    """Return squared distances from the nearest seed once there is one more."""
    result = squares.copy()
    _find_nearest(columns, np.ascontiguousarray(seed)[None], np.zeros(len(squares), np.int64), result)
    return result


@kernel
def _find_nearest(columns: Array, seeds: Array, labels: npt.NDArray[np.int64], squares: Array) -> None:
    """Put in each point's nearest seed where one is nearer than what is there, a chunk of points at a time."""
    away = np.empty(_CHUNK)
    for begin in range(0, labels.size, _CHUNK):
        count = min(_CHUNK, labels.size - begin)
        own, near = labels[begin : begin + count], squares[begin : begin + count]
        for k in range(seeds.shape[0]):
            for i in range(count):
                away[i] = 0.0
            for d in range(columns.shape[0]):
                column, place = columns[d, begin : begin + count], seeds[k, d]
                for i in range(count):
                    away[i] += (column[i] - place) * (column[i] - place)
            for i in range(count):
                if away[i] < near[i]:
                    near[i] = away[i]
                    own[i] = k
