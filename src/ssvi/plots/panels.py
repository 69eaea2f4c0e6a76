"""Axes to draw in: those given, or new ones; and the look that all pictures share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

# Okabe and Ito's colours, which colour-blind people can tell apart; yellow is too light for lines.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#5F5F5F")
BAR = "#A8CBE6"  # of areas, on which darker lines can be seen
INK = "#1D2129"  # of text on them
SOFT = "#7A7F87"  # of what is beside the point: readable on white and on black

Axes = npt.NDArray[np.object_]


@dataclass(frozen=True)
class Grid:
    """Panels, and the figure they were made in; None if they were given.

    Where the figure is the library's to lay out, labels and notes stand once, beside all panels.
    """

    axes: Axes
    figure: Any

    def label(self, below: str, note: str) -> None:
        """Write what the axes below mean, and what is left out."""
        if self.figure is None:
            for panel in self.axes:
                panel.set_xlabel(below, fontsize="small")
            return
        if below:
            self.figure.supxlabel(below, fontsize="small")
        if note:
            self.figure.suptitle(note, fontsize="small", color=SOFT, x=0.01, ha="left")


def require_matplotlib() -> None:
    """Raise one clear sentence if there is no matplotlib."""
    try:
        import matplotlib as _  # noqa: F401
    except ImportError as error:
        raise ImportError("ssvi.plots needs matplotlib: pip install 'ssvi[plots]'.") from error


def one_panel(target: Any, size: tuple[float, float]) -> Any:
    """Return the Axes given, or new ones in a given figure or in one of its own."""
    return panels(target, 1, 1, size).axes[0]


def panels(target: Any, count: int, columns: int, size: tuple[float, float], **shared: Any) -> Grid:
    """Return so many Axes: the first of those given, or new ones in a grid.

    Parameters
    ----------
    target : None, Axes, sequence of Axes, Figure or SubFigure
        Where to draw. None is a new figure of pyplot's.
    count, columns : int
        How many panels, and how many beside each other.
    size : (width, height)
        Of one panel, in inches.
    **shared
        Whether new panels have the same `sharex` and `sharey`.

    """
    require_matplotlib()
    lines = -(-count // columns)
    figure = _figure(target, (size[0] * columns, size[1] * lines))
    if figure is None:
        return Grid(_given(target, count), None)
    cells = figure.add_gridspec(lines, columns)
    made: list[Any] = []
    for place in range(count):
        same = {name: made[0] for name, wanted in shared.items() if wanted and made}
        made.append(figure.add_subplot(cells[divmod(place, columns)], **same))
    return Grid(_array(made), figure)


def n_given(target: Any) -> int | None:
    """Return how many Axes are given; None if they are yet to be made."""
    if target is None or hasattr(target, "add_subplot"):
        return None
    return int(np.size(np.asarray(target, dtype=object)))


def plain(panel: Any) -> None:
    """Take away the frame but for the line that values stand on, and the marks of ticks."""
    panel.spines[["top", "right", "left"]].set_visible(False)
    panel.spines["bottom"].set_color(SOFT)
    panel.tick_params(length=0, labelsize="small")


def name_lines(panel: Any, places: Any, names: list[str], **options: Any) -> None:
    """Write names beside lines; a dollar sign is a dollar sign."""
    panel.set_yticks(places, names, parse_math=False, **options)


def _figure(target: Any, size: tuple[float, float]) -> Any:
    """Return the figure to make panels in; None if there are Axes."""
    if target is None:
        from matplotlib import pyplot

        return pyplot.figure(figsize=size, layout="constrained")
    return target if hasattr(target, "add_subplot") else None


def _given(target: Any, count: int) -> Axes:
    """Return the first Axes of those given, and hide the others."""
    axes = _array(list(np.asarray(target, dtype=object).flat))
    if not all(hasattr(panel, "transAxes") for panel in axes):
        raise TypeError(f"axes must be Axes of matplotlib, several of them, or a figure, not {target!r}.")
    if len(axes) < count:
        raise ValueError(f"{count} panels are to be drawn, and {len(axes)} Axes are given: give more, or draw fewer.")
    for panel in axes[count:]:
        panel.set_axis_off()
    return axes[:count]


def _array(axes: list[Any]) -> Axes:
    result = np.empty(len(axes), dtype=object)
    result[:] = axes
    return result
