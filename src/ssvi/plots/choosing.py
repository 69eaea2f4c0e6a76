"""What was found with several numbers of components."""

from __future__ import annotations

from typing import Any

import numpy as np

from ssvi.evaluation.choice import Choice
from ssvi.plots.panels import COLOURS, SOFT, Axes, panels, plain

_MEASURES = {"coherence": "coherence (NPMI)", "diversity": "diversity", "stability": "stability over seeds"}


def plot_choice(choice: Choice, *, axes: Any = None) -> Axes:
    """Draw held-out score, coherence, diversity and stability by the number of components, as far as they are known.

    A bar reaches one standard error to either side; the dotted line is at the number that is advised.

    Parameters
    ----------
    choice : Choice
        What `ssvi.choosing.choose` returns.
    axes : Axes, sequence of Axes, Figure or SubFigure, optional
        Where to draw. By default a new figure.

    Returns
    -------
    array of Axes
        One for each measure.

    """
    if not isinstance(choice, Choice):
        raise TypeError(f"plot_choice draws what ssvi.choosing.choose returns, not {type(choice).__name__}.")
    known = [name for name in _MEASURES if all(getattr(option, name) is not None for option in choice.options)]
    grid = panels(axes, 1 + len(known), 2 if known else 1, (3.6, 2.6))
    numbers = [option.n_components for option in choice.options]
    scores, errors = ([getattr(option, name) for option in choice.options] for name in ("score", "error"))
    grid.axes[0].errorbar(
        numbers, scores, np.nan_to_num(errors), color=COLOURS[0], marker="o", markersize=4, linewidth=1.8, capsize=3
    )
    grid.axes[0].set_title("held-out score", fontsize="small")
    for panel, name in zip(grid.axes[1:], known, strict=True):
        values = [getattr(option, name) for option in choice.options]
        panel.plot(numbers, values, color=COLOURS[0], marker="o", markersize=4, linewidth=1.8)
        panel.set_title(_MEASURES[name], fontsize="small")
    for panel in grid.axes:
        if not choice.cannot_tell:
            panel.axvline(choice.advised.n_components, color=COLOURS[1], linestyle=":", linewidth=1.5)
        if numbers[-1] >= 4 * numbers[0]:
            panel.set_xscale("log")
        panel.set_xticks(numbers, [f"{number:g}" for number in numbers])
        panel.set_xticks([], minor=True)
        plain(panel)
        panel.tick_params(axis="y", labelcolor=SOFT)
    grid.label(f"{choice.noun}s{'' if choice.cannot_tell else ' (dotted: the number advised)'}", "")
    return grid.axes
