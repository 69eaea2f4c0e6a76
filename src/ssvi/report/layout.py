"""Where components stand: on two axes, as neighbours, in a hierarchy; and how much of the truth each shows.

A plane cannot hold the distances of many components. Two arrangements fail in different ways: `plane` keeps distances
as well as two straight axes can, so that strangers may end up side by side; `neighbours` keeps those together that are
alike, and says little of how far groups are apart. Each comes with a figure that tells how far to trust it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from ssvi.typing import Array

Order = npt.NDArray[np.int64]

_NEAREST = 5  # of each component, by which arrangements are judged
_FEWEST = 8  # components for which neighbours are worth an arrangement of their own
_PERPLEXITY = 8.0  # the number of neighbours that each component keeps near, about
_STEPS, _PUSHED = 500, 120  # of the descent; of these the first ones with attraction multiplied
_PUSH, _RATE = 6.0, 0.12
_DIGITS = 8  # of what the descent begins with


@dataclass(frozen=True)
class Arrangement:
    """Points in the plane, within -1 and 1.

    Attributes
    ----------
    points : (K, 2)
        Where each component is.
    kept : float
        The share of the components' nearest neighbours that are among the nearest in the plane too.

    """

    points: Array
    kept: float


def arrange(distances: Array) -> tuple[dict[str, Arrangement], str, float]:
    """Return the arrangements there are by name, the name of the better one, and the share of the axes."""
    # On one thread: the matrices are small, and the map has the same bits whatever the machine is busy with.
    with threadpool_limits(1):
        axes, share = principal_axes(distances)
        near = neighbours(distances, axes) if len(distances) >= _FEWEST else None
    found = {"distances": Arrangement(axes, kept_neighbours(distances, axes))}
    if near is not None:
        found["neighbours"] = Arrangement(near, kept_neighbours(distances, near))
    best = max(found, key=lambda name: (round(found[name].kept, 9), name == "distances"))
    return found, best, share


def plane(distances: Array) -> Array:
    """Return points in the plane whose distances are about these (classical scaling), within -1 and 1."""
    return principal_axes(distances)[0]


def principal_axes(distances: Array) -> tuple[Array, float]:
    """Return points on the two axes of most variance, within -1 and 1, and the share of the variance they hold.

    Distances that no space of any dimension has would make negative variances: these count as nothing.
    """
    n = len(distances)
    if n < 2:
        return np.zeros((n, 2)), 1.0
    centre = np.eye(n) - 1.0 / n
    values, vectors = np.linalg.eigh(-0.5 * centre @ distances**2 @ centre)
    values = np.maximum(values, 0.0)
    points = vectors[:, ::-1][:, :2] * np.sqrt(values[::-1][:2])
    # Eigenvectors come with either sign: the largest coordinate of each axis is positive.
    points *= np.where(points[np.abs(points).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    total = float(values.sum())
    return _scaled(points), float(values[::-1][:2].sum()) / total if total > 0 else 1.0


def neighbours(distances: Array, start: Array) -> Array:
    """Return points in the plane of which those that are alike are near (t-SNE), within -1 and 1.

    It starts from given points and draws nothing, so that the same distances have the same map. A descent of so many
    steps would make another map of another last digit: what it begins with is rounded, and its steps are sums and
    products in an order of their own (no BLAS), so that other processors draw the same one.
    """
    wanted = np.round(affinities(distances, min(_PERPLEXITY, (len(distances) - 1) / 3.0)), _DIGITS)
    start = np.round(start, _DIGITS)
    # Two components that are the same stand aside by a hair, each in a direction of its own.
    angles = 2.4 * np.arange(len(start))
    aside = np.round(np.stack([np.cos(angles), np.sin(angles)], axis=1), _DIGITS)
    points = 1e-2 * start + 1e-5 * aside
    speed, gain = np.zeros_like(points), np.ones_like(points)
    rate = _RATE * len(points)
    for step in range(_STEPS):
        slope = neighbour_slope((_PUSH if step < _PUSHED else 1.0) * wanted, points)
        gain = np.maximum(np.where(slope * speed < 0.0, gain + 0.2, gain * 0.8), 0.01)
        speed = (0.5 if step < _PUSHED else 0.8) * speed - rate * gain * slope
        points = points + speed
        points = points - points.mean(axis=0)
    return _turned(points)


def affinities(distances: Array, perplexity: float) -> Array:
    """Return how much every two belong together: Gaussian weights with so many neighbours each, made symmetric."""
    squares = distances**2
    np.fill_diagonal(squares, np.inf)
    squares = squares - squares.min(axis=1, keepdims=True)
    low, high = np.full(len(squares), -20.0), np.full(len(squares), 40.0)
    for _ in range(60):  # bisection of the logarithm of each one's precision
        middle = 0.5 * (low + high)
        weights = np.exp(-np.exp(middle)[:, None] * squares)
        weights /= weights.sum(axis=1, keepdims=True)
        entropy = -(weights * np.log(np.maximum(weights, 1e-300))).sum(axis=1)
        wide = entropy > np.log(perplexity)
        low, high = np.where(wide, middle, low), np.where(wide, high, middle)
    result: Array = (weights + weights.T) / (2.0 * len(weights))
    return result


def neighbour_slope(wanted: Array, points: Array) -> Array:
    """Return the gradient of KL(wanted || affinities of the points under Student's t with one degree)."""
    x, y = points[:, 0], points[:, 1]
    near = (x[:, None] - x) ** 2
    near += (y[:, None] - y) ** 2
    near += 1.0
    np.divide(1.0, near, out=near)
    np.fill_diagonal(near, 0.0)
    pull = (wanted - near / near.sum()) * near
    total = pull.sum(axis=1)
    return 4.0 * np.stack([total * x - (pull * x).sum(axis=1), total * y - (pull * y).sum(axis=1)], axis=1)


def kept_neighbours(distances: Array, points: Array) -> float:
    """Return the share of the nearest of each component that are among the nearest of its point as well."""
    n = len(points)
    count = min(_NEAREST, n - 2)  # all others are the nearest anywhere
    if count < 1:
        return 1.0
    shown = np.sqrt(((points[:, None] - points) ** 2).sum(axis=2))
    true, seen = nearest(distances, count), nearest(shown, count)
    return float(np.mean([len(np.intersect1d(a, b)) / count for a, b in zip(true, seen, strict=True)]))


def nearest(distances: Array, count: int) -> Order:
    """Return the components nearest to each, the nearest first: components x count."""
    apart = np.array(distances, dtype=float)
    np.fill_diagonal(apart, np.inf)
    result: Order = np.argsort(apart, axis=1, kind="stable")[:, :count].astype(np.int64)
    return result


@dataclass(frozen=True)
class Tree:
    """A hierarchy of components (Ward's: each step joins the two groups that stay tightest).

    Attributes
    ----------
    merges : (K - 1, 2) integers
        The two that join in each step: components, or K and the number of an earlier step.
    heights : (K - 1,)
        The distance at which they do: that of the two groups' centres, more for larger groups.
    order : (K,) integers
        The components from top to bottom, those that are alike side by side.

    """

    merges: Order
    heights: Array
    order: Order

    def branches(self, most: int) -> list[int]:
        """Return a branch for each component: the tree cut into so many, numbered from 1 in the order of the tree."""
        n = len(self.order)
        members = {k: [k] for k in range(n)}
        for step in range(max(0, n - most)):
            a, b = (int(node) for node in self.merges[step])
            members[n + step] = members.pop(a) + members.pop(b)
        place = {int(k): position for position, k in enumerate(self.order)}
        cut = sorted(members.values(), key=lambda own: min(place[k] for k in own))
        called = {k: number for number, own in enumerate(cut, start=1) for k in own}
        return [called[k] for k in range(n)]


def hierarchy(distances: Array) -> Tree:
    """Return which components join at which distance.

    Ward's rule is for distances in a Euclidean space of any dimension; Jensen-Shannon distances are such.
    """
    n = len(distances)
    if n < 2:
        return Tree(np.zeros((0, 2), np.int64), np.zeros(0), np.arange(n))
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    joined = linkage(squareform(0.5 * (distances + distances.T), checks=False), "ward", optimal_ordering=True)
    return Tree(joined[:, :2].astype(np.int64), joined[:, 2], leaves_list(joined).astype(np.int64))


def _scaled(points: Array) -> Array:
    largest = float(np.abs(points).max(initial=0.0))
    result: Array = points / (largest or 1.0)
    return result


def _turned(points: Array) -> Array:
    """Return points with their widest extent across, which is how screens are."""
    _, _, axes = np.linalg.svd(points - points.mean(axis=0), full_matrices=False)
    turned = points @ axes.T
    turned = turned * np.where(turned[np.abs(turned).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    return _scaled(turned)
