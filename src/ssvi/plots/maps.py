"""How alike components are: as distances in a plane, and as a matrix."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.files.models import vocabulary_of
from ssvi.labels import without_repeats
from ssvi.plots.choice import Choice, choose, names_for, percent, short
from ssvi.plots.panels import BAR, COLOURS, INK, SOFT, name_lines, one_panel
from ssvi.plots.room import place_texts
from ssvi.report.layout import hierarchy, principal_axes
from ssvi.typing import Array

_MOST = 40
_NUMBER = 7.0  # points in which a number has room
_LARGEST_AREA = 700.0  # of a circle, in square points


def plot_map(
    estimator: Any,
    *,
    components: int | Sequence[int] | None = None,
    words: int = 2,
    names: Sequence[str] | None = None,
    ax: Any = None,
) -> Any:
    """Draw components as circles, those that are alike near each other; areas are shares of the data.

    Distances are about Jensen-Shannon distances, by classical scaling. Two dimensions cannot show all there is: the
    line above the map says what share of it they hold. Nothing is moved apart; the numbers of circles in one place
    stand side by side.

    Parameters
    ----------
    estimator
        A fitted estimator of this library.
    components : int or sequence of int, optional
        How many of the largest, or the numbers of those wanted. By default those in use, at most 40.
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
    choice = choose(estimator, components, _MOST, "plot_map")
    points, held = principal_axes(choice.parts.distances())
    note = f"the two axes hold {percent(held)} of the structure"
    return draw_circles(one_panel(ax, (6.8, 5.2)), choice, points, first_words(estimator, choice, names, words), note)


def draw_circles(
    panel: Any,
    choice: Choice,
    points: Array,
    texts: list[str],
    note: str,
    ties: Sequence[tuple[int, int, float]] = (),
) -> Any:
    """Draw components as circles at some points, with texts beside them, and lines between pairs of them."""
    panel.set(xticks=[], yticks=[])
    panel.margins(0.12)
    panel.set_aspect("equal", adjustable="datalim")
    panel.spines[:].set_visible(False)
    panel.set_title("; ".join(filter(None, [choice.note, note])), fontsize="small", color=SOFT, loc="left")
    shares = choice.parts.shares
    areas = _LARGEST_AREA * shares / shares.max()
    radii = np.maximum(np.sqrt(areas / np.pi), 5.0)  # a number has room in none that is smaller
    unit = _unit(panel, points)
    points = points * unit
    for a, b, strength in ties:
        panel.plot(
            *(points[[a, b]] / unit).T, color=SOFT, linewidth=0.4 + 5.0 * strength, alpha=0.35, zorder=0.5,
            solid_capstyle="round", clip_on=False,
        )  # fmt: skip
    panel.scatter(
        *points.T / unit, s=np.pi * radii**2, color=BAR, edgecolor=COLOURS[0], linewidth=0.8, alpha=0.6, clip_on=False
    )
    for k, numbers in _side_by_side(points, choice.parts.numbers):
        panel.annotate(numbers, points[k] / unit, ha="center", va="center", fontsize="small", color=INK)
    for place in place_texts(points, radii, texts):
        panel.annotate(
            texts[place.number], points[place.number] / unit, place.offset, textcoords="offset points",
            fontsize="x-small", color=SOFT, ha=place.across, va=place.up, parse_math=False,
        )  # fmt: skip
    return panel


def plot_similarity(
    estimator: Any, *, components: int | Sequence[int] | None = None, cmap: str = "Blues", ax: Any = None
) -> Any:
    """Draw how alike every two components are: 1 for the same, 0 for those that share no column.

    It is 1 minus the Jensen-Shannon distance, relative to its largest value. Components that are alike stand side by
    side, unless their numbers are given. Lines have labels, where the model knows its words.

    Parameters
    ----------
    estimator
        A fitted estimator of this library.
    components : int or sequence of int, optional
        How many of the largest, or the numbers of those wanted, in this order. By default those in use, at most 40.
    cmap : str
        matplotlib's name of the colours.
    ax : Axes, Figure or SubFigure, optional
        Where to draw. By default a new figure.

    Returns
    -------
    Axes

    """
    choice = choose(estimator, components, _MOST, "plot_similarity")
    distances = choice.parts.distances()
    order = np.arange(len(choice)) if isinstance(components, Sequence | np.ndarray) else hierarchy(distances).order
    values = choice.parts.likeness(distances)[np.ix_(order, order)]
    # Each is like itself: drawn, that would be all one sees.
    np.fill_diagonal(values, np.nan)
    largest = 1.0 if len(values) < 2 else float(np.nanmax(values))
    return draw_matrix(ax, estimator, choice, order, values, (0.0, largest), cmap, "likeness")


