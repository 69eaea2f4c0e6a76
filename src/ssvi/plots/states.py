"""Hidden states: what they show, and their paths over time."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ssvi.plots.choice import require_fitted
from ssvi.plots.panels import COLOURS, INK, SOFT, name_lines, panels, plain, require_matplotlib
from ssvi.report.chains import Chain, chains_of, has_chains, in_words, names_of_columns
from ssvi.typing import Array

_COLUMNS = 6  # that are drawn by default
_BARS = 30  # symbols or columns of probabilities that are drawn


def plot_emissions(estimator: Any, *, chain: int = 0, names: Sequence[str] | None = None, axes: Any = None) -> Any:
    """Draw what states show: means and deviations of each column, or probabilities as a matrix.

    Parameters
    ----------
    estimator
        A fitted `HiddenMarkovModel` or `FactorialHMM`.
    chain : int
        Which chain's states, where there are several; what they add is drawn.
    names : sequence of str, optional
        Names of the columns or symbols.
    axes : Axes, array of Axes, Figure or SubFigure, optional
        Where to draw: a panel a column, six at most, or one for a matrix. By default a new figure.

    Returns
    -------
    array of Axes

    """
    own, called = chain_of(estimator, chain, "plot_emissions"), _names(estimator, names)
    if own.spreads is None and not own.name:
        return _draw_probabilities(own, called, axes)
    count = min(own.rows.shape[1], _COLUMNS)
    grid = panels(axes, count, min(count, 3), (3.2, 0.32 * len(own.numbers) + 1.2))
    places = np.arange(len(own.numbers))[::-1]
    for column, panel in enumerate(grid.axes):
        for k, y in enumerate(places):
            mean, colour = own.rows[k, column], state_colour(k, len(places))
            if own.spreads is not None:
                spread = own.spreads[k, column]
                panel.barh(y, 2 * spread, left=mean - spread, height=0.55, color=colour, alpha=0.3)
            if own.unsure is not None:
                panel.errorbar(mean, y, xerr=own.unsure[k, column], color=INK, linewidth=1.0)
            panel.plot(mean, y, "|", color=colour, markersize=14, markeredgewidth=2.5)
        panel.set_title(called[column], fontsize=9)
        name_lines(panel, places, [f"state {number}" for number in own.numbers])
        plain(panel)
    left = own.rows.shape[1] - count
    grid.label("mean, and one deviation of what is seen" if own.spreads is not None else "what a state adds",
               f"the first {count} of {count + left} columns" if left else "")  # fmt: skip
    return grid.axes


def plot_paths(
    estimator: Any,
    X: Any,
    *,
    times: Any = None,
    names: Sequence[str] | None = None,
    axes: Any = None,
) -> Any:
    """Draw a sequence, coloured by its most probable path of states; chains that add up have a band each below it.

    Parameters
    ----------
    estimator
        A fitted `HiddenMarkovModel` or `FactorialHMM`.
    X : (time points, columns)
        One sequence; what is missing (NaN) is a gap.
    times : sequence of numbers or dates, optional
        When each time point was, in order; by default they are counted from 0.
    names : sequence of str, optional
        Names of the columns.
    axes : array of Axes, Figure or SubFigure, optional
        Where to draw: a panel a column, six at most, and one for the bands. By default a new figure.

    Returns
    -------
    array of Axes

    """
    chain_of(estimator, 0, "plot_paths")
    rows = np.asarray(X, dtype=float)
    rows = rows[:, None] if rows.ndim == 1 else rows
    chains = chains_of(estimator)
    path = np.asarray(estimator.predict(rows)).reshape(len(rows), len(chains))
    when = np.arange(len(rows)) if times is None else np.asarray(times)
    symbols = getattr(estimator, "emission", None) == "categorical"
    called = ["symbol"] if symbols else _names(estimator, names)
    count = min(rows.shape[1], _COLUMNS)
    grid = panels(axes, count + 1, 1, (8.0, 1.7), sharex=True)
    for column, panel in enumerate(grid.axes[:-1]):
        panel.plot(when, rows[:, column], color=INK, linewidth=0.9, marker=".", markersize=2.5)
        panel.set_ylabel(called[column], fontsize="small")
        if len(chains) == 1:
            _shade(panel, when, path[:, 0], chains[0], 0.18)
        panel.tick_params(labelsize="small")
    _draw_bands(grid.axes[-1], when, path, chains)
    return grid.axes


def state_colour(k: int, count: int) -> Any:
    """Return the colour of a state; of many, from a wheel."""
    if count <= len(COLOURS):
        return COLOURS[k]
    from matplotlib.colors import hsv_to_rgb

    return hsv_to_rgb([k / count, 0.65, 0.85 if k % 2 else 0.6])


def chain_of(estimator: Any, chain: int, plot: str) -> Chain:
    """Return a chain of a fitted model, or raise one clear sentence."""
    require_matplotlib()
    if isinstance(estimator, type) or not has_chains(estimator):
        kind = estimator.__name__ if isinstance(estimator, type) else type(estimator).__name__
        raise TypeError(f"{plot} draws fitted models with hidden states, and {kind} is none.")
    require_fitted(estimator, plot)
    found = chains_of(estimator)
    if chain not in range(len(found)):
        raise ValueError(f"chain must be from 0 to {len(found) - 1}, not {chain!r}.")
    return found[chain]


def _names(estimator: Any, given: Sequence[str] | None) -> list[str]:
    known = names_of_columns(estimator)
    if given is not None and len(given) != len(known):
        raise ValueError(f"names has {len(given):,} entries, and the model has {len(known):,} columns.")
    return known if given is None else [str(name) for name in given]


def _draw_probabilities(own: Chain, names: Sequence[str], axes: Any) -> Any:
    """Draw probabilities of the most probable symbols, states x symbols."""
    first = np.argsort(-(own.shares @ own.rows), kind="stable")[:_BARS]
    grid = panels(axes, 1, 1, (0.28 * len(first) + 1.6, 0.32 * len(own.numbers) + 1.2))
    panel = grid.axes[0]
    panel.imshow(np.sqrt(own.rows[:, first]), cmap="Blues", vmin=0.0, aspect="auto")
    shown = [in_words(names[v]) for v in first]
    tall = sum(len(name) > 2 for name in shown) > 1
    panel.set_xticks(np.arange(len(first)), shown, parse_math=False, rotation=90 if tall else 0)
    name_lines(panel, np.arange(len(own.numbers)), [f"state {number}" for number in own.numbers])
    plain(panel)
    left = own.rows.shape[1] - len(first)
    grid.label("square roots of probabilities", f"the {len(first)} most frequent of {len(names)}" if left else "")
    return grid.axes


def _runs(path: Array) -> list[tuple[int, int]]:
    """Return where each stretch of one state begins and ends."""
    cuts = np.flatnonzero(np.diff(path)) + 1
    edges = [0, *cuts.tolist(), len(path)]
    return list(pairwise(edges))


def _shade(panel: Any, when: Any, path: Array, chain: Chain, alpha: float, low: float = 0.0, high: float = 1.0) -> None:
    """Colour the time by states, between two heights of a panel."""
    place = {int(number): k for k, number in enumerate(chain.numbers)}
    for start, stop in _runs(path):
        k = place.get(int(path[start]))
        colour = SOFT if k is None else state_colour(k, len(chain.numbers))
        panel.axvspan(when[start], when[min(stop, len(when) - 1)], low, high, color=colour, alpha=alpha, linewidth=0)


def _draw_bands(panel: Any, when: Any, path: Array, chains: list[Chain]) -> None:
    """Draw a band for each chain, with the states' names beside it."""
    from matplotlib.patches import Patch

    count = len(chains)
    for m, chain in enumerate(chains):
        _shade(panel, when, path[:, m], chain, 0.9, 1.0 - (m + 0.9) / count, 1.0 - (m + 0.1) / count)
    panel.set_ylim(0.0, 1.0)
    panel.set_box_aspect(0.05 * count)
    name_lines(panel, [1.0 - (m + 0.5) / count for m in range(count)], [chain.name or "state" for chain in chains])
    plain(panel)
    most = max(chains, key=lambda chain: len(chain.numbers))
    signs = [Patch(color=state_colour(k, len(most.numbers)), label=f"state {number}") for k, number in
             enumerate(most.numbers)]  # fmt: skip
    panel.legend(handles=signs, fontsize=7, frameon=False, ncols=min(len(signs), 8), loc="upper center",
                 bbox_to_anchor=(0.5, -0.25))  # fmt: skip
