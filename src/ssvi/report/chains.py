"""What there is to see of a hidden chain: its states, what they show, how long they last and what follows them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.files.models import column_names, vocabulary_of
from ssvi.report.components import Components
from ssvi.typing import Array

_LONGEST = 1e6  # time points that a state is said to last


@dataclass(frozen=True)
class Chain:
    """A chain's states that are in use.

    Attributes
    ----------
    name : str
        What the chain is called; empty if there is one only.
    numbers : (K,) integers
        The states' numbers in the model.
    labels : K str
        What each is about, in a few words; empty where there is nothing short to say.
    shares : (K,)
        How much of the time each has: of some data (`measured`), else in the long run.
    starts : (K,)
        How probable each is at the first time point.
    transitions : (K, K)
        How probable it is that one follows another, from row to column.
    rows : (K, columns)
        What each shows: means, rates or probabilities; what it adds, where chains add up.
    unsure : (K, columns), optional
        The standard deviations of these under q.
    spreads : (K, columns), optional
        The standard deviations of what is seen, where it is numbers.

    """

    name: str
    numbers: npt.NDArray[np.int64]
    labels: tuple[str, ...]
    shares: Array
    starts: Array
    transitions: Array
    rows: Array
    unsure: Array | None
    spreads: Array | None

    @property
    def durations(self) -> Array:
        """How many time points each state lasts, on average."""
        return 1.0 / np.maximum(1.0 - np.diagonal(self.transitions), 1.0 / _LONGEST)

    @property
    def leaving(self) -> Array:
        """How probable each next state is where a state is left: rows add up to 1, and nothing stays."""
        moves = self.transitions * (1.0 - np.eye(len(self.numbers)))
        total = moves.sum(axis=1, keepdims=True)
        result: Array = np.divide(moves, total, out=np.zeros_like(moves), where=total > 0)
        return result

    def measured(self, shares: Array) -> Chain:
        """Return the chain with shares of all its states in some data, by their numbers in the model.

        Where there is one chain only, the states with most of the time come first.
        """
        own = shares[self.numbers]
        order = np.arange(len(own)) if self.name else np.argsort(-own, kind="stable")
        return Chain(
            self.name,
            self.numbers[order],
            tuple(self.labels[k] for k in order),
            own[order],
            self.starts[order],
            self.transitions[np.ix_(order, order)],
            self.rows[order],
            None if self.unsure is None else self.unsure[order],
            None if self.spreads is None else self.spreads[order],
        )

    def order(self) -> list[int]:
        """Return the states in an order in which those that follow each other stand side by side."""
        flow = self.leaving + self.leaving.T
        order, left = [0], set(range(1, len(flow)))
        while left:
            before, after = (max(sorted(left), key=flow[end].__getitem__) for end in (order[0], order[-1]))
            if flow[before, order[0]] > flow[after, order[-1]]:
                order.insert(0, before)
            else:
                order.append(after)
            left -= set(order)
        return order


def has_chains(estimator: Any) -> bool:
    """Tell whether an estimator has hidden states with transitions between them."""
    return hasattr(type(estimator), "transmat_") or hasattr(estimator, "transmat_")


def chains_of(estimator: Any) -> list[Chain]:
    """Return the chains of a fitted hidden Markov model, or of a factorial one."""
    return [_only_chain(estimator)] if hasattr(estimator, "summarize_components") else _several_chains(estimator)


def measured_chains(estimator: Any, sequences: Sequence[Array]) -> list[Chain]:
    """Return the chains with the shares that states have of some sequences."""
    chains = chains_of(estimator)
    totals = sum(_probabilities(estimator, rows, len(chains)).sum(axis=0) for rows in sequences)
    points = sum(len(rows) for rows in sequences)
    return [chain.measured(np.asarray(totals)[m] / points) for m, chain in enumerate(chains)]


def paths_of(estimator: Any, rows: Array, count: int) -> tuple[npt.NDArray[np.int64], Array]:
    """Return the most probable path of each of so many chains, and how probable its state is at each time point.

    Both are time points x chains.
    """
    path = np.asarray(estimator.predict(rows)).reshape(len(rows), count)
    sure = np.take_along_axis(_probabilities(estimator, rows, count), path[:, :, None], axis=2)[:, :, 0]
    return path, sure


def _probabilities(estimator: Any, rows: Array, count: int) -> Array:
    """Return the probabilities of states, time points x chains x states."""
    return np.asarray(estimator.predict_proba(rows)).reshape(len(rows), count, -1)


def names_of_columns(estimator: Any) -> list[str]:
    """Return what the columns of a chain's rows are called: symbols, or columns of the data."""
    if getattr(estimator, "emission", None) == "categorical" or vocabulary_of(estimator) is not None:
        return list(column_names(estimator))
    return [f"column {name}" for name in column_names(estimator)]


