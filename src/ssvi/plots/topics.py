"""The first words of topics, as bars."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ssvi.plots.choice import Choice, choose, names_for, percent, short
from ssvi.plots.panels import BAR, COLOURS, SOFT, Axes, n_given, name_lines, panels, plain

_MOST = 12


def plot_topics(
    estimator: Any,
    *,
    components: int | Sequence[int] | None = None,
    words: int = 8,
    relevance: float = 1.0,
    names: Sequence[str] | None = None,
    columns: int = 4,
    same_scale: bool = False,
    axes: Any = None,
) -> Axes:
    """Draw the first words of each topic, or the first features of each cluster or factor, the largest first.

    A bar is the word's probability given the topic; the line on it reaches one standard deviation under q to
    either side.

    Parameters
    ----------
    estimator
        A fitted estimator of this library.
    components : int or sequence of int, optional
        How many of the largest, or the numbers of those wanted. By default those in use, at most 12, or as many as
        there are axes.
    words : int
        How many words of each.
    relevance : float
        From 1, the most probable words, to 0, those whose probability is largest beside that in all data; 0.6 is
        what LDAvis advises. Below 1 a tick on each line shows the probability in all data.
    names : sequence of str, optional
        The columns' names, where the model does not know them: `vectorizer.get_feature_names_out()`.
    columns : int
        How many panels there are beside each other.
    same_scale : bool
        Draw all panels to one scale.
    axes : Axes, sequence of Axes, Figure or SubFigure, optional
        Where to draw. By default a new figure.

    Returns
    -------
    array of Axes
        One for each component.

    """
    choice = choose(estimator, components, n_given(axes) or _MOST, "plot_topics")
    if not 0.0 <= relevance <= 1.0:
        raise ValueError(f"relevance must be from 0 to 1, not {relevance!r}.")
    if words < 1 or columns < 1:
        raise ValueError(f"words and columns must be 1 or more, not {words!r} and {columns!r}.")
    named = names_for(estimator, names)
    words = min(words, len(named))
    size = (2.3, 0.19 * words + 0.62)
    grid = panels(axes, len(choice), min(columns, len(choice)), size, sharex=same_scale)
    for place, panel in enumerate(grid.axes):
        _draw(panel, choice, place, named, words, relevance)
    mark = "; tick: in all data" if relevance < 1.0 else ""
    weight = "mean" if estimator.rows_are_means else "share" if estimator.has_spectra else "probability"
    grid.label(f"{weight} of the {choice.column} (line: one standard deviation{mark})", choice.note)
    return grid.axes


def _draw(panel: Any, choice: Choice, place: int, names: list[str], words: int, relevance: float) -> None:
    """Draw one topic."""
    parts = choice.parts
    row, everywhere = parts.rows[place], parts.overall
    first = parts.ranked(place, relevance)[:words]
    lines = np.arange(words)
    panel.barh(
        lines, row[first], height=0.72, color=BAR, xerr=parts.deviations[place, first],
        error_kw={"ecolor": COLOURS[0], "elinewidth": 1.6},
    )  # fmt: skip
    if relevance < 1.0:
        panel.plot(everywhere[first], lines, "|", color=COLOURS[1], markersize=8, markeredgewidth=1.5)
    name_lines(panel, lines, [short(names[v]) for v in first])
    called = (parts.given and parts.given[place]) or f"{choice.component} {parts.numbers[place]}"
    panel.set_title(f"{short(called)} · {percent(parts.shares[place])}", fontsize="small", parse_math=False)
    panel.set_ylim(words - 0.4, -0.6)
    if not parts.are_means:
        panel.set_xlim(left=0.0)
    panel.locator_params(axis="x", nbins=3)
    panel.xaxis.set_major_formatter("{x:g}")
    plain(panel)
    panel.tick_params(axis="x", labelcolor=SOFT)
