"""Whether documents that are scored were in the fit: a score of these says nothing of new ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from ssvi.batches.sources import Source
from ssvi.sketches import document_hashes, share_seen, sketch_of

_MOST = 0.5  # of the documents were in the fit: then the score is not one of new documents
_MANY = 0.05  # of the documents to score by that are copies of fitted ones make a score too good


def keep_seen(estimator: Any, documents: Any) -> None:
    """Let a model remember some of the documents that it was fitted to; a corpus on disk is not read for it."""
    if not isinstance(documents, Source):
        before = getattr(estimator, "seen_documents_", None)
        estimator.seen_documents_ = sketch_of(document_hashes(documents), before)


def share_of_fit(estimator: Any, documents: Any) -> float | None:
    """Return about which share of documents were in the fit of a model; None where that cannot be told."""
    kept = getattr(estimator, "seen_documents_", None)
    if kept is None or isinstance(documents, Source):
        return None
    return share_seen(kept, document_hashes(documents))


def notes_on_seen(share: float | None, rows: str) -> list[str]:
    """Return what a person should know of a score of documents of which this share were in the fit."""
    if share is None or share <= _MOST:
        return []
    return [
        f"{'all' if share == 1.0 else 'most'} of these {rows} were in the fit: the score says how well they are "
        "described, not how well new ones would be."
    ]


def notes_on_updates(share: float | None, rows: str) -> list[str]:
    """Return what a person should know before a model goes on with documents of which this share were in the fit."""
    if not share or share <= _MANY:
        return []
    part = "all" if share == 1.0 else f"about {100 * share:.0f}%"
    return [f"{part} of these {rows} were in the fit already: each counts once more, as a new one."]


def notes_on_copies_set_aside(train: Any, test: Any, *, is_text: bool) -> list[str]:
    """Return a note if many of the documents that are set aside to score by have the same words as fitted ones."""
    if test is None or not is_text or isinstance(train, Source):
        return []
    own = document_hashes(test)
    copies = int(np.isin(own, document_hashes(train)).sum())
    if copies <= _MANY * len(own):
        return []
    return [
        f"{copies:,} of the {len(own):,} documents to score by have the same words as documents of the fit, so that "
        "the score is too good: --drop-copies leaves exact copies out."
    ]
