"""What is written beside counts: ids, titles, dates and groups of the documents, and how text had become words."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path

from ssvi.data.readers.base import Corpus, CorpusError, DocumentInfo
from ssvi.data.readers.columns import Columns, Gathered
from ssvi.data.readers.delimited import table_documents
from ssvi.data.readers.lines import Source
from ssvi.data.readers.options import TextOptions

_FIELDS = ("id", "title", "date", "group")


def documents_beside(path: Path) -> Path:
    """Return where ids, titles, dates and groups of a corpus are: those of a.npz in a.npz.documents.csv."""
    return path.with_name(f"{_plain_name(path)}.documents.csv")


def text_beside(path: Path) -> Path:
    """Return where it is kept how the text of a corpus had become words: that of a.npz in a.npz.text.json."""
    return path.with_name(f"{_plain_name(path)}.text.json")


def _plain_name(path: Path) -> str:
    return path.name[:-3] if path.name.lower().endswith(".gz") else path.name


def write_info(path: Path, info: DocumentInfo) -> None:
    """Write what is known of documents, a row each, numbered from 1."""
    known = info.known()
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["document", *known])
        writer.writerows([number, *texts] for number, texts in enumerate(zip(*known.values(), strict=True), 1))


def write_text_options(path: Path, text: TextOptions) -> None:
    """Write how text became words."""
    path.write_text(json.dumps(text.kept(), ensure_ascii=False) + "\n", encoding="utf-8")


def with_beside(corpus: Corpus, path: Path) -> Corpus:
    """Return counts with what is written beside them, where that fits."""
    own, text = documents_beside(path), text_beside(path)
    info, before = corpus.info, corpus.text_before
    if own.is_file():
        info = _read_info(own, len(corpus.documents)) or info
    if text.is_file():
        before = _read_text_options(text)
    return replace(corpus, info=info, text_before=before)


def _read_info(path: Path, n_documents: int) -> DocumentInfo | None:
    """Read what is known of documents; None if these are others, as many programs may have written the counts."""
    gathered = Gathered()
    with Source(path) as source:
        columns = Columns(text="document", delimiter=",")
        number = sum(1 for _ in table_documents(source, "csv", columns, "utf-8", gathered))
    if number != n_documents:
        return None
    return DocumentInfo(*(tuple(gathered.lists[field]) or None for field in _FIELDS))


def _read_text_options(path: Path) -> TextOptions:
    try:
        return TextOptions.from_kept(json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, RecursionError) as error:
        raise CorpusError(f"{path} does not tell how text became words ({error}): remove it.") from error
