"""Multilevel regressions: intervals of coefficients, and effects of groups in order (a caterpillar)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ssvi.plots.panels import COLOURS, SOFT, one_panel, plain

_MOST_LABELS = 60


def plot_coefficients(estimator: Any, *, level: float = 0.9, ax: Any = None) -> Any:
    """Draw mean and interval of each global parameter under q, coefficients above deviations and correlations."""
    _check(estimator)
    table = estimator.summary(level)
    ax = one_panel(ax, (6.0, 0.35 * len(table) + 1.0))
    places = np.arange(len(table))[::-1]
    low, high = table.iloc[:, 2], table.iloc[:, 4]
    ax.hlines(places, low, high, color=COLOURS[0], linewidth=2.0)
    ax.plot(table["mean"], places, "o", color=COLOURS[0])
    ax.axvline(0.0, color=SOFT, linewidth=0.8, zorder=0)
    ax.set_yticks(places, list(table.index))
    ax.set_xlabel(f"mean and {100 * level:g}% interval")
    plain(ax)
    return ax


def plot_group_effects(estimator: Any, coefficient: str | None = None, *, level: float = 0.9, ax: Any = None) -> Any:
    """Draw by how much each group's coefficient differs from the average, the smallest first, with intervals.

    `coefficient` is a column that varies; by default the first.
    """
    _check(estimator)
    table = estimator.group_effects(level)
    names = list(dict.fromkeys(table.index.get_level_values("coefficient")))
    if not names:
        raise ValueError("this model has no groups whose effects could be drawn.")
    chosen = names[0] if coefficient is None else coefficient
    if chosen not in names:
        raise ValueError(f"coefficient must be one that varies ({', '.join(names)}), not {coefficient!r}.")
    own = table.xs(chosen, level="coefficient").sort_values("mean")
    ax = one_panel(ax, (6.0, min(0.22 * len(own) + 1.0, 12.0)))
    places = np.arange(len(own))
    ax.hlines(places, own.iloc[:, 2], own.iloc[:, 3], color=COLOURS[0], linewidth=1.0)
    ax.plot(own["mean"], places, ".", color=COLOURS[0])
    ax.axvline(0.0, color=SOFT, linewidth=0.8, zorder=0)
    if len(own) <= _MOST_LABELS:
        ax.set_yticks(places, [str(label) for label in own.index])
    else:
        ax.set_yticks([])
        ax.set_ylabel(f"{len(own):,} groups")
    ax.set_xlabel(f"{chosen}: difference from the average group, {100 * level:g}% intervals")
    plain(ax)
    return ax


def _check(estimator: Any) -> None:
    if not hasattr(estimator, "group_effects"):
        raise TypeError(f"a {type(estimator).__name__} is no multilevel regression, which is what is drawn here.")
