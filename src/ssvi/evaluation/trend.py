"""How the held-out scores of a fit moved, and whether they still do."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ssvi.typing import Array

_FEWEST_SCORES = 4  # that a trend can be seen in
_ENOUGH_SCORES = 10  # that a climb would have been seen in, if it were worth it
_SURE = 2.0  # standard errors
_WORTH_IT = 0.05  # of what a fit has gained: less to come is nothing to wait twice as long for
_NOTICED = 0.001  # of the score itself: a smaller fall is none
_LATER = 2.5  # the gain of a pass is seen in the passes from p / 2.5 to p
_FIRST = 3  # score that is like those after it
_IN_A_ROW, _NEARLY = 2, 1.4  # looks that show little gain before a fit ends, and times the tolerance that is little
_FAR = 5.0  # times the noise of single scores: the best of many lies about two above their mean, the last one anywhere


def trend_of(estimator: Any, *, stopped: bool = False) -> dict[str, Any] | None:
    """Return how the held-out scores of a fit moved; of one that was `stopped` the direction is unknown."""
    scores = [value for _, value in getattr(estimator, "scores_", [])]
    if not scores:
        return None
    plan, step = estimator._plan(estimator._n_distinct), estimator._state.step
    facts = trend(
        scores, estimator.n_iter_, bool(estimator.converged_),
        asked=plan.passes, every=plan.look // plan.steps_per_pass, kept_best=bool(estimator.early_stopping),
    )  # fmt: skip
    ends_early = estimator.converged_ or estimator.early_stopping or getattr(estimator, "evaluate_every", 0) > 0
    if facts is not None and (stopped or (step < plan.total and not ends_early)):
        facts |= {"direction": "unknown", "gain_of_as_many_passes": None, "stopped_after": step // plan.steps_per_pass}
    return facts


def flattening(scores: Sequence[float] | Array, first: int) -> tuple[float, float, float]:
    """Return b of the a - b / t that is nearest to three or more scores of passes t = first, first + 1, ...

    Also how far single scores are from it, and the standard error of b. Fits flatten like that.
    """
    places = -1.0 / np.arange(first, first + len(scores))
    places -= places.mean()
    around = np.asarray(scores) - np.mean(scores)
    spread = float(places @ places)
    slope = float(places @ around) / spread
    rest = around - slope * places
    noise = math.sqrt(float(rest @ rest) / (len(around) - 2))
    return slope, noise, noise / math.sqrt(spread)


def trend(
    scores: Sequence[float],
    passes: int,
    converged: bool = False,
    *,
    asked: int | None = None,
    every: int = 1,
    kept_best: bool = False,
) -> dict[str, Any] | None:
    """Return how held-out scores moved, and whether they still do.

    The later half of them is taken for a - b / t after t passes, which fits flatten like: as many passes again would
    add b / 2t. Where b is two standard errors from 0, and that is a twentieth of what the fit has gained, the score
    still climbs, or falls; a fit that has `converged` does not climb. A score that has ended far below its best, and
    that more passes would not bring back, fell. Of fewer than ten scores whose noise may hide a gain it is unknown.

    Parameters
    ----------
    scores : sequence of float
        From the first to the last.
    passes, asked : int
        How many passes the fit has made, and how many it was to make at most.
    converged : bool
        Whether the fit has found that it has.
    every : int
        Passes between two scores.
    kept_best : bool
        Whether the model is the one of the best score, and not of the last.

    """
    if not scores:
        return None
    best, most = int(np.argmax(scores)), passes if asked is None else asked
    facts: dict[str, Any] = {
        "first": scores[0], "last": scores[-1], "best": scores[best], "best_after": min((best + 1) * every, most),
        "kept_best": kept_best, "passes": passes, "passes_asked": most, "direction": "unknown",
        "gain_of_as_many_passes": None,
    }  # fmt: skip
    count, later = len(scores), np.array(scores[len(scores) // 2 :])
    if count < _FEWEST_SCORES or len(later) < 3:
        return facts
    slope, noise, error = flattening(later, count - len(later) + 1)
    gain, fall = slope / (2 * count), scores[best] - scores[-1]
    worth = _WORTH_IT * max(scores[best] - scores[0], 1e-300)
    noticed = max(worth, _NOTICED * abs(scores[best]))
    sure = abs(slope) > _SURE * error
    facts["gain_of_as_many_passes"] = gain if sure and slope > 0 else None
    if sure and slope < 0 and -gain > worth and fall > noticed:
        facts["direction"] = "falling"
    elif fall > max(noticed, _FAR * noise) and not (sure and gain > fall):
        facts["direction"] = "fell"
    elif sure and gain > worth and not converged:
        facts["direction"] = "climbing"
    elif converged or count >= _ENOUGH_SCORES or gain + _SURE * error / (2 * count) <= noticed:
        facts["direction"] = "settled"
    return facts


def expected_gain(scores: Sequence[float], every: int = 1, formed: int = 1) -> float:
    """Return what one more pass would add to the scores of a fit; NaN if they are too few to tell.

    The later ones are taken for a - b / t after t passes, which fits flatten like; then it is about b / t^2.

    Parameters
    ----------
    scores : sequence of float
        From the first to the last.
    every : int
        How many passes are between two scores.
    formed : int
        The first score, counted from 1, that may tell.

    >>> round(expected_gain([-7.0 - 0.5 / t for t in range(1, 11)]), 6)
    0.005

    """
    last, first = len(scores), max(math.ceil(len(scores) / _LATER), formed)
    if first < _FIRST or last < first + 2:
        return float("nan")
    return flattening(scores[first - 1 :], first)[0] / (every * last**2)


def gains_little(scores: Sequence[float], tolerance: float, every: int = 1, formed: int = 1) -> bool:
    """Tell whether a fit with these scores has come to where a further pass gains less than the tolerance, or nearly.

    The last two looks must say so, as one may by chance; what that takes is made up for by not waiting quite so long.
    """
    counts = range(len(scores) - _IN_A_ROW + 1, len(scores) + 1)
    return all(expected_gain(scores[:count], every, formed) < _NEARLY * tolerance for count in counts)
