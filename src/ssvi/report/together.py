"""Which components occur together: a graph of positive correlations, and all correlations as a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ssvi.report.layout import Arrangement, Order, arrange, hierarchy, kept_neighbours
from ssvi.typing import Array

TIES_EACH = 3
LEAST_TIE = 0.1
_DIGITS = 6  # of correlations, before anything is decided by them: other processors end in other last digits
_ROOM = 1.25  # between two, as parts of what each would have if all were spread evenly
_SPREADING = 200  # steps
_FEWEST = 3  # components, for which there is something to see


@dataclass(frozen=True)
class Together:
    """Correlations of some components.

    Attributes
    ----------
    correlations : (K, K)
        Of their log weights over documents.

    """

    correlations: Array

    @classmethod
    def of(cls, estimator: Any, numbers: Order) -> Together | None:
        """Return what a model says of some of its components; None if it says nothing of correlations."""
        found = estimator.component_correlations()
        if found is None or len(numbers) < _FEWEST:
            return None
        return cls(np.round(found[np.ix_(numbers, numbers)], _DIGITS))

    def ties(self) -> list[tuple[int, int, float]]:
        """Return each component's strongest positive correlations, every pair once, the strongest first."""
        own = np.array(self.correlations)
        np.fill_diagonal(own, -np.inf)
        strongest = np.argsort(-own, axis=1, kind="stable")[:, :TIES_EACH]
        pairs = {(min(a, int(b)), max(a, int(b))) for a, row in enumerate(strongest) for b in row}
        found = [(a, b, float(own[a, b])) for a, b in sorted(pairs) if own[a, b] >= LEAST_TIE]
        return sorted(found, key=lambda tie: -tie[2])

    def distances(self) -> Array:
        """Return sqrt(2 (1 - r)): the distance of standardised variables, relative to their deviation."""
        result: Array = np.sqrt(np.maximum(2.0 * (1.0 - self.correlations), 0.0))
        np.fill_diagonal(result, 0.0)
        return result

    def arrangement(self) -> Arrangement:
        """Return points in the plane, those that occur together near each other, and none upon another."""
        distances = self.distances()
        found, best, _ = arrange(distances)
        points = spread_out(found.get("neighbours", found[best]).points, _ROOM / np.sqrt(len(distances)))
        return Arrangement(points, kept_neighbours(distances, points))

    def order(self) -> Order:
        """Return the components with those side by side that occur together."""
        return hierarchy(self.distances()).order


def spread_out(points: Array, least: float) -> Array:
    """Return points of which no two are much nearer than this, moved as little as it takes; within -1 and 1.

    Each step moves every two that are too near apart along the line between them, half of what is missing. Sums and
    products in an order of their own, of rounded numbers: other processors have the same result.
    """
    # Two in one place go apart in a direction of their own.
    angles = 2.4 * np.arange(len(points))
    places = np.round(points + 1e-4 * np.stack([np.cos(angles), np.sin(angles)], axis=1), _DIGITS)
    for _ in range(_SPREADING):
        x, y = places[:, 0, None] - places[:, 0], places[:, 1, None] - places[:, 1]
        apart = np.sqrt(x * x + y * y)
        np.fill_diagonal(apart, np.inf)
        push = 0.25 * np.maximum(least - apart, 0.0) / apart
        if not push.any():
            break
        places = np.round(places + np.stack([(push * x).sum(axis=1), (push * y).sum(axis=1)], axis=1), _DIGITS)
    return np.asarray(places / max(1.0, float(np.abs(places).max())))
