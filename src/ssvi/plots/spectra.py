"""The dictionary of a factorisation, and its activations over time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ssvi.plots.choice import Choice, choose
from ssvi.plots.panels import BAR, COLOURS, SOFT, Axes, name_lines, panels, plain
from ssvi.typing import Array

_MOST = {"lines": 12, "heat": 40}
_MOST_COLUMNS = 600  # of a heat map, about as many as there is room for
_REACH = 0.9  # of a line's largest value, where the next line begins at 1


def plot_spectra(
    estimator: Any,
    X: Any = None,
    *,
    kind: str = "lines",
    components: int | Sequence[int] | None = None,
    decibels: float | None = None,
    positions: Sequence[float] | None = None,
    times: Sequence[float] | None = None,
    labels: tuple[str, str] | None = None,
    cmap: str = "Blues",
    axes: Any = None,
) -> Axes:
    """Draw the spectra of a factorisation and, given data, how much of each there is in every row, the largest first.

    Each spectrum, and each course of activations, is drawn relative to its own largest value. Round a line there is a
    band of one standard deviation under q.

    Parameters
    ----------
    estimator
        A fitted estimator of this library.
    X : matrix, optional
        Rows in the order of time; their activations are drawn below.
    kind : {"lines", "heat"}
        One line for each component, or one heat map of all.
    components : int or sequence of int, optional
        How many of the largest, or the numbers of those wanted. By default those in use, at most 12 lines or 40 lines
        of a heat map.
    decibels : float, optional
        Draw spectra as levels, 20 log10, down to so many dB below the largest value. They have no band.
    positions, times : sequence of float, optional
        Where the columns and the rows of X are on their axes, such as frequencies and seconds, evenly spaced. By
        default they are counted.
    labels : (str, str), optional
        The names of these axes.
    cmap : str
        matplotlib's name of a heat map's colours.
    axes : sequence of Axes, Figure or SubFigure, optional
        Where to draw: one Axes, or two if X is given. By default a new figure.

    Returns
    -------
    array of Axes
        One, or two if X is given.

    """
    if kind not in _MOST:
        raise ValueError(f"kind must be 'lines' or 'heat', not {kind!r}.")
    if decibels is not None and not 0.0 < decibels < np.inf:
        raise ValueError(f"decibels must be a positive number, not {decibels!r}.")
    choice = choose(estimator, components, _MOST[kind], "plot_spectra")
    curves, spread = _spectra(choice, decibels)
    below = labels or (choice.column, "row")
    drawn = [(curves, spread, _places(positions, curves.shape[1], "positions", "columns"), below[0])]
    if X is not None:
        activations = _relative(estimator.component_weights(X).T[choice.parts.numbers])
        places = _places(times, activations.shape[1], "times", "rows of X")
        drawn.append((activations, None, places, below[1]))
    line = 0.34 if kind == "lines" else 0.16
    grid = panels(axes, len(drawn), 1, (6.4, max(line * len(choice), 0.6) + 0.7))
    for panel, (values, band, places, label) in zip(grid.axes, drawn, strict=True):
        if kind == "lines":
            _lines(panel, values, band, places)
        else:
            _heat(panel, values, places, cmap, decibels if panel is grid.axes[0] else None)
        _dress(panel, choice, label)
    for panel, caption in zip(grid.axes, (_caption(choice, decibels), "activations"), strict=False):
        panel.set_title(caption, fontsize="small", color=SOFT, loc="left")
    return grid.axes


def _spectra(choice: Choice, decibels: float | None) -> tuple[Array, Array | None]:
    """Return spectra between 0 and 1, and their standard deviations on that scale, if they have any."""
    rows, deviations = choice.parts.rows, choice.parts.deviations
    if decibels is None:
        return _relative(rows), deviations / np.maximum(rows.max(axis=1, keepdims=True), 1e-300)
    levels = 20.0 * np.log10(np.maximum(_relative(rows), 1e-300))
    return np.maximum(1.0 + levels / decibels, 0.0), None


def _relative(rows: Any) -> Array:
    """Return rows relative to their largest value."""
    values = np.asarray(rows, dtype=float)
    result: Array = values / np.maximum(values.max(axis=1, keepdims=True), 1e-300)
    return result


def _places(given: Sequence[float] | None, count: int, name: str, what: str) -> Array:
    """Return where columns or rows are on their axis."""
    places: Array = np.arange(count, dtype=float) if given is None else np.asarray(given, dtype=float)
    if places.shape != (count,):
        raise ValueError(f"{name} has shape {places.shape}, and there are {count:,} {what}: give one for each.")
    return places


def _lines(panel: Any, values: Array, band: Array | None, places: Array) -> None:
    """Draw a line for each component, the first at the top."""
    for k, row in enumerate(values):
        # Upwards from its own base line; the first component's is the highest.
        base, colour = len(values) - 1 - k, COLOURS[0]
        panel.fill_between(places, base, base + _REACH * row, color=BAR, alpha=0.5, linewidth=0)
        if band is not None:
            low, high = np.maximum(row - band[k], 0.0), row + band[k]
            panel.fill_between(places, base + _REACH * low, base + _REACH * high, color=colour, alpha=0.25, linewidth=0)
        panel.plot(places, base + _REACH * row, color=colour, linewidth=1.0)
    panel.set_ylim(-0.1, len(values))
    panel.set_xlim(places[0], places[-1] if len(places) > 1 else places[0] + 1.0)


def _heat(panel: Any, values: Array, places: Array, cmap: str, decibels: float | None) -> None:
    """Draw a line of a heat map for each component, the first at the top, and what the colours mean."""
    gap = (places[-1] - places[0]) / max(len(places) - 1, 1) or 1.0
    left, right = places[0] - gap / 2, places[-1] + gap / 2
    cells, width = _thinned(values)
    extent = (left, left + gap * width * cells.shape[1], -0.5, len(values) - 0.5)
    low, high = (0.0, 1.0) if decibels is None else (-decibels, 0.0)
    image = panel.imshow(
        low + (high - low) * cells, cmap=cmap, vmin=low, vmax=high, aspect="auto", extent=extent,
        interpolation="nearest",
    )  # fmt: skip
    panel.set_xlim(left, right)
    bar = panel.figure.colorbar(image, ax=panel, ticks=[low, high], pad=0.01, fraction=0.03)
    bar.ax.set_yticklabels(["0", "largest"] if decibels is None else [f"-{decibels:g} dB", "largest"])
    bar.ax.tick_params(length=0, labelsize="x-small", labelcolor=SOFT)
    bar.outline.set_visible(False)


def _thinned(values: Array) -> tuple[Array, int]:
    """Return the largest values of neighbouring columns, where there are too many to see, and of how many each."""
    width = -(-values.shape[1] // _MOST_COLUMNS)
    padded = np.pad(values, ((0, 0), (0, -values.shape[1] % width)), mode="edge")
    return padded.reshape(len(values), -1, width).max(axis=2), width


def _dress(panel: Any, choice: Choice, label: str) -> None:
    """Name the axes."""
    # With many lines each other name, or one of three, is left out.
    step = 1 + (len(choice) - 1) // 24
    names = [name if k % step == 0 else "" for k, name in enumerate(choice.labels())]
    name_lines(panel, np.arange(len(choice))[::-1], names, va="bottom" if panel.lines else "center")
    panel.set_xlabel(label, fontsize="small")
    plain(panel)


def _caption(choice: Choice, decibels: float | None) -> str:
    """Return what is drawn, and what is left out."""
    scale = "" if decibels is None else f" in dB, down to -{decibels:g}"
    left_out = f"; {choice.note}" if choice.note else ""
    return f"spectra{scale} ({choice.component} · share of the data){left_out}"
