"""A series, what the states of a linear dynamical system say of it, and what may come next."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ssvi.plots.choice import names_for
from ssvi.plots.panels import COLOURS, panels, require_matplotlib

_LIMIT = 6  # columns that are drawn by default


def plot_forecast(
    estimator: Any,
    X: Any,
    steps: int = 10,
    *,
    inputs: Any = None,
    future_inputs: Any = None,
    level: float = 0.9,
    names: Sequence[str] | None = None,
    shown: int | None = None,
    axes: Any = None,
) -> Any:
    """Draw a sequence, its smoothed states as they would be seen without noise, and a forecast with its interval.

    Parameters
    ----------
    estimator
        A fitted `LinearDynamicalSystem`.
    X : (time points, D)
        One sequence.
    steps, inputs, future_inputs, level
        As `LinearDynamicalSystem.forecast` takes them.
    names : sequence of str, optional
        Names of the columns.
    shown : int, optional
        How many time points of X to draw, the last ones; all by default.
    axes : array of Axes, Figure or SubFigure, optional
        Where to draw, a panel a column, six at most. By default a new figure.

    Returns
    -------
    array of Axes

    """
    require_matplotlib()
    if not hasattr(estimator, "forecast"):
        raise TypeError(f"plot_forecast draws what has forecasts, and {type(estimator).__name__} has none.")
    rows = np.asarray(X, dtype=float)
    rows = rows[:, None] if rows.ndim == 1 else rows
    past = estimator.smooth(rows, inputs=inputs)
    ahead = estimator.forecast(steps, rows, inputs=inputs, future_inputs=future_inputs, level=level)
    first = 0 if shown is None else max(0, len(rows) - shown)
    times, future = np.arange(first, len(rows)), np.arange(len(rows), len(rows) + steps)
    titles, count = names_for(estimator, names), min(rows.shape[1], _LIMIT)
    grid = panels(axes, count, min(count, 2), (4.6, 2.2), sharex=True)
    for column, panel in enumerate(grid.axes):
        panel.plot(times, rows[first:, column], ".", color="0.45", markersize=3, label="seen")
        panel.plot(times, past.means[first:, column], color=COLOURS[0], linewidth=1.2, label="without noise")
        panel.plot(future, ahead.mean[:, column], color=COLOURS[1], linewidth=1.4, label="forecast")
        between = f"{100 * level:g}% of what may come"
        panel.fill_between(
            future,
            ahead.lower[:, column],
            ahead.upper[:, column],
            color=COLOURS[1],
            alpha=0.25,
            linewidth=0,
            label=between,
        )
        panel.set_title(titles[column], fontsize=9)
    grid.axes[0].legend(fontsize=7, frameon=False, ncols=2, loc="upper center", bbox_to_anchor=(0.5, -0.12))
    return grid.axes
