"""What a model file says of itself in a few numbers and words, so that commands which only show it need not build it.

It is made when a model is saved. Reading it back needs neither scikit-learn nor the compiler, whose imports take longer
than everything else that such a command does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from ssvi import labels
from ssvi.labels import RELEVANCE

KEPT_WORDS = 50
"""How many columns of each component a file's overview has, by probability and by relevance."""

_LABEL_WORDS = 12  # among which a label finds some that do not repeat each other
_LARGEST_SHOWN = 100  # numbers of a parameter that is an array


@dataclass(frozen=True)
class Overview:
    """The components of a model that are in use, the largest first, each by its first columns.

    Attributes
    ----------
    name : str
        What commands call the model.
    nouns : three str
        What its components are called, one of them, and a column.
    columns, components : int
        How many columns the model has, and how many components, in use or not.
    numbers, shares
        The number of each component in use, and its share of the data.
    probable, distinctive
        The first columns of each, by probability and by relevance.
    signs : lists of int
        Where components are means: 1 for a distinctive column above that of all the data, -1 for one below it.
    marks : lists of str
        What is to be said against each.

    """

    name: str
    nouns: Sequence[str]
    columns: int
    components: int
    numbers: Sequence[int]
    shares: Sequence[float]
    probable: Sequence[Sequence[int]]
    distinctive: Sequence[Sequence[int]]
    signs: Sequence[Sequence[int]]
    marks: Sequence[Sequence[str]]

    @classmethod
    def of(cls, estimator: Any, words: int = KEPT_WORDS, relevance: float = RELEVANCE) -> Self:
        """Take so many columns of each component of a fitted estimator."""
        from ssvi.report.components import Components

        parts = Components.used_by(estimator)
        places = range(len(parts.shares))
        distinctive = [parts.first(k, max(words, _LABEL_WORDS), relevance) for k in places]
        return cls(
            name=estimator.name,
            nouns=list(estimator.nouns),
            columns=int(parts.rows.shape[1]),  # symbols stand in one column of the data
            components=int(estimator.n_components),
            numbers=parts.numbers.tolist(),
            shares=parts.shares.tolist(),
            probable=[parts.first(k, words).tolist() for k in places],
            distinctive=[columns.tolist() for columns in distinctive],
            signs=[parts.signs(k, distinctive[k]) for k in places] if parts.are_means else [],
            marks=parts.marks(),
        )

    @classmethod
    def from_kept(cls, kept: Any) -> Self:
        """Take what `kept` gave, or raise a `ValueError`."""
        try:
            overview = cls(**kept)
            overview._check()
        except (TypeError, AttributeError) as error:
            raise ValueError("its overview is not one of a model") from error
        return overview

    def kept(self) -> dict[str, Any]:
        """Return plain values for a file."""
        return asdict(self)

    def described(
        self, words: Sequence[str] | None, given: Sequence[str] | None = None, n: int = 10
    ) -> list[dict[str, Any]]:
        """Return what is said of each component in use: number, share, label, its words, and marks against it.

        Parameters
        ----------
        words : sequence of str, optional
            The names of the columns; without them columns are shown by their numbers, and so are components.
        given : sequence of str, optional
            Labels that a person chose, one for each component of the model in use or not, an empty one for none.
        n : int
            How many words of each.

        """
        names = [str(column) for column in range(self.columns)] if words is None else words
        called = self._labels(words, given)
        return [
            {
                "component": number,
                "share": self.shares[k],
                "label": called[k],
                "distinctive": self._distinctive(k, names)[:n],
                "words": [names[v] for v in self.probable[k][:n]],
                "marks": list(self.marks[k]),
            }
            for k, number in enumerate(self.numbers)
        ]

    def _labels(self, words: Sequence[str] | None, given: Sequence[str] | None) -> list[str]:
        own = [""] * len(self.numbers) if given is None else [given[number] for number in self.numbers]
        if words is None:
            return [text or f"{self.nouns[1]} {number}" for text, number in zip(own, self.numbers, strict=True)]
        ranked = [self._distinctive(k, words)[:_LABEL_WORDS] for k in range(len(self.numbers))]
        return labels.distinct(ranked, np.asarray(self.shares), own)

    def _distinctive(self, k: int, names: Sequence[str]) -> list[str]:
        if not self.signs:
            return [names[v] for v in self.distinctive[k]]
        return [labels.with_arrow(names[v], sign) for v, sign in zip(self.distinctive[k], self.signs[k], strict=True)]

    def _check(self) -> None:
        """Raise a `ValueError` unless this can be shown."""
        used = len(self.numbers)
        columns = [*self.probable, *self.distinctive]
        holds = (
            all(isinstance(noun, str) for noun in (self.name, *self.nouns))
            and len(self.nouns) == 3
            and 0 < used == len(self.shares) == len(self.probable) == len(self.distinctive) == len(self.marks)
            and all(_is_place(number, self.components) for number in self.numbers)
            and all(isinstance(share, float) and math.isfinite(share) for share in self.shares)
            and all(_is_place(column, self.columns) for own in columns for column in own)
            and len(self.signs) in (0, used)
            and all(len(own) == len(row) for own, row in zip(self.signs, self.distinctive, strict=False))
            and all(sign in (-1, 1) for own in self.signs for sign in own)
            and all(isinstance(mark, str) and mark.isprintable() for own in self.marks for mark in own)
        )
        if not holds:
            raise ValueError("its overview is not one of a model")


