"""Counts of several sources as one corpus."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scipy import sparse

from ssvi.batches.documents import Documents
from ssvi.batches.sources import Chained, Source
from ssvi.data.readers.base import Corpus, CorpusError, DocumentInfo
from ssvi.data.readers.put_down import are_put_down


def stacked(parts: Sequence[Corpus], paths: Sequence[Path]) -> Corpus:
    """Return the documents of corpora over the same words, one corpus after the other."""
    first = parts[0]
    if len(parts) == 1:
        return first
    for part, path in zip(parts, paths, strict=True):
        if part.documents.n_words != first.documents.n_words or part.vocabulary != first.vocabulary:
            raise CorpusError(
                f"{path} has other words than {paths[0]}: read the texts together, or count them over one `vocabulary`."
            )
    lengths = [len(part.documents) for part in parts]
    info = DocumentInfo.joined([part.info for part in parts], lengths)
    if info.groups is None:
        groups = tuple(path.name for path, length in zip(paths, lengths, strict=True) for _ in range(length))
        info = DocumentInfo(info.ids, info.titles, info.dates, groups)
    return Corpus(_joined([part.documents for part in parts]), first.vocabulary, info, None, first.text_before)


def _joined(parts: Sequence[Any]) -> Any:
    """Return the documents of all parts; on their way to a corpus on disk they stay there."""
    if are_put_down() and all(isinstance(part, Source) for part in parts):
        return Chained(parts)
    return Documents.from_matrix(sparse.vstack([part.to_matrix() for part in parts], format="csr"))
