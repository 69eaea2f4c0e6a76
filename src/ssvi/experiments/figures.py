"""Curves with their spread, in the form of the paper's figures. Needs matplotlib (the `plots` extra)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ssvi.experiments.table import Row, distinct, mean_and_spread, select

_COLOURS = ("#1b6ca8", "#d1495b", "#2e8b57", "#edae49", "#6a4c93", "#5c677d", "#8c4a1f", "#3aa6a6")
_MARKERS = ("o", "s", "^", "D", "v", "P")


def with_spread(mean: float, spread: float) -> str:
    """Write a mean with its standard deviation over runs.

    >>> with_spread(-7.1234, 0.0056)
    '-7.123 (0.006)'
    """
    return f"{mean:.3f}" if math.isnan(spread) else f"{mean:.3f} ({spread:.3f})"


@contextmanager
def panels(
    path: Path, lines: int, columns: int, below: str, beside: str, *, width: float = 3.4
) -> Iterator[list[list[Any]]]:
    """Give panels to draw in, with shared axes and one legend; write the file at the end."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width * columns, 2.8 * lines + 0.5), layout="constrained")
    axes = figure.subplots(lines, columns, sharex=True, sharey=True, squeeze=False)
    yield [list(line) for line in axes]
    for panel in axes[-1]:
        panel.set_xlabel(below)
    for line in axes:
        line[0].set_ylabel(beside)
        for panel in line:
            panel.grid(alpha=0.3)
    named: dict[str, Any] = {}
    for panel in axes.flat:
        named |= dict(zip(*reversed(panel.get_legend_handles_labels()), strict=True))
    if named:
        wide = max(2, int(width * columns / 1.9))
        figure.legend(list(named.values()), list(named), loc="outside upper center", ncols=wide)
    figure.savefig(path, dpi=130)


@contextmanager
def side_by_side(path: Path, first: str, second: str, beside: str) -> Iterator[list[Any]]:
    """Give two panels with one upright axis, a legend in the first; write the file at the end."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 3.8), layout="constrained")
    axes = list(figure.subplots(1, 2, sharey=True))
    yield axes
    for panel, text in zip(axes, (first, second), strict=True):
        panel.set_xlabel(text)
        panel.grid(alpha=0.3)
    axes[0].set_ylabel(beside)
    axes[0].legend(loc="lower right", fontsize="small")
    figure.savefig(path, dpi=130)


@contextmanager
def two_lines(
    path: Path, titles: Sequence[str], below: str, beside: tuple[str, str]
) -> Iterator[list[tuple[Any, Any]]]:
    """Give two panels above each other for each title, with one legend; write the file at the end."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.4 * len(titles), 5.4), layout="constrained")
    axes = figure.subplots(2, len(titles), sharex=True, squeeze=False)
    yield list(zip(*axes, strict=True))
    for panel, title in zip(axes[0], titles, strict=True):
        panel.set_title(title)
    for line, text in zip(axes, beside, strict=True):
        line[0].set_ylabel(text)
    for panel in axes.flat:
        panel.grid(alpha=0.3)
    for panel in axes[1]:
        panel.set_xlabel(below)
    handles, names = axes[0][0].get_legend_handles_labels()
    named = dict(zip(names, handles, strict=True))
    figure.legend(list(named.values()), list(named), loc="outside upper center", ncols=max(2, len(named)))
    figure.savefig(path, dpi=130)


def line(panel: Any, across: Sequence[float], up: Sequence[float], text: str) -> None:
    """Draw a line in the colour of its text."""
    panel.plot(across, up, color=_colour(panel, text), label=text, linewidth=1.3)


def scatter(panel: Any, across: Sequence[float], up: Sequence[float], key: Hashable) -> None:
    """Draw points in the colour of their key."""
    panel.plot(across, up, "o", color=_colour(panel, key), alpha=0.7)


def curve(panel: Any, rows: Sequence[Row], key: Hashable, text: str) -> None:
    """Draw the mean over seeds against time, with dotted lines one standard deviation above and below."""
    colour = _colour(panel, key)
    times, means, spreads = [], [], []
    for step in distinct(rows, "step"):
        own = select(rows, step=step)
        times.append(np.mean([row["seconds"] for row in own]))
        mean, spread = mean_and_spread(row["score"] for row in own)
        means.append(mean)
        spreads.append(0.0 if math.isnan(spread) else spread)
    panel.plot(times, means, color=colour, label=text, linewidth=1.5, marker=".", markersize=4)
    for sign in (-1, 1):
        panel.plot(times, np.array(means) + sign * np.array(spreads), color=colour, linewidth=0.8, linestyle=":")
    panel.set_xscale("log")
    panel.xaxis.set_major_formatter("{x:g}")
    panel.xaxis.set_minor_formatter("")


