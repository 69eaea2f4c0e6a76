"""Transitions between hidden states, as a matrix or as a graph."""

from __future__ import annotations

from typing import Any

import numpy as np

from ssvi.plots.panels import INK, SOFT, one_panel
from ssvi.plots.states import chain_of, state_colour
from ssvi.report.chains import Chain

_NUMBERED = 12  # states whose probabilities are written into a matrix
_LINES = 2  # arrows for each state of a graph, and one that leads out of it
_LEAST = 0.0005  # a move that is drawn
_BEHIND = {"boxstyle": "round,pad=0.1", "facecolor": "white", "edgecolor": "none", "alpha": 0.8}


def plot_transitions(estimator: Any, *, chain: int = 0, kind: str = "matrix", ax: Any = None) -> Any:
    """Draw the probabilities of transitions, as a matrix or as a graph.

    Parameters
    ----------
    estimator
        A fitted `HiddenMarkovModel` or `FactorialHMM`.
    chain : int
        Which chain, where there are several.
    kind : {"matrix", "graph"}
        Shades are square roots of probabilities, so that rare moves can be seen. Arrows of a graph are as thick as they
        are probable; it has the most probable ones, and at least one that leads out of each state.
    ax : Axes, Figure or SubFigure, optional
        Where to draw. By default a new figure.

    Returns
    -------
    Axes

    """
    own = chain_of(estimator, chain, "plot_transitions")
    if kind not in ("matrix", "graph"):
        raise ValueError(f"kind must be 'matrix' or 'graph', not {kind!r}.")
    return _draw_matrix(own, ax) if kind == "matrix" else _draw_graph(own, ax)


def _draw_matrix(own: Chain, ax: Any) -> Any:
    order, count = own.order(), len(own.numbers)
    ax = one_panel(ax, (0.4 * min(count, 20) + 1.8, 0.4 * min(count, 20) + 1.4))
    shown = own.transitions[np.ix_(order, order)]
    ax.imshow(np.sqrt(shown), cmap="Blues", vmin=0.0, vmax=1.0)
    if count <= _NUMBERED:
        for (i, j), p in np.ndenumerate(shown):
            ax.text(j, i, f"{100 * p:.0f}", ha="center", va="center", fontsize=8, color="white" if p > 0.5 else INK)
    labels = [str(own.numbers[k]) for k in order]
    ax.set_xticks(np.arange(count), labels, fontsize="small")
    ax.set_yticks(np.arange(count), labels, fontsize="small")
    ax.set_xlabel("to" + (", in per cent" if count <= _NUMBERED else ""), fontsize="small")
    ax.set_ylabel("from", fontsize="small")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax


def _draw_graph(own: Chain, ax: Any) -> Any:
    """Draw states on a ring, with arrows between them."""
    count = len(own.numbers)
    ax = one_panel(ax, (5.2, 3.0 if count == 2 else 5.2))
    angles = np.pi / 2 - 2 * np.pi * np.argsort(own.order()) / count
    points = np.stack([np.cos(angles - (np.pi / 2 if count == 2 else 0)), np.sin(angles) * (count > 2)], axis=1)
    room = 0.55 * (np.sin(np.pi / count) if count > 2 else 0.6)
    radii = min(room, 0.2) * (0.6 + 0.4 * np.sqrt(own.shares / own.shares.max()))
    arrows = _arrows(own)
    largest = max((own.transitions[i, j] for i, j in arrows), default=1.0)
    for i, j in reversed(arrows):
        p, colour = own.transitions[i, j], state_colour(i, count)
        _draw_arrow(ax, points[i], points[j], radii[i], radii[j], p, p / largest, colour)
    for k in range(count):
        _draw_state(ax, points[k], radii[k], own, k)
    ax.set_xlim(-1.7, 1.7)
    ax.set_ylim((-0.8, 0.8) if count == 2 else (-1.5, 1.5))
    ax.set_aspect("equal")
    ax.set_axis_off()
    return ax


def _arrows(own: Chain) -> list[tuple[int, int]]:
    """Return the moves to draw, the most probable first."""
    moves = own.transitions * (1.0 - np.eye(len(own.numbers)))
    order = [divmod(int(place), len(moves)) for place in np.argsort(-moves, axis=None, kind="stable")]
    order = [(i, j) for i, j in order if moves[i, j] > _LEAST]
    first = order[: max(6, _LINES * len(moves))]
    return first + [(k, int(np.argmax(moves[k]))) for k in range(len(moves)) if moves[k].any() and not
                    any(i == k for i, _ in first)]  # fmt: skip


def _draw_arrow(
    ax: Any, a: Any, b: Any, from_radius: float, to_radius: float, p: float, share: float, colour: Any
) -> None:
    from matplotlib.patches import FancyArrowPatch

    along = (b - a) / np.linalg.norm(b - a)
    side = np.array([along[1], -along[0]])
    start, end = a + along * (from_radius + 0.03), b - along * (to_radius + 0.05)
    arrow = FancyArrowPatch(start, end, connectionstyle="arc3,rad=0.22", arrowstyle="-|>", color=colour, alpha=0.75)
    arrow.set_linewidth(0.6 + 3.5 * share)
    arrow.set_mutation_scale(8.0 + 4.0 * share)
    ax.add_patch(arrow)
    middle = 0.5 * (start + end) + side * (0.11 * np.linalg.norm(end - start) + 0.06)
    ax.annotate(f"{100 * p:.2g}%", middle, fontsize=7, ha="center", va="center", color=INK,
                bbox=_BEHIND)  # fmt: skip


def _draw_state(ax: Any, point: Any, radius: float, own: Chain, k: int) -> None:
    from matplotlib.patches import Circle

    colour = state_colour(k, len(own.numbers))
    ax.add_patch(Circle(point, radius, facecolor="white", edgecolor=colour, linewidth=2.0, zorder=3))
    ax.add_patch(Circle(point, radius, facecolor=colour, alpha=0.3, zorder=4))
    ax.text(*point, str(own.numbers[k]), ha="center", va="center", fontsize=9, fontweight="bold", color=INK, zorder=5)
    out = point / max(float(np.linalg.norm(point)), 1e-9)
    beside = point + out * (radius + 0.14 + 0.18 * abs(out[0]))
    stays = f"stays {own.transitions[k, k]:.0%}"
    ax.text(*beside, stays, ha="center", va="center", fontsize=7, color=SOFT, zorder=5)
