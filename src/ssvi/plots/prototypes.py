"""Components as images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ssvi.plots.choice import choose, percent
from ssvi.plots.panels import SOFT, Axes, n_given, panels
from ssvi.report.components import image_shape
from ssvi.typing import Array

_MOST = 60


def plot_prototypes(
    estimator: Any,
    *,
    shape: tuple[int, int] | None = None,
    components: int | Sequence[int] | None = None,
    columns: int | None = None,
    cmap: str = "gray_r",
    axes: Any = None,
) -> Axes:
    """Draw each component as an image, the largest first, its share of the data above it.

    Probabilities of ones go from white, 0, to black, 1; other weights up to the component's largest.

    Parameters
    ----------
    estimator
        A fitted estimator of this library.
    shape : (height, width), optional
        Of the images. By default they are squares.
    components : int or sequence of int, optional
        How many of the largest, or the numbers of those wanted. By default those in use, at most 60, or as many as
        there are axes.
    columns : int, optional
        How many images there are beside each other; by default up to 12.
    cmap : str
        matplotlib's name of the colours.
    axes : Axes, sequence of Axes, Figure or SubFigure, optional
        Where to draw. By default a new figure.

    Returns
    -------
    array of Axes
        One for each component.

    """
    choice = choose(estimator, components, n_given(axes) or _MOST, "plot_prototypes")
    height, width = _shape(estimator, shape)
    if columns is None:
        columns = _columns(len(choice))
    elif columns < 1:
        raise ValueError(f"columns must be 1 or more, not {columns!r}.")
    # A wide image gets a wide panel; both kinds have about the same area.
    stretch = min(max((width / height) ** 0.5, 0.5), 2.0)
    size = (0.72 * stretch, 0.72 / stretch + 0.2)
    grid = panels(axes, len(choice), min(columns, len(choice)), size)
    for panel, row, share in zip(grid.axes, choice.parts.rows, choice.parts.shares, strict=True):
        panel.imshow(row.reshape(height, width), cmap=cmap, vmin=0.0, vmax=_largest(choice.parts.rows, row))
        panel.set_xticks([])
        panel.set_yticks([])
        panel.spines[:].set(color=SOFT, linewidth=0.4)
        panel.set_title(percent(share), fontsize="x-small", pad=2.0)
    grid.label("", choice.note)
    return grid.axes


def _shape(estimator: Any, given: tuple[int, int] | None) -> tuple[int, int]:
    """Return the images' height and width."""
    if given is None and estimator.columns_are_words:
        raise ValueError(
            f"plot_prototypes draws rows that are images, and those of a {type(estimator).__name__} are words: use "
            "plot_topics, or say the images' shape=(height, width)."
        )
    n = estimator.n_features_in_
    found = None if given is None else tuple(int(side) for side in given)
    if found is not None and (len(found) != 2 or min(found) < 1 or found[0] * found[1] != n):
        raise ValueError(f"shape must be a height and a width whose product is {n:,}, not {given!r}.")
    result = image_shape(n, None if found is None else (found[0], found[1]))
    if result is None:
        raise ValueError(f"{n:,} columns are no square image: say shape=(height, width), with the product {n:,}.")
    return result


def _largest(rows: Array, row: Array) -> float:
    """Return what is drawn black: 1 for probabilities of ones, else the image's largest weight."""
    sum_to_one = abs(rows.sum(axis=1) - 1.0).max() < 1e-6
    return float(row.max()) if sum_to_one else 1.0


def _columns(count: int) -> int:
    """Return how many images go into a line: up to 12, the picture wider than high, the last line as full as can be."""
    usual = min(12, max(5, round((2.4 * count) ** 0.5)))
    return min(range(max(usual - 2, 1), min(usual + 2, 12) + 1), key=lambda n: (-count % n, abs(n - usual)))