def setting_point(panel: Any, column: int, value: float, place: int, eta: float, ramp: str) -> None:
    """Draw one setting's score in an algorithm's column: colour and shape for eta, filled where the ramp is on."""
    colour, first = _COLOURS[place % len(_COLOURS)], ramp == "on"
    text = f"$\\eta$ = {eta:g}, {'ramp' if first else 'no ramp'}"
    face = colour if first else "none"
    shift = (place - 1) * 0.12
    panel.plot(
        [column + shift], [value], _MARKERS[place % len(_MARKERS)], color=colour, markerfacecolor=face,
        label=text, linestyle="none",
    )  # fmt: skip


def range_point(panel: Any, column: int, values: Sequence[float]) -> None:
    """Draw the mean of some values with a bar from the least to the largest."""
    mean = float(np.mean(values))
    bar = [[mean - min(values)], [max(values) - mean]]
    panel.errorbar([column], [mean], yerr=bar, fmt="o", color=_COLOURS[0], capsize=4)


@contextmanager
def dot_panels(path: Path, names: Sequence[str]) -> Iterator[tuple[Any, Any]]:
    """Give two panels side by side with a line for each name; write the file at the end."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.5, 0.42 * len(names) + 1.2), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    yield left, right
    left.set_yticks(range(len(names)), list(names))
    left.invert_yaxis()
    for panel in (left, right):
        panel.grid(axis="x", alpha=0.3)
    figure.savefig(path, dpi=130)


def dots(panel: Any, line: int, values: Sequence[float]) -> None:
    """Draw values as dots on a line, and a stroke at their mean."""
    colour = _COLOURS[line % len(_COLOURS)]
    panel.plot(values, [line] * len(values), "o", color=colour, alpha=0.6, markersize=5)
    panel.plot([np.mean(values)], [line], "|", color=colour, markersize=18, markeredgewidth=2)


@contextmanager
def named_panels(path: Path, titles: Sequence[str], names: Sequence[Sequence[str]], below: str) -> Iterator[list[Any]]:
    """Give panels side by side, each with lines of its own names, and one legend; write the file at the end."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.9 * len(titles), 0.3 * max(map(len, names)) + 1.8), layout="constrained")
    axes = list(figure.subplots(1, len(titles), sharex=True, squeeze=False)[0])
    yield axes
    named: dict[str, Any] = {}
    for panel, title, own in zip(axes, titles, names, strict=True):
        panel.set(title=title, xlabel=below)
        panel.set_yticks(range(len(own)), list(own))
        panel.invert_yaxis()
        panel.grid(axis="x", alpha=0.3)
        named |= dict(zip(*reversed(panel.get_legend_handles_labels()), strict=True))
    figure.legend(list(named.values()), list(named), loc="outside upper center", ncols=len(named))
    figure.savefig(path, dpi=130)


def estimate(panel: Any, line: int, value: float, error: float, text: str) -> None:
    """Draw a value with a bar of one standard error either way on a line, in the colour of its text."""
    colour = _colour(panel, text)
    place = list(panel.figure.__dict__["_ssvi_colours"]).index(text)
    panel.errorbar(
        [value], [line + 0.15 * (place - 1.5)], xerr=[error], fmt=_MARKERS[place % len(_MARKERS)], color=colour,
        label=text, markersize=4, linewidth=1,
    )  # fmt: skip


@contextmanager
def spectra_panels(path: Path, spectra: Any, count: int) -> Iterator[list[Any]]:
    """Draw spectra in dB as an image, and give panels beside it for correlations; write the file at the end."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(4.2 + 3.4 * count, 3.4), layout="constrained")
    image, *panels = figure.subplots(1, 1 + count, squeeze=False)[0]
    decibels = 20.0 * np.log10(spectra / spectra.max(axis=1, keepdims=True))
    drawn = image.imshow(decibels.T, origin="lower", aspect="auto", cmap="magma", vmin=-60.0, interpolation="nearest")
    figure.colorbar(drawn, ax=image, label="dB")
    image.set(title="true dictionary", xlabel="spectrum", ylabel="frequency")
    yield panels
    for panel in panels:
        panel.set(xlabel="true spectra, best found first", ylim=(0.0, 1.02))
        panel.grid(alpha=0.3)
    panels[0].set_ylabel("correlation with the closest component")
    panels[0].legend(loc="lower left")
    figure.savefig(path, dpi=130)


def sorted_curves(panel: Any, curves: Sequence[Sequence[float]], text: str) -> None:
    """Draw the curves of some data sets in one colour."""
    colour = _colour(panel, text)
    for number, values in enumerate(curves):
        places = range(1, len(values) + 1)
        panel.plot(places, values, color=colour, linewidth=1.3, label=text if number == 0 else None)


def span(values: Sequence[float]) -> str:
    """Write the least and the largest of some values.

    >>> span([53, 62, 58])
    '53-62'
    """
    low, high = min(values), max(values)
    return f"{low:g}" if low == high else f"{low:g}-{high:g}"


def _colour(panel: Any, key: Hashable) -> str:
    """Return the same colour for the same key in every panel of a figure."""
    known = panel.figure.__dict__.setdefault("_ssvi_colours", {})
    return str(known.setdefault(key, _COLOURS[len(known) % len(_COLOURS)]))
