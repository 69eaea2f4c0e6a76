"""All that a page shows of a model of sequences, as plain values for its script."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import ssvi
from ssvi.report.chains import Chain, chains_of, has_chains, measured_chains, names_of_columns, paths_of
from ssvi.report.components import count_in_words
from ssvi.report.dynamics import dynamics_of, states_over_time
from ssvi.report.packing import all_rounded, pack, places, rounded
from ssvi.report.series import MOST_COLUMNS, Scale, Shown, commonest, in_stretches, stretch_of
from ssvi.typing import Array

_MOST_ROWS = 15  # of what a state shows
_MOST_STATES = 100  # of which all transitions are on the page

Traces = dict[str, Array]
"""Numbers of the time points of a sequence by what they are, time points x columns."""


def is_for_sequences(estimator: Any) -> bool:
    """Tell whether a model is one of sequences with states or dynamics to show."""
    return has_chains(estimator) or hasattr(estimator, "smooth")


def gather_sequence_facts(
    estimator: Any,
    *,
    data: Any = None,
    lengths: Any = None,
    names: Sequence[str] | None = None,
    times: Sequence[Any] | None = None,
    title: str | None = None,
) -> dict[str, Any]:
    """Return all that the page shows, as plain values; the parameters are those of `write_report`."""
    shown = None if data is None else Shown.first(data, lengths, names, times)
    chains = _chains(estimator, shown) if has_chains(estimator) else []
    facts = {
        "page": "sequences",
        "title": title or _TITLES.get(estimator.name, "Sequences"),
        "facts": _facts(estimator),
        "score": _score(estimator),
        "emission": getattr(estimator, "emission", None) if chains else None,
        "adds": len(chains) > 1 or estimator.name == "fhmm",
        "columns": names_of_columns(estimator),
        "chains": [_chain(chain, names_of_columns(estimator)) for chain in chains],
        "dynamics": None if chains else dynamics_of(estimator),
    }
    return facts if shown is None else facts | {"series": _series(estimator, shown, chains)}


def _chains(estimator: Any, shown: Shown | None) -> list[Chain]:
    return chains_of(estimator) if shown is None else measured_chains(estimator, shown.values)


_TITLES = {"hmm": "Hidden states", "fhmm": "Chains that add up", "lds": "Linear dynamics"}


def _chain(chain: Chain, names: Sequence[str]) -> dict[str, Any]:
    """Return a chain's states and the transitions between them."""
    kept = slice(min(len(chain.numbers), _MOST_STATES))
    states = [
        {
            "number": int(chain.numbers[k]),
            "label": chain.labels[k],
            "share": rounded(chain.shares[k]),
            "start": rounded(chain.starts[k]),
            "duration": rounded(chain.durations[k], 3),
            "rows": _rows(chain, k, len(names)),
        }
        for k in range(len(chain.numbers))[kept]
    ]
    return {
        "name": chain.name,
        "states": states,
        "left_out": len(chain.numbers) - len(states),
        "transitions": pack(65_535.0 * chain.transitions[kept, kept], "u2"),
        "order": [k for k in chain.order() if k < len(states)],
    }


def _rows(chain: Chain, k: int, columns: int) -> list[list[float]]:
    """Return what a state shows: columns, their values, how unsure these are, and how far what is seen spreads.

    Probabilities are in order, the largest first; of many numbers, those that are furthest from the other states'.
    """
    row = chain.rows[k]
    if chain.spreads is None and chain.name == "":
        chosen = np.argsort(-row, kind="stable")[:_MOST_ROWS]
    elif columns <= _MOST_ROWS:
        chosen = np.arange(columns)
    else:
        middle = chain.shares @ chain.rows
        width = np.sqrt(chain.shares @ (chain.rows - middle) ** 2)
        chosen = np.argsort(-np.abs(row - middle) / np.maximum(width, 1e-300), kind="stable")[:_MOST_ROWS]
    return [
        [
            int(v),
            rounded(row[v]),
            rounded(0.0 if chain.unsure is None else chain.unsure[k, v], 3),
            rounded(0.0 if chain.spreads is None else chain.spreads[k, v], 4),
        ]
        for v in chosen
    ]


def _series(estimator: Any, shown: Shown, chains: list[Chain]) -> dict[str, Any]:
    """Return the sequences with what the model says of each time point."""
    symbols = getattr(estimator, "emission", None) == "categorical"
    width = 1 if symbols else min(estimator.n_features_in_, MOST_COLUMNS)
    if chains:
        look: Callable[[Array], dict[str, Any]] = lambda rows: _paths(estimator, rows, chains, width)  # noqa: E731
    else:
        look = lambda rows: states_over_time(estimator, rows, width)  # noqa: E731
    found = [look(rows) for rows in shown.values]
    every = [np.vstack([own[:, :width], *_numbers(said, width)]) for own, said in zip(shown.values, found, strict=True)]
    scales = [Scale.of(*(part[:, column] for part in every)) for column in range(width)]
    most = shown.places(4 * width + 2 * len(chains) + 6 * width * ("traces" in found[0]))
    sequences = [
        {
            "name": shown.names[n],
            "length": len(rows),
            **_thinned(rows[:, :width], found[n], scales, most, symbols=symbols, chains=chains),
            "times": _times(shown.times[n], len(rows), most),
        }
        for n, rows in enumerate(shown.values)
    ]
    names = list(names_of_columns(estimator))
    return {
        "symbols": symbols,
        "columns": [scale.told("" if symbols else names[v]) for v, scale in enumerate(scales)],
        "columns_left_out": 0 if symbols else estimator.n_features_in_ - width,
        "sequences": sequences,
        "left_out": shown.left_out,
    }


