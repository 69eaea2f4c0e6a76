"""What a report says of topics and components: sizes, words, likeness, and how sure the fit is of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi import labels
from ssvi.labels import relevance
from ssvi.typing import Array

_WORDS = 25  # of each topic that can be shown at once
_LAMBDAS = np.linspace(0.0, 1.0, 11)
_LABEL_WORDS = 12  # among which a label finds some that do not repeat each other
_MOST_LOGARITHMS = 1_000_000_000  # of all distances together; beyond, the rarest columns count as one


@dataclass(frozen=True)
class Components:
    """The components of a model, the largest first.

    Attributes
    ----------
    numbers : (K,) integers
        Their numbers in the model.
    shares : (K,)
        How much of the data each has.
    rows : (K, columns)
        Their weights of the columns: probabilities of words, of ones, or shares of a spectrum.
    deviations : (K, columns)
        The standard deviations of these under q.
    overall : (columns,)
        The weights of the columns in all the data.
    are_means : bool
        Whether the rows are no weights but means, of any sign.
    widths : (columns,) or float
        How wide each column is, where rows are means.
    given : tuple of str
        Labels that a person chose, an empty one for none (`labels_` of the estimator).
    noun : str
        What one of them is called.

    """

    numbers: npt.NDArray[np.int64]
    shares: Array
    rows: Array
    deviations: Array
    overall: Array
    are_means: bool = False
    widths: Array | float = 1.0
    given: tuple[str, ...] = ()
    noun: str = "component"

    @classmethod
    def of(cls, estimator: Any) -> Components:
        """Take them from a fitted estimator, if it has any."""
        if not _has_components(estimator):
            raise ValueError(f"{type(estimator).__name__} has no components to show; `ssvi info` says what it holds.")
        shares, rows, deviations = estimator.summarize_components()
        order = np.argsort(-shares, kind="stable")
        return cls(
            numbers=order,
            shares=shares[order],
            rows=rows[order],
            deviations=deviations[order],
            overall=labels.overall_weights(rows, shares),
            are_means=estimator.rows_are_means,
            widths=estimator.column_widths(),
            given=_given_labels(estimator, order),
            noun=estimator.nouns[1],
        )

    @classmethod
    def used_by(cls, estimator: Any) -> Components:
        """Take from a fitted estimator those that are in use, or the largest if none is."""
        return cls.of(estimator).take(slice(max(1, estimator.components_in_use())))

    def take(self, places: Any) -> Components:
        """Return those at some places, by a slice or numbers."""
        return replace(
            self,
            numbers=self.numbers[places],
            shares=self.shares[places],
            rows=self.rows[places],
            deviations=self.deviations[places],
            given=tuple(np.array(self.given, dtype=object)[places]) if self.given else (),
        )

    def ranked(self, k: int, weight: float = 1.0) -> npt.NDArray[np.int64]:
        """Return the columns by what they say of a component, the first first.

        By `relevance`; where rows are means, by how far these are from those of all the data.
        """
        return np.argsort(-self._said(k, weight), kind="stable")

    def first(self, k: int, n: int, weight: float = 1.0) -> npt.NDArray[np.int64]:
        """Return the first n of `ranked`, without sorting all of a large vocabulary."""
        return labels.first(self._said(k, weight), n)

    def signs(self, k: int, columns: npt.NDArray[np.int64]) -> list[int]:
        """Return 1 where a component's mean is that of all the data or more, and -1 where it is less."""
        return [1 if above else -1 for above in self.rows[k, columns] >= self.overall[columns]]

    def _said(self, k: int, weight: float) -> Array:
        return self.standing(k) if self.are_means else relevance(self.rows[k], self.overall, weight)

    def standing(self, k: int) -> Array:
        """Return how far a component's means are from those of all the data, in widths of the columns."""
        result: Array = np.abs(self.rows[k] - self.overall) / self.widths
        return result

    def distinctive(self, k: int, names: Sequence[str], n: int, weight: float = labels.RELEVANCE) -> list[str]:
        """Return the names of the columns that tell a component from the others, the best first.

        Where rows are means, with an arrow: above or below those of all the data.
        """
        first = self.first(k, n, weight)
        if not self.are_means:
            return [names[v] for v in first]
        return [labels.with_arrow(names[v], sign) for v, sign in zip(first, self.signs(k, first), strict=True)]

    def labels(self, names: Sequence[str] | None) -> list[str]:
        """Return a short label for each component, no two the same: those a person chose, else distinctive columns.

        Without names of columns it is the component's number.
        """
        if names is None:
            plain = [f"{self.noun} {number}" for number in self.numbers]
            return [own or text for own, text in zip(self.given or [""] * len(plain), plain, strict=True)]
        ranked = [self.distinctive(k, names, _LABEL_WORDS) for k in range(len(self.shares))]
        return labels.distinct(ranked, self.shares, self.given or None)

    def said_by(self, k: int, label: str, names: Sequence[str] | None) -> list[int]:
        """Return the columns that the label of a component says already; none of one that a person gave."""
        if names is None or (self.given and self.given[k]):
            return []
        first = self.first(k, _LABEL_WORDS, labels.RELEVANCE)
        words = self.distinctive(k, names, _LABEL_WORDS)
        return [int(column) for column, word in zip(first, words, strict=True) if labels.is_in(word, label)]

    def worth_reading_first(self, coherence: Sequence[float | None] | None = None) -> int:
        """Return the place of the component to begin with, as `ssvi.labels.worth_reading_first` has it.

        Where rows are means it is the largest: there is nothing against a large cluster.
        """
        return 0 if self.are_means else labels.worth_reading_first(self.rows, self.shares, self.marks(), coherence)

    def marks(self) -> list[list[str]]:
        """Return what is to be said against each component, as `ssvi.labels.marks` has it.

        Means are not all there is to say of a cluster, so that clusters of like means are no copies. Only a topic can
        be in all documents: a large cluster is nothing to say anything against.
        """
        found = labels.marks(self.rows, self.shares, self.numbers.tolist())
        wrong = set() if self.noun == "topic" else {"common"}
        return [[mark for mark in own if mark == "dust" or not (self.are_means or mark in wrong)] for own in found]

    def candidates(self, k: int) -> npt.NDArray[np.int64]:
        """Return the columns that are among a component's first ones for some weight of probability against lift."""
        said = self.standing(k) if self.are_means else self.rows[k]
        if self.are_means:
            found = labels.first(said, _WORDS)
        else:
            log_row, lift = relevance(said, self.overall, 1.0), relevance(said, self.overall, 0.0)
            found = np.unique([labels.first(w * log_row + (1.0 - w) * lift, _WORDS) for w in _LAMBDAS])
        return found[np.argsort(-said[found], kind="stable")]

    def distances(self) -> Array:
        """Return the Jensen-Shannon distances between components, as distributions over columns.

        Where rows are means, Euclidean ones in widths of the columns, the largest of which is 1.
        """
        if self.are_means:
            scaled = self.rows / self.widths
            apart: Array = np.sqrt(((scaled[:, None] - scaled[None]) ** 2).sum(axis=-1))
            return apart / max(float(apart.max(initial=0.0)), 1e-300)
        weights = _lumped(self.rows / np.maximum(self.rows.sum(axis=1, keepdims=True), 1e-300))
        result = np.zeros((len(weights), len(weights)))
        own = _negative_entropy(weights)
        for k, row in enumerate(weights[:-1]):
            between = 0.5 * (own[k] + own[k + 1 :]) - _negative_entropy(0.5 * (row + weights[k + 1 :]))
            result[k, k + 1 :] = result[k + 1 :, k] = np.sqrt(np.maximum(between, 0.0))
        return result

    def likeness(self, distances: Array) -> Array:
        """Return 1 for components that are the same, 0 for those that share no column (or are the farthest means)."""
        farthest = 1.0 if self.are_means else math.sqrt(math.log(2.0))
        result: Array = np.clip(1.0 - distances / farthest, 0.0, 1.0)
        return result


