"""Which topics occur together: a graph, and a matrix of correlations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ssvi.plots.choice import Choice, choose
from ssvi.plots.maps import draw_circles, draw_matrix, first_words
from ssvi.plots.panels import one_panel
from ssvi.report.together import LEAST_TIE, TIES_EACH, Together

_MOST = 50


def plot_topic_graph(
    estimator: Any,
    *,
    components: int | Sequence[int] | None = None,
    words: int = 2,
    names: Sequence[str] | None = None,
    ax: Any = None,
) -> Any:
    """Draw topics as circles, with lines between those that occur together; areas are shares of the data.

    Each topic has lines to the three with which it is correlated most, from a correlation of 0.1 on. Wider lines are
    stronger. Topics that occur together stand near each other.

    Parameters
    ----------
    estimator : CorrelatedTopicModel
        Or another fitted estimator that knows how its components go together.
    components : int or sequence of int, optional
        How many of the largest, or the numbers of those wanted. By default all, at most 50.
    words : int
        How many of its distinctive words stand by a circle, if there is room and the columns have names.
    names : sequence of str, optional
        The columns' names, where the model does not know them.
    ax : Axes, Figure or SubFigure, optional
        Where to draw. By default a new figure.

    Returns
    -------
    Axes

    """
    choice, found = _choose(estimator, components, "plot_topic_graph")
    texts, note = first_words(estimator, choice, names, words), f"the {TIES_EACH} strongest of each, from {LEAST_TIE}"
    points = found.arrangement().points
    return draw_circles(one_panel(ax, (7.6, 5.8)), choice, points, texts, note, found.ties())


def plot_correlations(
    estimator: Any, *, components: int | Sequence[int] | None = None, cmap: str = "RdBu", ax: Any = None
) -> Any:
    """Draw the correlations of every two topics over documents, with those side by side that occur together.

    Parameters
    ----------
    estimator : CorrelatedTopicModel
        Or another fitted estimator that knows how its components go together.
    components : int or sequence of int, optional
        How many of the largest, or the numbers of those wanted, in this order. By default all, at most 50.
    cmap : str
        matplotlib's name of the colours, with the middle for 0.
    ax : Axes, Figure or SubFigure, optional
        Where to draw. By default a new figure.

    Returns
    -------
    Axes

    """
    choice, found = _choose(estimator, components, "plot_correlations")
    order = np.arange(len(choice)) if isinstance(components, Sequence | np.ndarray) else found.order()
    values = found.correlations[np.ix_(order, order)]
    np.fill_diagonal(values, np.nan)
    reach = float(np.nanmax(np.abs(values)))
    return draw_matrix(ax, estimator, choice, order, values, (-reach, reach), cmap, "correlation")


def _choose(estimator: Any, components: int | Sequence[int] | None, plot: str) -> tuple[Choice, Together]:
    choice = choose(estimator, components, _MOST, plot)
    found = Together.of(estimator, choice.parts.numbers)
    if found is None:
        raise ValueError(
            f"{plot} needs a model that knows the correlations of its components, and three of them: fit a "
            "CorrelatedTopicModel."
        )
    return choice, found
