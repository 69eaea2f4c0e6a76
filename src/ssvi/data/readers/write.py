"""Corpora to files that `read_corpus` and other programs read."""

from __future__ import annotations

import gzip
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import numpy as np
from scipy import sparse

from ssvi.batches.documents import Documents
from ssvi.data.readers.base import Corpus, guess_format
from ssvi.data.readers.beside import documents_beside, text_beside, write_info, write_text_options
from ssvi.data.readers.vocabulary import own_vocabulary, vocabulary_beside

WRITTEN_FORMATS = ("npz", "mtx", "uci", "ldac")
_ENTRIES_AT_ONCE = 1 << 18
_LINE_ENDS = ("\n", "\r")


def write_corpus(corpus: Corpus, path: str | Path, format: str | None = None) -> None:
    """Write a corpus; its vocabulary, if it has one, goes beside it, where `read_corpus` looks for it.

    The files appear, or replace older ones, when they are complete. A corpus without vocabulary is not written beside
    an old vocabulary file, which would be taken for its own; the file stays, because another corpus may share it. Ids,
    titles, dates and groups of a.npz go to a.npz.documents.csv, how text became words to a.npz.text.json; older ones of
    these are removed, being of no other corpus.

    Parameters
    ----------
    corpus : Corpus
        What to write. "uci" and "ldac" take whole counts only.
    path : str or Path
        The file; all but "npz" are compressed if it ends in .gz. The vocabulary of a.npz is a.npz.vocab.txt, that of
        docword.a.txt is vocab.a.txt.
    format : str, optional
        "npz", "mtx", "uci" or "ldac"; by default the path's suffix tells.

    """
    path = Path(path)
    format = format or guess_format(path)
    if format not in WRITTEN_FORMATS:
        raise ValueError(f"{path} cannot be written as {format!r}: give `format`, one of {', '.join(WRITTEN_FORMATS)}.")
    if format == "npz" and path.suffix != ".npz":
        raise ValueError(f"{path} must end in .npz: rename it or give another format.")
    documents = corpus.documents.slice(0, len(corpus.documents)).tight()  # a corpus on disk comes into memory
    if format in ("uci", "ldac") and not documents.is_whole():
        raise ValueError(f"{path} cannot be written as {format}, which has whole counts only: write mtx or npz.")
    beside = vocabulary_beside(path)
    if corpus.vocabulary is None and beside.is_file():
        raise ValueError(
            f"{beside} would be taken for the vocabulary of {path}, which has none: remove it or write elsewhere."
        )
    with tempfile.TemporaryDirectory(prefix=".unfinished-", dir=path.parent) as folder:
        new = Path(folder, path.name)
        others = _write_beside(Path(folder), corpus, path, documents.n_words)
        if format == "npz":
            sparse.save_npz(new, documents.to_matrix())
        else:
            with _opened(new) as file:
                file.writelines({"mtx": _mtx, "uci": _uci, "ldac": _ldac}[format](documents))
        # The corpus last: readers look for it first.
        for place, file_beside in others.items():
            if file_beside is None:
                place.unlink(missing_ok=True)
            else:
                os.replace(file_beside, place)
        os.replace(new, path)


def _write_beside(folder: Path, corpus: Corpus, path: Path, n_words: int) -> dict[Path, Path | None]:
    """Write what belongs beside counts to a folder; return the file of each place, None for what is to go."""
    places: dict[Path, Path | None] = {}
    if corpus.vocabulary is not None:
        places[own_vocabulary(path)] = words = folder / "vocabulary"
        _write_words(words, corpus.vocabulary, n_words)
    places[documents_beside(path)] = info = folder / "documents" if corpus.info.known() else None
    if info is not None:
        write_info(info, corpus.info)
    made_by = corpus.text or corpus.text_before
    places[text_beside(path)] = text = folder / "text" if made_by is not None else None
    if text is not None and made_by is not None:
        write_text_options(text, made_by)
    return places


def _opened(path: Path) -> IO[str]:
    if path.suffix.lower() == ".gz":
        return gzip.open(path, "wt", encoding="ascii", newline="\n")
    return path.open("w", encoding="ascii", newline="\n")


def _write_words(path: Path, words: tuple[str, ...], n_words: int) -> None:
    if len(words) != n_words:
        raise ValueError(
            f"the vocabulary has {len(words):,} words and the documents have {n_words:,}: give all of them."
        )
    for number, word in enumerate(words):
        if not word or word != word.strip() or any(end in word for end in _LINE_ENDS):
            raise ValueError(f"word {number + 1}, {word!r}, cannot stand on a line of its own: rename it.")
    path.write_text("".join(f"{word}\n" for word in words), encoding="utf-8", newline="\n")


def _mtx(documents: Documents) -> Iterator[str]:
    whole = documents.counts.dtype.kind in "biu"
    yield f"%%MatrixMarket matrix coordinate {'integer' if whole else 'real'} general\n"
    yield f"{len(documents)} {documents.n_words} {len(documents.words)}\n"
    yield from _entries(documents, "{} {} {}\n" if whole else "{} {} {!r}\n")


def _uci(documents: Documents) -> Iterator[str]:
    yield f"{len(documents)}\n{documents.n_words}\n{len(documents.words)}\n"
    yield from _entries(
        Documents(documents.indptr, documents.words, _whole(documents), documents.n_words), "{} {} {}\n"
    )


def _entries(documents: Documents, line: str) -> Iterator[str]:
    """Yield an entry a line, numbered from 1."""
    rows = np.repeat(np.arange(1, len(documents) + 1, dtype=np.int64), documents.costs())
    for start in range(0, len(rows), _ENTRIES_AT_ONCE):
        own = slice(start, start + _ENTRIES_AT_ONCE)
        columns = (rows[own], documents.words[own].astype(np.int64) + 1, documents.counts[own])
        yield "".join(map(line.format, *(column.tolist() for column in columns)))


def _ldac(documents: Documents) -> Iterator[str]:
    counts = _whole(documents)
    for start, stop in zip(documents.indptr[:-1].tolist(), documents.indptr[1:].tolist(), strict=True):
        pairs = zip(documents.words[start:stop].tolist(), counts[start:stop].tolist(), strict=True)
        yield " ".join([str(stop - start), *(f"{word}:{count}" for word, count in pairs)]) + "\n"


def _whole(documents: Documents) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return documents.counts.astype(np.int64)