def component_counts(estimator: Any) -> dict[str, int | None]:
    """Return how many components there are and how many are in use; None for a model that has none."""
    if not _has_components(estimator):
        return {"components": None, "in_use": None}
    return {"components": estimator.n_components, "in_use": estimator.components_in_use()}


def count_in_words(estimator: Any) -> str:
    """Return how many components there are, and how many of them are in use if that is fewer, after a comma."""
    every, used = component_counts(estimator).values()
    if every is None:
        return ""
    several = estimator.nouns[0].lower() if hasattr(estimator, "nouns") else "components"
    return f", {used} {several}" if used == every else f", {used} of {every} {several}"


def _given_labels(estimator: Any, order: npt.NDArray[np.int64]) -> tuple[str, ...]:
    """Return the labels that a person gave the components, in this order, if anybody did."""
    given = getattr(estimator, "labels_", None)
    if given is None or len(given) != len(order) or not all(isinstance(text, str) for text in given):
        return ()
    return tuple(given[k] for k in order)


def _has_components(estimator: Any) -> bool:
    return hasattr(estimator, "summarize_components")


def _negative_entropy(rows: Array) -> Array:
    logs = np.maximum(rows, 1e-300)
    np.log(logs, out=logs)
    result: Array = np.einsum("kv,kv->k", rows, logs)
    return result


def _lumped(weights: Array) -> Array:
    """Return distributions over fewer columns where all pairs of them would take too long: the rarest become one.

    A Jensen-Shannon divergence loses by it at most the weight of what is joined, times log 2.
    """
    count = max(100, int(2 * _MOST_LOGARITHMS / max(1, len(weights)) ** 2))
    if weights.shape[1] <= count:
        return weights
    chosen = np.sort(labels.first(weights.max(axis=0), count - 1))
    kept = weights[:, chosen]
    return np.hstack([kept, np.maximum(1.0 - kept.sum(axis=1, keepdims=True), 0.0)])


def image_shape(columns: int, given: tuple[int, int] | None) -> tuple[int, int] | None:
    """Return the height and width of rows as images: those given, or a square if there is one; None if neither fits."""
    if given is not None:
        if given[0] * given[1] != columns:
            raise ValueError(f"images of {given[0]} x {given[1]} do not fit rows of {columns:,} columns.")
        return given
    side = math.isqrt(columns)
    return (side, side) if side * side == columns and side >= 4 else None
