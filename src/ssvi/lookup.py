"""Finding documents: those that have most of a topic, those like another one, those with some words; and trends.

Everything goes by what a fitted model says of documents (`component_weights`) and by their counts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ssvi.labels import first
from ssvi.periods import Groups, Periods, has_enough, steadied
from ssvi.typing import Array

Rows = npt.NDArray[np.int64]

_SATURATION = 1.2  # k1 of BM25: how soon a word that is said again adds little
_LENGTH = 0.75  # b of BM25: how much long documents are held back
_SAME = 9  # digits of a likeness that are not noise


@dataclass(frozen=True)
class Found:
    """Documents, the best first, and what they were chosen by.

    Attributes
    ----------
    rows : (n,) integers
        Their rows in the data, counted from 0.
    values : (n,)
        What each was chosen by.

    """

    rows: Rows
    values: Array


def shares_of(weights: Array) -> Array:
    """Return each document's shares of the components, which add up to 1 unless it has none: documents x K.

    >>> shares_of(np.array([[1.0, 3.0], [0.0, 0.0]]))
    array([[0.25, 0.75],
           [0.  , 0.  ]])
    """
    result: Array = weights / np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    return result


def with_most_of(shares: Array, components: Sequence[int], n: int = 10) -> Found:
    """Return the documents that have most of some components together; those that have nothing are left out.

    Parameters
    ----------
    shares : (documents, K)
        As `shares_of` returns them.
    components : sequence of int
        Numbers of components.
    n : int
        How many documents at most.

    Examples
    --------
    >>> with_most_of(np.array([[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]]), [1], 2).rows
    array([1, 2])

    """
    return _best(shares[:, list(components)].sum(axis=1), n)


def most_like(shares: Array, counts: Any, row: int, n: int = 10) -> Found:
    """Return the documents whose components are most like those of one of them, which is not among them.

    Likeness is Bhattacharyya's coefficient of the shares, the sum of sqrt(p q): 1 for the same, 0 where nothing is
    shared. Of documents that are equally like, as all of one cluster are, those with the same words come first (cosine
    of the counts).

    Parameters
    ----------
    shares : (documents, K)
        As `shares_of` returns them.
    counts : matrix
        Documents x columns.
    row : int
        The document, counted from 0.
    n : int
        How many documents at most.

    """
    matrix = sparse.csr_array(counts, dtype=float)
    likeness = np.sqrt(np.maximum(shares, 0.0)) @ np.sqrt(np.maximum(shares[row], 0.0))
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    own = matrix[[row]].toarray().ravel()
    cosine = (matrix @ own) / np.maximum(lengths * lengths[row], 1e-300)
    order = np.lexsort((-cosine, -np.round(likeness, _SAME)))
    order = order[(order != row) & (likeness[order] > 0)][:n]
    return Found(order.astype(np.int64), likeness[order])


def with_words(counts: Any, columns: Sequence[int], n: int = 10) -> Found:
    """Return the documents that some words say most of, by BM25; those with none of the words are left out.

    A rare word counts for more than a frequent one, a word that is said again for less each time, and documents that
    are long by nature have no advantage of it.

    Parameters
    ----------
    counts : matrix
        Documents x columns.
    columns : sequence of int
        The words' columns.
    n : int
        How many documents at most.

    """
    matrix = sparse.csc_array(counts, dtype=float)
    documents = matrix.shape[0]
    lengths: Array = np.asarray(matrix.sum(axis=1)).ravel()
    typical = max(float(lengths.mean()) if documents else 0.0, 1e-300)
    room = _SATURATION * (1.0 - _LENGTH + _LENGTH * lengths / typical)
    scores = np.zeros(documents)
    for column in dict.fromkeys(columns):
        said = matrix[:, [column]].toarray().ravel()
        holding = int((said > 0).sum())
        rarity = np.log1p((documents - holding + 0.5) / (holding + 0.5))
        scores += rarity * said * (_SATURATION + 1.0) / np.maximum(said + room, 1e-300)
    return _best(scores, n)


@dataclass(frozen=True)
class Trends:
    """How much of each component the documents of each period or group have.

    Attributes
    ----------
    kind : str
        "group", or the unit of the periods: day, week, month, year or decade.
    names : tuple of str
        The periods in their order, or the groups, the largest first.
    counts : (places,) integers
        How many documents each has.
    shares : (places, K)
        The mean shares of these documents; 0 where there are none.
    overall : (K,)
        The mean shares of all documents whose date or group is known.
    unknown : int
        Documents whose date or group is not known.

    """

    kind: str
    names: tuple[str, ...]
    counts: Rows
    shares: Array
    overall: Array
    unknown: int

    @classmethod
    def over_time(cls, shares: Array, dates: Sequence[Any], unit: str | None = None) -> Trends:
        """Return the shares in each period of time, as `ssvi.periods.Periods` has them."""
        periods = Periods.of(dates, unit)
        return cls._of(periods.unit, periods, shares)

    @classmethod
    def by_group(cls, shares: Array, groups: Sequence[Any]) -> Trends:
        """Return the shares in each group."""
        return cls._of("group", Groups.of(groups), shares)

    @classmethod
    def _of(cls, kind: str, where: Periods | Groups, shares: Array) -> Trends:
        if len(where.places) != len(shares):
            raise ValueError(f"there are {len(where.places):,} dates or groups for {len(shares):,} documents.")
        known = where.places >= 0
        if not known.any():
            what = "group" if kind == "group" else "date"
            raise ValueError(f"no document has a {what}: there is nothing to go by.")
        overall = np.asarray(shares)[known].mean(axis=0)
        return cls(kind, where.names, where.counts(), where.means(shares), overall, int((~known).sum()))

    def steady(self) -> Array:
        """Return the shares to compare places by: those of few documents are drawn in to the shares of all."""
        return steadied(self.shares, self.counts)

    def most(self, component: int) -> int:
        """Return the place that has most of a component, among those with enough documents to tell."""
        values = np.where(has_enough(self.counts), self.steady()[:, component], -1.0)
        return int(np.argmax(values))


def _best(values: Array, n: int) -> Found:
    rows = first(values, n) if len(values) else np.zeros(0, np.int64)
    rows = rows[values[rows] > 0]
    return Found(rows, values[rows])
