"""States to begin with: what the past of a time point tells of its future (canonical correlations)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ssvi.typing import Array

_MOST_POINTS = 20_000
_RIDGE = 1e-3  # of unit variances, so that windows that are copies of each other have an inverse


class FirstStates(NamedTuple):
    """States of some time points.

    Attributes
    ----------
    states : (points, K)
        Of variance 1.
    outputs : (points, D)
        What was seen, with what is missing filled in.
    rows : (points,) integers
        Which time points these are.
    follows : (moves,) integers
        The points whose predecessor is the point before.

    """

    states: Array
    outputs: Array
    rows: npt.NDArray[np.int64]
    follows: npt.NDArray[np.int64]


def first_states(
    values: Array, indptr: npt.NDArray[np.int64], n_states: int, rng: np.random.Generator
) -> FirstStates | None:
    """Return states for some time points of some sequences, or None if there is too little of them.

    The state is the K combinations of the last values, of variance 1, that tell most of those that follow. Where
    there are fewer such combinations the rest is noise.
    """
    size = values.shape[1]
    window = max(2, -(-(n_states + 1) // size))
    while window > 1 and not (np.diff(indptr) >= 2 * window).any():
        window -= 1
    rows = _inner_rows(indptr, window, rng)
    if len(rows) < 2 * (n_states + 1):
        return None
    filled = _filled(values, indptr, rows)
    past = _windows(filled, rows - window + 1, window)
    future = _windows(filled, rows + 1, window)
    states = _canonical(past, future, n_states)
    spare = n_states - states.shape[1]
    if spare:
        states = np.concatenate([states, rng.normal(size=(len(rows), spare))], axis=1)
    follows = np.flatnonzero(np.diff(rows) == 1) + 1
    heads = np.isin(rows[follows], indptr[:-1] + window - 1)  # the first of a sequence follows nothing
    return FirstStates(states, filled[rows], rows, follows[~heads])


def _inner_rows(indptr: npt.NDArray[np.int64], window: int, rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return the time points that have a whole window before (with themselves) and behind them; of many, some."""
    order = rng.permutation(len(indptr) - 1)
    found: list[Any] = []
    count = 0
    for n in order:
        own = np.arange(indptr[n] + window - 1, indptr[n + 1] - window)
        found.append(own[:_MOST_POINTS])
        count += len(found[-1])
        if count >= _MOST_POINTS:
            break
    return np.sort(np.concatenate(found)) if found else np.empty(0, dtype=np.int64)


def _filled(values: Array, indptr: npt.NDArray[np.int64], rows: npt.NDArray[np.int64]) -> Array:
    """Return values with what is missing in the sequences of some rows filled in: from its neighbours, or the mean."""
    if not np.isnan(values).any():
        return values
    result = values.copy()
    known_all = ~np.isnan(values)
    counts = np.maximum(known_all.sum(axis=0), 1)
    means = np.where(known_all, values, 0.0).sum(axis=0) / counts
    for n in np.unique(np.searchsorted(indptr, rows, side="right") - 1):
        own = result[indptr[n] : indptr[n + 1]]
        places = np.arange(len(own))
        for column in np.flatnonzero(np.isnan(own).any(axis=0)):
            known = ~np.isnan(own[:, column])
            own[:, column] = np.interp(places, places[known], own[known, column]) if known.any() else means[column]
    return result


def _windows(values: Array, firsts: npt.NDArray[np.int64], window: int) -> Array:
    """Return the rows from each of the firsts on, `window` of them, in one row each."""
    places = firsts[:, None] + np.arange(window)
    result: Array = values[places].reshape(len(firsts), -1)
    return result


def _canonical(past: Array, future: Array, count: int) -> Array:
    """Return the combinations of the past, of mean 0 and variance 1, that correlate most with the future."""
    past, future = past - past.mean(axis=0), future - future.mean(axis=0)
    roots = []
    for block in (past, future):
        scale = max(float((block**2).mean()), 1e-300)
        covariance = block.T @ block / len(block) + _RIDGE * scale * np.eye(block.shape[1])
        roots.append(np.linalg.inv(np.linalg.cholesky(covariance)))
    cross = roots[0] @ (past.T @ future / len(past)) @ roots[1].T
    left = np.linalg.svd(cross)[0][:, :count]
    states: Array = past @ (roots[0].T @ left)
    scaled: Array = states / np.maximum(states.std(axis=0), 1e-8)
    return scaled
