"""Corpora from files: text in many forms, and counts in the formats that people keep them in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ssvi.data.readers.asked import format_before, what_was_asked
from ssvi.data.readers.base import (
    FORMATS,
    TEXT_FORMATS,
    Corpus,
    CorpusError,
    DocumentInfo,
    Progress,
    check_format,
    guess_format,
)
from ssvi.data.readers.beside import with_beside
from ssvi.data.readers.cells import read_h5ad
from ssvi.data.readers.columns import Columns, columns_of
from ssvi.data.readers.counting import with_vocabulary
from ssvi.data.readers.counts import read_ldac, read_svmlight, read_uci
from ssvi.data.readers.matrices import read_npz
from ssvi.data.readers.matrix_market import read_mtx
from ssvi.data.readers.number_tables import looks_like_numbers, read_number_table
from ssvi.data.readers.options import TextOptions
from ssvi.data.readers.phrases import PhraseRule
from ssvi.data.readers.sources import PathLike, expand, in_words, shared_progress, sizes
from ssvi.data.readers.stacking import stacked
from ssvi.data.readers.tables import holds_counts, read_table
from ssvi.data.readers.text import read_texts
from ssvi.data.readers.vocabulary import read_vocabulary
from ssvi.data.readers.write import write_corpus

__all__ = [
    "FORMATS",
    "Corpus",
    "CorpusError",
    "DocumentInfo",
    "PhraseRule",
    "TextOptions",
    "numbers_format",
    "read_corpus",
    "read_vocabulary",
    "sources_of",
    "text_input",
    "write_corpus",
]

_COUNT_READERS = {
    "uci": read_uci,
    "ldac": read_ldac,
    "svmlight": read_svmlight,
    "npz": read_npz,
    "mtx": read_mtx,
    "h5ad": read_h5ad,
}


def read_corpus(
    path: PathLike | Iterable[PathLike],
    *,
    format: str | None = None,
    column: str | None = None,
    vocabulary: str | Path | None = None,
    text: TextOptions = TextOptions(),  # noqa: B008  (frozen)
    progress: Progress | None = None,
    encoding: str = "utf-8",
    id_column: str | None = None,
    title_column: str | None = None,
    date_column: str | None = None,
    group_column: str | None = None,
    delimiter: str | None = None,
    preferred: Mapping[str, str] | None = None,
) -> Corpus:
    """Read documents as bags of words.

    Memory is for the counts, never for the text. What is wrong with a file is said with its line, where it has lines.

    Parameters
    ----------
    path : path, or several
        Files, plain or (where they consist of lines) in gzip, folders of text files, and patterns such as "news/*.csv".
        Several are read one after the other: texts in any formats, or counts over the same words.
    format : str, optional
        One of `FORMATS`; by default the path's suffix tells. "text" has a document a line, "tsv" and "csv" have a
        header, "jsonl" has an object a line, "json" an array of objects or texts, "folder" has a document a file,
        "file" is a document; "npz" is what `scipy.sparse.save_npz` writes, "mtx" Matrix Market (documents x words),
        "uci" a docword file, "ldac" lines `N word:count ...`; "corpus" is a folder that `ssvi corpus build` wrote, of
        which documents stay on disk; "table" is rows of numbers in csv, tsv, parquet or arrow, with a header or not.
    column : str, optional
        The column or key of the text; by default the one called text, body, abstract, content or document, or the only
        one.
    vocabulary : str or Path, optional
        A file of one word a line: the words to count in text, or the names of a matrix's columns. By default words of
        a matrix a.mtx are looked for in a.mtx.vocab.txt or a.vocab.txt beside it, of docword.a.txt in vocab.a.txt.
    text : TextOptions
        How text becomes words.
    progress : function, optional
        Called now and then with the bytes read so far and the bytes there are.
    encoding : str
        Of text and vocabulary.
    id_column, title_column, date_column, group_column : str, optional
        Columns or keys of what else is known of a document; by default those called id or name; title or headline;
        date, published or year; group.
    delimiter : str, optional
        What stands between the columns of a csv or tsv file; by default a tab in a tsv, and in a csv what its first
        lines tell.
    preferred : mapping, optional
        What the asked-for parameters of another reading were (`Corpus.asked`): each is taken for this one too, where
        none is given and the files have it.

    """
    named = {
        "column": column, "id_column": id_column, "title_column": title_column, "date_column": date_column,
        "group_column": group_column, "delimiter": delimiter,
    }  # fmt: skip
    columns, paths = columns_of(named, preferred), expand(path)
    asked = what_was_asked(paths, format, named)
    format = format or format_before(preferred or {}, paths)
    corpus = _read_any(paths, format, columns, vocabulary, text, progress, encoding)
    return replace(corpus, asked=asked)


def _read_any(
    paths: Sequence[Path],
    format: str | None,
    columns: Columns,
    vocabulary: str | Path | None,
    text: TextOptions,
    progress: Progress | None,
    encoding: str,
) -> Corpus:
    """Read text or counts."""
    sources = sources_of(paths, format)
    if all(kind == "table" for _, kind in sources):
        return _read_numbers([own for own, _ in sources], columns, vocabulary, text, progress, encoding)
    counts = [_is_counts(own, kind, columns.text) for own, kind in sources]
    file = None if vocabulary is None else Path(vocabulary)
    if not any(counts):
        return read_texts(sources, columns, with_vocabulary(text, file, encoding), encoding, progress)
    if not all(counts):
        (one, _), (other, _) = sources[counts.index(True)], sources[counts.index(False)]
        raise CorpusError(f"{one} holds counts and {other} text: read one or the other.")
    all_sizes = sizes([own for own, _ in sources]) if progress is not None else [0]
    parts = []
    for number, (own, kind) in enumerate(sources):
        reported = shared_progress(progress, all_sizes, number)
        part = _read_counts(own, kind, file, encoding, reported)
        parts.append(part if kind == "corpus" else with_beside(part, own))
    return stacked(parts, [own for own, _ in sources])


def _read_numbers(
    paths: Sequence[Path],
    columns: Columns,
    vocabulary: str | Path | None,
    text: TextOptions,
    progress: Progress | None,
    encoding: str,
) -> Corpus:
    """Read tables of numbers over the same columns, one after the other."""
    names = text.vocabulary if vocabulary is None else read_vocabulary(Path(vocabulary), encoding)
    all_sizes, parts = sizes(paths) if progress is not None else [0], []
    for number, path in enumerate(paths):
        reported = shared_progress(progress, all_sizes, number)
        part = read_number_table(path, columns, encoding, names, reported)
        names = part.vocabulary if names is None else names
        parts.append(part)
    return replace(stacked(parts, paths), notes=parts[0].notes, is_table=True)


def numbers_format(
    path: PathLike | Iterable[PathLike],
    *,
    must_be_numbers: bool,
    column: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> str | None:
    """Return the format "table" where a model of numbers is to read tables of them; None for all else.

    Parameters
    ----------
    path : path, or several
        As for `read_corpus`.
    must_be_numbers : bool
        Whether the model can do nothing with counts of words: then every table is one of numbers.
    column, delimiter, encoding
        As for `read_corpus`.

    """
    columns, paths = Columns(column, delimiter=delimiter), expand(path)
    if any(_is_on_disk(own) or not own.is_file() for own in paths):
        return None
    for own in paths:
        kind = guess_format(own)
        if kind not in (("csv", "tsv", "text", "parquet", "arrow") if must_be_numbers else ("csv", "tsv")):
            return None
        if kind in ("parquet", "arrow") and holds_counts(own, kind, column):
            return None
        if (kind == "text" or not must_be_numbers) and not looks_like_numbers(own, kind, columns, encoding):
            return None
    return "table"


def text_input(
    path: PathLike | Iterable[PathLike],
    *,
    format: str | None = None,
    column: str | None = None,
    vocabulary: str | Path | None = None,
    text: TextOptions = TextOptions(),  # noqa: B008  (frozen)
    encoding: str = "utf-8",
    delimiter: str | None = None,
    **named: str | None,
) -> tuple[list[tuple[Path, str]], Columns, TextOptions, str] | None:
    """Return what reading some texts takes (sources, columns, options, encoding); None where there are counts.

    The parameters are those of `read_corpus`.
    """
    own: dict[str, Any] = {name.removesuffix("_column"): value for name, value in named.items()}
    columns, sources = Columns(column, delimiter=delimiter, **own), sources_of(path, format)
    if any(kind == "table" for _, kind in sources):
        raise CorpusError(f"{in_words([place for place, _ in sources])} is to be read as a table: fit to it as it is.")
    if any(_is_counts(place, kind, column) for place, kind in sources):
        return None
    return sources, columns, with_vocabulary(text, None if vocabulary is None else Path(vocabulary), encoding), encoding


def sources_of(path: PathLike | Iterable[PathLike], format: str | None = None) -> list[tuple[Path, str]]:
    """Return the files and folders that paths and patterns stand for, each with its format."""
    found = []
    for own in expand(path):
        if format in (None, "corpus") and _is_on_disk(own):
            found.append((own, "corpus"))
            continue
        # A folder that `ssvi.data.wikipedia.save_dump` wrote is counts.
        place = own / "bow.npz" if format is None and (own / "bow.npz").is_file() else own
        kind = guess_format(place) if format is None and place.exists() else format
        check_format(place, kind or FORMATS[0])
        found.append((place, kind or FORMATS[0]))
    return found


def _is_on_disk(path: Path) -> bool:
    from ssvi.corpora.folders import is_url
    from ssvi.corpora.index import is_corpus

    return (path.is_dir() or is_url(path)) and is_corpus(path)


def _is_counts(path: Path, format: str, column: str | None) -> bool:
    if format in ("parquet", "arrow"):
        return holds_counts(path, format, column)
    return format not in TEXT_FORMATS


def _read_counts(path: Path, format: str, vocabulary: Path | None, encoding: str, progress: Progress | None) -> Corpus:
    if format == "corpus":
        from ssvi.corpora.reading import read_disk

        return read_disk(path, vocabulary, encoding)
    if format in _COUNT_READERS:
        return _COUNT_READERS[format](path, vocabulary, encoding, progress)
    return read_table(path, format, vocabulary, encoding, progress)
