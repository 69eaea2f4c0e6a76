"""What documents tell of components: examples, time, groups, coherence."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.evaluation.coherence import document_occurrences, npmi
from ssvi.labels import first
from ssvi.lookup import Trends
from ssvi.periods import Groups, has_enough, is_known, trust
from ssvi.report.components import Components
from ssvi.report.packing import pack, rounded
from ssvi.typing import Array

Beginnings = Callable[[Collection[int], int], Mapping[int, str]]

DOCUMENTS = 6  # that stand for a component
_LETTERS = 280  # of each of them
_OWN_COMPONENTS = 3  # of a document that are named beside it
MOST_GROUPS = 20
_TOP_WORDS = 10  # of a topic that should occur together


@dataclass(frozen=True)
class CorpusFacts:
    """Documents and what is known of each, row by row; everything but the weights may be missing.

    Attributes
    ----------
    weights : (documents, K)
        How much of each component of the model each document has.
    names : sequence of str, optional
        Their ids.
    titles : sequence of str, optional
        What people call them.
    dates : sequence, optional
        When they are from, as `ssvi.periods.as_dates` reads them; an empty one is not known.
    groups : sequence of str, optional
        What each belongs to: an author, a paper, a section.
    beginnings : function, optional
        Called with rows and a length: returns how these documents begin, by their rows.
    noun : str
        What one without a name is called, before its number.

    """

    weights: Array
    names: Sequence[str] | None = None
    titles: Sequence[str] | None = None
    dates: Sequence[Any] | None = None
    groups: Sequence[str] | None = None
    beginnings: Beginnings | None = None
    noun: str = "document"

    def __post_init__(self) -> None:
        for name in ("names", "titles", "dates", "groups"):
            given = getattr(self, name)
            if given is not None and len(given) != len(self.weights):
                raise ValueError(f"{name} has {len(given):,} entries, and the data {len(self.weights):,} rows.")

    def shares(self, parts: Components) -> Array:
        """Return each document's shares of the components on the page: documents x components."""
        totals = np.maximum(self.weights.sum(axis=1, keepdims=True), 1e-300)
        result: Array = self.weights[:, parts.numbers] / totals
        return result

    def examples(self, shares: Array) -> tuple[list[dict[str, Any]], list[list[list[float]]]]:
        """Return the documents that stand for components; and for each, which do and how much of it they have."""
        chosen = [_most_of(shares[:, k]) for k in range(shares.shape[1])]
        rows = sorted({row for own in chosen for row in own})
        texts = {} if self.beginnings is None else self.beginnings(rows, _LETTERS)
        place = {row: i for i, row in enumerate(rows)}
        documents = [self.about(row, shares[row], texts.get(row, "")) for row in rows]
        mine = [[[place[row], rounded(shares[row, k], 3)] for row in own] for k, own in enumerate(chosen)]
        return documents, mine

    def about(self, row: int, shares: Array, text: str) -> dict[str, Any]:
        """Return what is shown of a document."""
        own = [int(k) for k in np.argsort(-shares, kind="stable")[:_OWN_COMPONENTS] if shares[k] >= 0.05]
        name = f"{self.noun} {row + 1}" if self.names is None else str(self.names[row])
        about: dict[str, Any] = {"name": name, "parts": [[k, rounded(shares[k], 3)] for k in own]}
        for key, given in (("title", self.titles), ("date", self.dates), ("group", self.groups)):
            if given is not None and is_known(given[row]):
                about[key] = str(given[row])
        return about | ({"text": text} if text else {})

    def over_time(self, shares: Array) -> dict[str, Any] | None:
        """Return the components' mean shares of the documents of each period; None without dates."""
        if self.dates is None:
            return None
        if not any(is_known(date) for date in self.dates):
            return None
        return over_time(Trends.over_time(shares, self.dates))

    def by_group(self, shares: Array) -> dict[str, Any] | None:
        """Return the components' mean shares of the documents of each of the largest groups; None without groups."""
        if self.groups is None:
            return None
        groups = Groups.of(self.groups)
        if not groups.names:
            return None
        names, means = groups.names[:MOST_GROUPS], groups.means(shares)[:MOST_GROUPS]
        return {"names": list(names), "counts": groups.counts()[:MOST_GROUPS].tolist(),
                "shares": pack(means.T, "f4"), "left_out": len(groups.names) - len(names)}  # fmt: skip


def over_time(found: Trends) -> dict[str, Any]:
    """Return trends over time for the page: mean shares as they are, and how far those of each period are believed.

    A period with too few documents has a trust of 0: the page passes it over.
    """
    believed = np.where(has_enough(found.counts), trust(found.counts), 0.0)
    return {
        "unit": found.kind,
        "names": list(found.names),
        "counts": found.counts.tolist(),
        "trust": [rounded(value, 3) for value in believed],
        "shares": pack(np.ascontiguousarray(found.shares.T), "f4"),
        "unknown": found.unknown,
    }


def coherence(parts: Components, data: Any) -> list[float | None]:
    """Return how often each component's first words share a document: NPMI, from -1, never, to 1, always.

    Words that these documents do not have are passed over; None where fewer than two are left.
    """
    from ssvi.batches.documents import Documents
    from ssvi.batches.sources import Source

    documents = data if isinstance(data, Source) else Documents.of(data)
    occurs = documents.column_sums() > 0
    tops = [_occurring(first(row, _TOP_WORDS), occurs) for row in parts.rows]
    every = np.unique(np.concatenate(tops)) if tops else np.zeros(0, np.int64)
    if not len(every):
        return [None] * len(tops)
    occurrences = document_occurrences(documents, every[None])
    return [rounded(npmi(top[None], occurrences)[0], 3) if len(top) > 1 else None for top in tops]


def _most_of(shares: Array) -> list[int]:
    """Return the rows that have most of a component, and some of it."""
    order = np.argsort(-shares, kind="stable")[:DOCUMENTS]
    return [int(row) for row in order if shares[row] > 0]


def _occurring(ranked: npt.NDArray[np.int64], occurs: npt.NDArray[np.bool_]) -> npt.NDArray[np.int64]:
    return ranked[occurs[ranked]]
