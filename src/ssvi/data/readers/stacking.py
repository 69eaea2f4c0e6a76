"""Counts of several sources as one corpus."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from scipy import sparse

from ssvi.batches.documents import Documents
from ssvi.data.readers.base import Corpus, CorpusError, DocumentInfo


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
    matrix = sparse.vstack([part.documents.to_matrix() for part in parts], format="csr")
    lengths = [len(part.documents) for part in parts]
    info = DocumentInfo.joined([part.info for part in parts], lengths)
    if info.groups is None:
        groups = tuple(path.name for path, length in zip(paths, lengths, strict=True) for _ in range(length))
        info = DocumentInfo(info.ids, info.titles, info.dates, groups)
    return Corpus(Documents.from_matrix(matrix), first.vocabulary, info, None, first.text_before)
