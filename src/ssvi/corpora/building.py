"""From any input of the command line to a corpus on disk."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ssvi.corpora.folders import check_new, is_url, named_if_full, spill_folder
from ssvi.corpora.texts import Built, build_from_texts
from ssvi.corpora.writer import CorpusWriter
from ssvi.data.readers.base import Corpus, Progress
from ssvi.data.readers.put_down import entries_in

_ROWS_AT_ONCE = 4_096


def build_corpus(
    paths: Iterable[str | os.PathLike[str]],
    output: str | os.PathLike[str],
    *,
    progress: Progress | None = None,
    **options: Any,
) -> Built:
    """Write whatever `ssvi.data.readers.read_corpus` reads as a corpus on disk; `options` are its own.

    Neither texts nor counts are ever in memory as a whole, but for counts in HDF5 and matrices of SciPy's that are not
    csr.
    """
    from ssvi.data.readers import read_corpus, text_input

    if not is_url(output):
        check_new(Path(output))
    own = list(paths)
    texts = text_input(own, **options)
    if texts is not None:
        return build_from_texts(*texts, output, progress)
    with named_if_full(output), spill_folder(output) as folder, entries_in(folder):
        corpus = read_corpus(own, progress=progress, **options)
        write_disk(corpus, output)
    return Built(notes=list(corpus.notes))


def write_disk(corpus: Corpus, output: str | os.PathLike[str]) -> None:
    """Write documents that are in memory, or on disk elsewhere, as a corpus on disk."""
    made_by = corpus.text or corpus.text_before
    documents, text = corpus.documents, None if made_by is None else made_by.kept()
    known = tuple(corpus.info.part(0, 1).known())
    with CorpusWriter(output, documents.n_words, corpus.vocabulary, known=known, text=text) as writer:
        for start in range(0, len(documents), _ROWS_AT_ONCE):
            stop = min(start + _ROWS_AT_ONCE, len(documents))
            writer.add(documents.slice(start, stop), corpus.info.part(start, stop))