def in_words(symbol: str) -> str:
    """Return what a symbol is called where its own form cannot be seen."""
    return {" ": "space", "\t": "tab"}.get(symbol, symbol)


def _only_chain(estimator: Any) -> Chain:
    parts = Components.used_by(estimator)
    used = parts.numbers
    spreads = _spreads(estimator)
    return Chain(
        name="",
        numbers=used,
        labels=_labels(estimator, parts),
        shares=long_run(estimator.transmat_)[used],
        starts=estimator.startprob_[used],
        transitions=estimator.transmat_[np.ix_(used, used)],
        rows=parts.rows,
        unsure=parts.deviations,
        spreads=None if spreads is None else spreads[used],
    )


def _several_chains(estimator: Any) -> list[Chain]:
    starts, transitions, levels = estimator.startprob_, estimator.transmat_, estimator.levels_
    return [
        Chain(
            name=f"chain {m}",
            numbers=np.arange(len(starts[m])),
            labels=("",) * len(starts[m]),
            shares=long_run(transitions[m]),
            starts=starts[m],
            transitions=transitions[m],
            rows=levels[m],
            unsure=None,
            spreads=None,
        )
        for m in range(len(starts))
    ]


def long_run(transitions: Array) -> Array:
    """Return the shares of the time that states have in the long run.

    >>> long_run(np.array([[0.9, 0.1], [0.3, 0.7]])).round(6)
    array([0.75, 0.25])
    """
    size = len(transitions)
    equations = np.vstack([transitions.T - np.eye(size), np.ones(size)])
    found = np.linalg.lstsq(equations, np.append(np.zeros(size), 1.0), rcond=None)[0]
    shares = np.maximum(found, 0.0)
    result: Array = shares / shares.sum()
    return result


def _spreads(estimator: Any) -> Array | None:
    """Return the standard deviations of what each state shows, K x columns; None where that is no number."""
    means: Array = estimator.means_
    if estimator.emission == "poisson":
        return np.sqrt(means)
    if estimator.emission != "gaussian":
        return None
    covariances = estimator.covars_
    if estimator.covariance_type in ("full", "tied"):
        variances = np.diagonal(covariances, axis1=-2, axis2=-1)
    else:
        variances = covariances if estimator.covariance_type == "diag" else covariances[:, None]
    result: Array = np.sqrt(np.broadcast_to(variances, means.shape))
    return result


def _labels(estimator: Any, parts: Components) -> tuple[str, ...]:
    """Return the labels that a person chose, else what tells the states apart, if there are names for it."""
    if parts.are_means and parts.rows.shape[1] == 1:
        given = parts.given or ("",) * len(parts.numbers)
        return tuple(own or f"{row[0]:.4g}" for own, row in zip(given, parts.rows, strict=True))
    known = getattr(estimator, "emission", None) == "categorical" or vocabulary_of(estimator) is not None
    if not known and not parts.given:
        return ("",) * len(parts.numbers)
    found = parts.labels([in_words(name) for name in column_names(estimator)])
    # Directions of a few columns cannot tell many states apart: numbers behind them would be all that does.
    said = all(not label.endswith(f"({number})") for label, number in zip(found, parts.numbers, strict=True))
    return tuple(found) if said or not parts.are_means else tuple(parts.given) or ("",) * len(found)
