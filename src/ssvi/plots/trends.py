"""Components over time and by group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ssvi.lookup import Trends, shares_of
from ssvi.plots.choice import choose, names_for, short
from ssvi.plots.panels import COLOURS, SOFT, name_lines, one_panel, plain

_MOST = 8
_MOST_GROUPS = 12
_MOST_NAMES = 8  # of periods below the axis
_STYLES = ("-", "--", ":", "-.")


def plot_trends(
    estimator: Any,
    data: Any,
    *,
    dates: Sequence[Any] | None = None,
    groups: Sequence[Any] | None = None,
    unit: str | None = None,
    components: int | Sequence[int] | None = None,
    names: Sequence[str] | None = None,
    ax: Any = None,
) -> Any:
    """Draw the components' mean shares of the documents of each period, as lines, or of each group, as bars.

    Parameters
    ----------
    estimator
        A fitted estimator of this library.
    data : matrix
        Documents x columns.
    dates : sequence, optional
        When each document is from, as `ssvi.periods.as_dates` reads them.
    groups : sequence of str, optional
        What each belongs to; give dates or groups.
    unit : {"day", "week", "month", "year", "decade"}, optional
        Of the periods. By default the finest of which there are not too many.
    components : int or sequence of int, optional
        How many of the largest, or the numbers of those wanted. By default those in use, at most 8.
    names : sequence of str, optional
        The columns' names, where the model does not know them.
    ax : Axes, Figure or SubFigure, optional
        Where to draw. By default a new figure.

    Returns
    -------
    Axes

    """
    choice = choose(estimator, components, _MOST, "plot_trends")
    if (dates is None) == (groups is None):
        raise ValueError("plot_trends draws shares by dates or by groups: give one of the two.")
    shares = shares_of(estimator.component_weights(data))
    found = Trends.by_group(shares, groups) if groups is not None else Trends.over_time(shares, dates or (), unit)
    return draw_trends(found, choice.parts.numbers.tolist(), choice.parts.labels(names_for(estimator, names)), ax)


def draw_trends(found: Trends, components: Sequence[int], labels: Sequence[str], ax: Any = None) -> Any:
    """Draw trends that are known already: of some components, by their numbers, with labels for them."""
    panel = one_panel(ax, (8.0, 4.5))
    named = [f"{k} {short(label)}" for k, label in zip(components, labels, strict=True)]
    if found.kind == "group":
        _bars(panel, found, components, named)
    else:
        _lines(panel, found, components, named)
    for text in panel.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0)).get_texts():
        text.set_parse_math(False)
    plain(panel)
    return panel


def _lines(panel: Any, found: Trends, components: Sequence[int], named: Sequence[str]) -> None:
    """Draw a line for each component, through the periods that have documents."""
    places = np.flatnonzero(found.counts)
    for number, (k, name) in enumerate(zip(components, named, strict=True)):
        style, colour = _STYLES[number // len(COLOURS) % len(_STYLES)], COLOURS[number % len(COLOURS)]
        panel.plot(
            places, found.shares[places, k], color=colour, linestyle=style, linewidth=1.8, label=name,
            marker="o" if len(places) <= 30 else None, markersize=3.5,
        )  # fmt: skip
    some = np.unique(np.linspace(0, len(found.names) - 1, min(_MOST_NAMES, len(found.names))).astype(int))
    panel.set_xticks(some, [found.names[place] for place in some], parse_math=False)
    panel.set_ylim(bottom=0.0)
    panel.set_ylabel(f"mean share of the documents of a {found.kind}", fontsize="small", color=SOFT)


def _bars(panel: Any, found: Trends, components: Sequence[int], named: Sequence[str]) -> None:
    """Draw a row of bars for each of the largest groups, one after the other."""
    lines = np.arange(min(_MOST_GROUPS, len(found.names)))
    left = np.zeros(len(lines))
    for number, (k, name) in enumerate(zip(components, named, strict=True)):
        share = found.shares[: len(lines), k]
        hatch = (None, "///", "...")[number // len(COLOURS) % 3]
        panel.barh(lines, share, left=left, height=0.72, color=COLOURS[number % len(COLOURS)], hatch=hatch, label=name)
        left += share
    name_lines(panel, lines, [short(name) for name in found.names[: len(lines)]])
    panel.invert_yaxis()
    left_out = len(found.names) - len(lines)
    note = f" (the {len(lines)} largest of {len(found.names)} groups)" if left_out else ""
    panel.set_xlabel(f"mean share of the documents{note}", fontsize="small", color=SOFT)
