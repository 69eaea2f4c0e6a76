"""How a fit went: held-out scores over time, or the bound over steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ssvi.plots.choice import check_fitted
from ssvi.plots.panels import COLOURS, SOFT, one_panel, require_matplotlib
from ssvi.typing import Array

_STYLES = ("-", "--", ":", "-.")
_LABELS = {
    "scores": ("seconds", "held-out score"),
    "perplexity": ("passes", "perplexity of the training data"),
    "bound": ("steps", "local bound per row"),
}
_SOURCES = {
    "scores": "scores come with fit(X, X_val=...)",
    "perplexity": "perplexities of topic models come with evaluate_every=1",
    "bound": "bounds come with local steps that optimise one, such as 'mean_field'",
}


def plot_training(models: Any, *, what: str = "auto", smooth: int | None = None, ax: Any = None) -> Any:
    """Draw how one or several fits went.

    Parameters
    ----------
    models
        A fitted estimator of this library, or a mapping of names to them.
    what : {"auto", "scores", "perplexity", "bound"}
        "scores" are the held-out scores of `scores_` by seconds, from `fit(X, X_val=...)`; "perplexity" is
        `perplexity_history_` of topic models with `evaluate_every`; "bound" is the bound of the steps in `history_`,
        divided by a step's rows: it has no term of the priors, and only local steps that optimise a bound have it.
        "auto" is the first of these that all models have.
    smooth : int, optional
        Draw the bound's mean over so many steps. By default those of a pass over the data, since minibatches differ,
        but at most a fifth of all.
    ax : Axes, Figure or SubFigure, optional
        Where to draw. By default a new figure.

    Returns
    -------
    Axes

    """
    require_matplotlib()
    named: dict[str, Any] = dict(models) if isinstance(models, Mapping) else {"": models}
    if not named:
        raise ValueError("plot_training has no models to draw: the mapping is empty.")
    for model in named.values():
        check_fitted(model, "plot_training")
    if smooth is not None and smooth < 1:
        raise ValueError(f"smooth must be 1 or more, not {smooth!r}.")
    what = _common(named, what)
    panel = one_panel(ax, (5.2, 3.2))
    for place, (name, model) in enumerate(named.items()):
        style = {
            "color": COLOURS[place % len(COLOURS)],
            "linestyle": _STYLES[place // len(COLOURS) % len(_STYLES)],
            "label": str(name),
        }
        across, up = _bounds(model, smooth) if what == "bound" else _values(model, what)
        panel.plot(across, up, linewidth=1.8, marker="o" if len(up) <= 30 else None, markersize=3.5, **style)
    _dress(panel, what, len(named) > 1)
    return panel


def _common(named: Mapping[str, Any], what: str) -> str:
    """Return what all models have to show."""
    if what != "auto" and what not in _LABELS:
        raise ValueError(f"what must be auto, {_or(list(_LABELS))}, not {what!r}.")
    asked = list(_LABELS) if what == "auto" else [what]
    for wanted in asked:
        if all(len(_values(model, wanted)[0]) for model in named.values()):
            return wanted
    who = "the fit kept no" if len(named) == 1 else "not every fit kept"
    sources = "; ".join(_SOURCES[wanted] for wanted in asked)
    raise ValueError(f"{who} {_or(asked)} to draw ({sources}).")


def _or(names: list[str]) -> str:
    """Write names with an "or" before the last."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"


def _values(model: Any, what: str) -> tuple[Array, Array]:
    """Return the places and the heights of a curve; both are empty if the model has none."""
    if what == "scores":
        points = [(seconds, score) for seconds, score in getattr(model, "scores_", [])]
    elif what == "perplexity":
        every = max(1, int(getattr(model, "evaluate_every", 1)))
        values = getattr(model, "perplexity_history_", [])
        points = [(every * place, value) for place, value in enumerate(values, start=1)]
    else:
        return _bounds(model, 1)
    across, up = np.array(points, dtype=float).reshape(-1, 2).T
    return across, up


def _bounds(model: Any, smooth: int | None) -> tuple[Array, Array]:
    """Return steps and the mean bound per row of so many steps up to each; both are empty if no step has one."""
    history = model.history_
    if history and history[0].step > 1:  # a model from elsewhere: how many rows its first step had is not known
        before, history = history[0].documents_seen, history[1:]
    else:
        before = 0
    seen = np.diff([before, *(info.documents_seen for info in history)])
    pairs = [(info, rows) for info, rows in zip(history, seen, strict=True) if info.bound is not None]
    if not pairs:
        return np.zeros(0), np.zeros(0)
    rows = np.array([rows for _, rows in pairs], dtype=float)
    if smooth is None:
        a_pass = round(pairs[-1][0].population / np.median(rows))
        smooth = max(1, min(a_pass, len(rows) // 5))
    window = np.ones(min(smooth, len(rows)))
    sums = np.convolve([info.bound for info, _ in pairs], window, mode="valid")
    steps = np.array([info.step for info, _ in pairs], dtype=float)
    return steps[len(window) - 1 :], sums / np.convolve(rows, window, mode="valid")


def _dress(panel: Any, what: str, legend: bool) -> None:
    """Name the axes, and the curves if there are several."""
    below, beside = _LABELS[what]
    panel.set_xlabel(below)
    panel.set_ylabel(beside)
    panel.spines[["top", "right"]].set_visible(False)
    panel.spines[["left", "bottom"]].set_color(SOFT)
    panel.tick_params(color=SOFT)
    panel.grid(axis="y", alpha=0.25)
    if what != "scores":
        panel.xaxis.get_major_locator().set_params(integer=True)
    if legend:
        panel.legend(frameon=False, fontsize="small")