def _numbers(said: dict[str, Any], width: int) -> list[Array]:
    """Return all numbers that are drawn in the panels of the columns."""
    found = [*said.get("traces", {}).values(), *said.get("ahead", {}).values()]
    return [part[:, :width] for part in found]


def _paths(estimator: Any, rows: Array, chains: list[Chain], width: int) -> dict[str, Any]:
    """Return the most probable path of each chain and how sure it is, and what chains that add up add up to."""
    path, sure = paths_of(estimator, rows, len(chains))
    found: dict[str, Any] = {"path": path, "sure": sure}
    if hasattr(estimator, "levels_"):
        levels = estimator.levels_
        total = estimator.offset_ + sum(levels[m][path[:, m]] for m in range(len(chains)))
        found["traces"] = {"fitted": np.asarray(total)[:, :width]}
    return found


def _thinned(
    rows: Array, said: dict[str, Any], scales: list[Scale], most: int, *, symbols: bool, chains: list[Chain]
) -> dict[str, Any]:
    """Return a sequence in as many places as a page has room for."""
    stretch = stretch_of(len(rows), most)

    def packed(values: Array, take: Any) -> list[dict[str, str]]:
        thin = in_stretches(values, stretch, take)
        return [scale.packed(thin[:, column]) for column, scale in enumerate(scales)]

    out: dict[str, Any] = {"stretch": stretch, "places": -(-len(rows) // stretch)}
    if symbols:
        out["values"] = [pack(np.where(np.isnan(rows[:, 0]), 0.0, rows[:, 0] + 1.0), "u2")] if stretch == 1 else None
    else:
        out["values"] = packed(rows, np.nanmin)
        out["high"] = packed(rows, np.nanmax) if stretch > 1 else None
    for name, values in said.get("traces", {}).items():
        out[name] = packed(values, np.nanmean)
    if "path" in said:
        out["path"], out["sure"] = _packed_paths(said, stretch, chains)
    if "ahead" in said:
        out["ahead"] = {
            name: [scale.packed(part[:, column]) for column, scale in enumerate(scales)]
            for name, part in said["ahead"].items()
        }
    return out


def _packed_paths(said: dict[str, Any], stretch: int, chains: list[Chain]) -> tuple[list[Any], list[Any]]:
    """Return the path of each chain and how sure it is; a state that is not shown has the number after the last."""
    paths, sure = [], []
    for m, chain in enumerate(chains):
        shown = min(len(chain.numbers), _MOST_STATES)
        place = np.full(int(max(chain.numbers.max(), said["path"][:, m].max())) + 1, shown)
        place[chain.numbers[:shown]] = np.arange(shown)
        paths.append(places(commonest(place[said["path"][:, m]], stretch, shown + 1), shown + 1))
        sure.append(pack(255.0 * in_stretches(said["sure"][:, m], stretch, np.nanmean), "u1"))
    return paths, sure


def _times(times: Sequence[Any] | None, length: int, most: int) -> list[str] | None:
    """Return when each place begins."""
    return None if times is None else [str(time) for time in times[:: stretch_of(length, most)]]


def states_in_words(estimator: Any) -> str:
    """Return how many states a model of sequences has, after a comma."""
    if hasattr(estimator, "n_states"):
        return f", {estimator.n_components} chains of {estimator.n_states} states"
    if hasattr(estimator, "summarize_components"):
        return count_in_words(estimator)
    return f", {estimator.n_components} state{'s'[: estimator.n_components > 1]}"


def _facts(estimator: Any) -> list[list[str]]:
    """Return lines about the fit."""
    seconds = sum(step.seconds for step in estimator.history_)
    kinds = {"hmm": "hidden Markov model", "fhmm": "factorial HMM", "lds": "linear dynamical system"}
    points = round(estimator._n_distinct * estimator._group_length)
    emission = f", {estimator.emission} emissions" if hasattr(estimator, "emission") else ""
    return [
        ["model", kinds.get(estimator.name, estimator.name) + states_in_words(estimator) + emission],
        ["data", f"{points:,} time points, {estimator.n_features_in_:,} column{'s'[: estimator.n_features_in_ > 1]}"],
        ["fit", f"{estimator.n_batch_iter_:,} steps, {seconds:.1f} s, seed {estimator.random_state_}"],
        ["made by", f"ssvi {ssvi.__version__}"],
    ]


def _score(estimator: Any) -> dict[str, Any] | None:
    """Return the held-out score and what it means."""
    scores = getattr(estimator, "scores_", [])
    if not scores:
        return None
    last = float(scores[-1][1])
    return {
        "value": rounded(last, 7),
        "meaning": f"Higher is better: {last:.4g} is the mean log probability of a time point that the fit did not "
        "see, given those before it.",
        "curve": [all_rounded(point, 7) for point in scores],
    }