def facts_of(estimator: Any) -> dict[str, Any]:
    """Return what `ssvi info` says of a fitted estimator, as plain values."""
    from ssvi.evaluation.trend import trend_of
    from ssvi.report.components import component_counts

    moved = trend_of(estimator)
    parameters = {name: value for name, value in estimator.get_params(deep=False).items() if name != "callbacks"}
    return {
        **_size(estimator),
        "columns": int(estimator.n_features_in_),
        **component_counts(estimator),
        "held_out_score": None if moved is None else moved["best" if moved["kept_best"] else "last"],
        "score_is": None if moved is None else moved["direction"],
        "converged": plain(estimator.converged_),
        "seed": estimator.random_state_,
        "steps": estimator.n_batch_iter_,
        "seconds": round(sum(step.seconds for step in estimator.history_), 3),
        "text": getattr(estimator, "text_options_", None),
        "reading": getattr(estimator, "reading_options_", None),
        "parameters": {name: plain(value) for name, value in parameters.items()},
        "changed_parameters": _changed(estimator, parameters),
        "learned": _learned(estimator, parameters),
    }


def _learned(estimator: Any, parameters: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return what a fit has made of parameters that only said how to learn them."""
    named = {
        name: getattr(estimator, f"{name}_", value) for name, value in parameters.items() if isinstance(value, str)
    }
    learned = {name: value for name, value in named.items() if isinstance(value, float | np.ndarray | tuple)}
    return {name: plain(np.asarray(value)) for name, value in learned.items()} or None


def _changed(estimator: Any, parameters: Mapping[str, Any]) -> list[str]:
    """Return the names of the parameters that are not as an estimator has them by itself."""
    usual = {name: plain(value) for name, value in type(estimator)().get_params(deep=False).items()}
    return [name for name, value in parameters.items() if plain(value) != usual.get(name)]


def _size(estimator: Any) -> dict[str, int]:
    """Return how much data a fit has seen: documents, or the time points of sequences, which a fit may cut."""
    count, length = int(estimator._n_distinct), getattr(estimator, "_group_length", None)
    return {"documents": count} if length is None else {"time_points": round(count * length)}


def plain(value: Any) -> Any:
    """Return a parameter in a form that JSON has: a large array by its shape.

    >>> plain(0.5), plain(np.ones(2)), plain(np.ones((200, 5)))
    (0.5, [1.0, 1.0], '200 x 5 numbers')
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray):
        small = value.size <= _LARGEST_SHOWN and bool(np.isfinite(value).all())
        return value.tolist() if small else f"{' x '.join(f'{size:,}' for size in value.shape)} numbers"
    if value is None or isinstance(value, bool | int | str) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value)


def words_of(fitted: Mapping[str, Any]) -> list[str] | None:
    """Return the names of the columns from what a file says of a fit, where it has any."""
    if isinstance(fitted.get("_symbols"), list):
        return [str(symbol) for symbol in fitted["_symbols"]]
    for name in ("vocabulary_", "feature_names_in_"):
        kept = fitted.get(name)
        if isinstance(kept, dict) and isinstance(kept.get("strings"), list):
            return [str(word) for word in kept["strings"]]
    return None


def _is_place(value: Any, size: Any) -> bool:
    return isinstance(value, int) and isinstance(size, int) and 0 <= value < size
