"""Components over time and by group."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.lookup import Trends, shares_of
from ssvi.periods import has_enough
from ssvi.plots.choice import choose, names_for, short
from ssvi.plots.panels import COLOURS, SOFT, name_lines, one_panel, plain

_MOST = 8
_MOST_GROUPS = 12
_MOST_MARKED = 30  # periods that have a mark each
_LETTERS_BELOW = 60  # of all names of periods below the axis
_LABEL_LETTERS, _LABEL_LINES = 28, 3  # of a component in the legend
_LINE_COLOURS = (*COLOURS, "#7B4A21")  # one for each of the eight lines that a picture has
_STYLES = ("-", "--", "-.", ":")  # also told apart without colours


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

    Shares of periods with few documents are drawn in to those of all, and periods with too few are gaps in the lines
    (`ssvi.lookup.Trends.steady`).

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
    panel = one_panel(ax, (9.0, 4.8))
    named = [_in_lines(f"{k} {label}") for k, label in zip(components, labels, strict=True)]
    if found.kind == "group":
        _bars(panel, found, components, named)
    else:
        _lines(panel, found, components, named)
    for text in panel.legend(frameon=False, fontsize="small", loc="upper left", bbox_to_anchor=(1.0, 1.0)).get_texts():
        text.set_parse_math(False)
    plain(panel)
    return panel


def _in_lines(label: str) -> str:
    """Return a label in lines that are short enough for a legend."""
    return "\n".join(wrap(label, _LABEL_LETTERS, max_lines=_LABEL_LINES, placeholder=" …"))


def _lines(panel: Any, found: Trends, components: Sequence[int], named: Sequence[str]) -> None:
    """Draw a line for each component; periods with too few documents are gaps."""
    enough = has_enough(found.counts)
    places = np.arange(np.flatnonzero(enough)[0], np.flatnonzero(enough)[-1] + 1)
    shares = np.where(enough[:, None], found.steady(), np.nan)[places]
    alone = _without_neighbours(enough[places])
    marked = list(range(len(places))) if enough.sum() <= _MOST_MARKED else alone.tolist()
    for number, (k, name) in enumerate(zip(components, named, strict=True)):
        style, colour = _STYLES[number % len(_STYLES)], _LINE_COLOURS[number % len(_LINE_COLOURS)]
        panel.plot(
            places, shares[:, k], color=colour, linestyle=style, linewidth=1.8, label=name,
            marker="o", markersize=3.5, markevery=marked,
        )  # fmt: skip
    most = max(2, _LETTERS_BELOW // len(found.names[0]))
    some = places[:: -(-len(places) // most)]
    panel.set_xticks(some, [found.names[place] for place in some], parse_math=False)
    panel.set_ylim(bottom=0.0)
    panel.set_ylabel(f"mean share of the documents of a {found.kind}", fontsize="small", color=SOFT)


def _without_neighbours(there: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    """Return the places beside which nothing is: no line leads to them, so that they need a mark."""
    around = np.pad(there, 1)
    return np.flatnonzero(there & ~around[:-2] & ~around[2:])


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
