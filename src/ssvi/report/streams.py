"""What the documents of a corpus on disk tell of components, in one pass over it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ssvi.batches.sources import Source
from ssvi.data.readers.base import DocumentInfo
from ssvi.report.components import Components
from ssvi.report.corpus import DOCUMENTS, MOST_GROUPS, CorpusFacts, over_time
from ssvi.report.packing import pack, rounded
from ssvi.tallies import Best, MeansByLabel
from ssvi.typing import Array


class StreamedFacts:
    """Documents that stand for components, and means over time and by group; of each document nothing is kept."""

    def __init__(self, estimator: Any, parts: Components, source: Source) -> None:
        self.n_documents = len(source)
        self._info = getattr(source, "info", lambda start, stop: DocumentInfo())
        self._best = Best(len(parts.numbers), DOCUMENTS)
        self._dates, self._groups = MeansByLabel(), MeansByLabel()
        self._shares: dict[int, Array] = {}
        for start, documents in source.chunks():
            weights = estimator.component_weights(documents.to_matrix())
            self._see(start, CorpusFacts(weights).shares(parts))

    def _see(self, start: int, shares: Array) -> None:
        info: DocumentInfo = self._info(start, start + len(shares))
        for labels, means in ((info.dates, self._dates), (info.groups, self._groups)):
            if labels:
                means.see(labels, shares)
        self._best.see(start, shares)
        chosen = set(self._best.rows.ravel().tolist())
        own = range(start, start + len(shares))
        self._shares = {
            row: shares[row - start].copy() if row in own else self._shares[row] for row in chosen if row >= 0
        }

    def examples(self) -> tuple[list[dict[str, Any]], list[list[list[float]]]]:
        """Return the documents that stand for components; and for each, which do and how much of it they have."""
        found = [self._best.found(k) for k in range(len(self._best.rows))]
        rows = sorted({int(row) for own in found for row in own.rows})
        place = {row: i for i, row in enumerate(rows)}
        documents = [self._about(row) for row in rows]
        mine = [
            [[place[int(row)], rounded(float(value), 3)] for row, value in zip(own.rows, own.values, strict=True)]
            for own in found
        ]
        return documents, mine

    def _about(self, row: int) -> dict[str, Any]:
        info: DocumentInfo = self._info(row, row + 1)
        name = (info.ids[0] if info.ids else "") or f"document {row + 1}"
        one = CorpusFacts(self._shares[row][None], [name], info.titles, info.dates, info.groups)
        return one.about(0, self._shares[row], "")

    def over_time(self) -> dict[str, Any] | None:
        """Return the components' mean shares of the documents of each period; None without dates."""
        found = self._dates.trends("date")
        if found is None or not found.names:
            return None
        return over_time(found)

    def by_group(self) -> dict[str, Any] | None:
        """Return the components' mean shares of the documents of each of the largest groups; None without groups."""
        found = self._groups.trends("group")
        if found is None:
            return None
        return {
            "names": list(found.names[:MOST_GROUPS]),
            "counts": found.counts[:MOST_GROUPS].tolist(),
            "shares": pack(np.ascontiguousarray(found.shares[:MOST_GROUPS].T), "f4"),
            "left_out": max(0, len(found.names) - MOST_GROUPS),
        }