def draw_matrix(
    ax: Any,
    estimator: Any,
    choice: Choice,
    order: npt.NDArray[np.int64],
    values: Array,
    ends: tuple[float, float],
    cmap: str,
    label: str,
) -> Any:
    """Draw a matrix of components, already in this order, with labels beside its lines."""
    panel = one_panel(ax, (5.4, 4.6))
    image = panel.imshow(values, cmap=cmap, vmin=ends[0], vmax=ends[1])
    numbers = [str(number) for number in choice.parts.numbers[order]]
    name_lines(panel, range(len(numbers)), _called(estimator, choice, order))
    panel.set_xticks(range(len(numbers)), numbers, rotation=90 if len(numbers) > 12 else 0)
    panel.tick_params(length=0, labelsize="x-small" if len(numbers) > 20 else "small")
    panel.spines[:].set_visible(False)
    panel.set_xlabel(choice.component)
    panel.set_ylabel(choice.component)
    panel.set_title(choice.note, fontsize="small", color=SOFT, loc="left")
    bar = panel.figure.colorbar(image, ax=panel, shrink=0.8, label=label)
    bar.outline.set_visible(False)
    return panel


def _unit(panel: Any, points: Array) -> float:
    """Return how many of a printer's points a unit of the map is long."""
    panel.update_datalim(points)
    panel.autoscale_view()
    layout = panel.figure.get_layout_engine()
    if layout is not None:
        layout.execute(panel.figure.figure)  # of the whole, where the figure is part of one
    panel.apply_aspect()
    (left, _), (right, _) = panel.transData.transform([(0.0, 0.0), (1.0, 0.0)])
    return float(right - left) * 72.0 / float(panel.figure.dpi)


def _known_names(estimator: Any, given: Sequence[str] | None) -> list[str] | None:
    """Return the columns' names; None if they are but numbers."""
    names = names_for(estimator, given)
    return None if all(name.isdigit() for name in names) else names


def first_words(estimator: Any, choice: Choice, given: Sequence[str] | None, words: int) -> list[str]:
    """Return what stands below each circle."""
    if words < 0:
        raise ValueError(f"words must be 0 or more, not {words!r}.")
    names = _known_names(estimator, given)
    if names is None:
        return [""] * len(choice)
    ranked = [choice.parts.distinctive(k, names, max(12, words)) for k in range(len(choice))]
    return [", ".join([short(word) for word in without_repeats(row)][:words]) for row in ranked]


def _called(estimator: Any, choice: Choice, order: Sequence[int] | npt.NDArray[np.int64]) -> list[str]:
    """Return what stands beside the lines of a matrix: numbers and labels, as far as there are any."""
    numbers = [str(number) for number in choice.parts.numbers]
    known = vocabulary_of(estimator)
    if known is not None:
        labels = choice.parts.labels(known)
        numbers = [f"{short(label)} · {number}" for label, number in zip(labels, numbers, strict=True)]
    return [numbers[k] for k in order]


def _side_by_side(points: Array, numbers: npt.NDArray[np.int64]) -> list[tuple[int, str]]:
    """Return where numbers stand; those that would cover each other are one text."""
    placed: dict[int, list[str]] = {}
    for k, number in enumerate(numbers):
        near = [other for other in placed if np.abs(points[other] - points[k]).max() < _NUMBER]
        placed.setdefault(near[0] if near else k, []).append(str(number))
    return [(k, ", ".join(own)) for k, own in placed.items()]
