"""How the held-out scores of a fit moved, and whether they still do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

_FEWEST_SCORES = 4  # that a trend can be seen in
_SURE = 2.0  # standard errors
_WORTH_IT = 0.05  # of what a fit has gained: less to come is nothing to wait twice as long for


def trend_of(estimator: Any) -> dict[str, Any] | None:
    """Return how the held-out scores of a fit moved."""
    scores = [value for _, value in getattr(estimator, "scores_", [])]
    return trend(scores, estimator.n_iter_, bool(estimator.converged_))


def trend(scores: Sequence[float], passes: int, converged: bool = False) -> dict[str, Any] | None:
    """Return how held-out scores moved, and whether they still do.

    The later half of them is taken for a - b / t after t passes, which fits flatten like: as many passes again would
    add b / 2t. Where b is two standard errors from 0, and that is a twentieth of what the fit has gained, the score
    still climbs, or falls; a fit that has `converged` does not climb.
    """
    if not scores:
        return None
    facts: dict[str, Any] = {"first": scores[0], "last": scores[-1], "passes": passes, "direction": "unknown"}
    count, later = len(scores), np.array(scores[len(scores) // 2 :])
    if count < _FEWEST_SCORES or len(later) < 3:
        return facts
    places = -1.0 / np.arange(count - len(later) + 1, count + 1)
    places -= places.mean()
    slope = float(places @ later / (places @ places))
    rest = later - later.mean() - slope * places
    error = math.sqrt(float(rest @ rest) / (len(later) - 2) / float(places @ places))
    gain = slope / (2 * count)
    worth = abs(gain) > _WORTH_IT * max(max(scores) - scores[0], 1e-300)
    sure = abs(slope) > _SURE * error
    moves = sure and worth and not (converged and slope > 0)
    facts["direction"] = ("climbing" if slope > 0 else "falling") if moves else "settled"
    facts["gain_of_as_many_passes"] = gain if sure and slope > 0 else None
    facts["best"] = max(scores)
    return facts
