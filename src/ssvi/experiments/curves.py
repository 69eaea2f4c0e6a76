"""Scores against seconds: what a fit had reached at a moment, and when it reached a score."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

Curve = Sequence[tuple[float, float]]
"""Seconds and scores of one fit, in order of time."""


def score_at(curve: Curve, seconds: float) -> float:
    """Return the score after so many seconds, on lines between the points over the logarithm of time.

    Before the first point it is not known (NaN). After the last it is the last one's: a fit that has ended waits.

    >>> score_at([(1.0, -8.0), (4.0, -7.0)], 2.0)
    -7.5
    """
    if not curve or seconds < curve[0][0]:
        return float("nan")
    times, scores = zip(*curve, strict=True)
    return float(np.interp(np.log(seconds), np.log(times), scores))


def seconds_to(curve: Curve, score: float) -> float:
    """Return the time at which a fit first has a score, on the same lines; infinite if it never does.

    If its first point has it already, that point's time is returned, which is late rather than early.

    >>> seconds_to([(1.0, -8.0), (4.0, -7.0)], -7.5)
    2.0
    """
    before: tuple[float, float] | None = None
    for now in curve:
        if now[1] >= score:
            if before is None:
                return now[0]
            share = (score - before[1]) / (now[1] - before[1])
            return float(np.exp(np.log(before[0]) + share * (np.log(now[0]) - np.log(before[0]))))
        before = now
    return float("inf")
