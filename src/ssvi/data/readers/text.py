"""Text to counts of words: lines, tables, JSON and folders, a document at a time."""

from __future__ import annotations

import contextlib
import csv
import json
import os
import re
import sys
import warnings
from collections.abc import Collection, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from ssvi.batches.documents import Documents
from ssvi.data.readers.base import Corpus, CorpusError, Progress, TextOptions, choose_column, choose_names, clause
from ssvi.data.readers.lines import LONGEST_TEXT, Source
from ssvi.data.readers.vocabulary import read_vocabulary

_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_MOST_ZEROS = 100  # one character in so many may be a zero byte in a file of text: they part words
_REPORT = 1 << 20  # bytes of a folder's files between two calls of progress


def read_text(
    path: Path, format: str, column: str | None, text: TextOptions, encoding: str, progress: Progress | None
) -> Corpus:
    """Read a corpus of one of the formats of text; `format` is its name."""
    names: list[str] = []
    with _documents(path, format, column, encoding, progress, names) as documents:
        return count_words(path, documents, text, names)


def read_beginnings(
    path: Path, rows: Collection[int], length: int, format: str, column: str | None, encoding: str
) -> dict[int, str]:
    """Return the first characters of some documents of a corpus of text, by their rows, with single spaces."""
    with _documents(path, format, column, encoding, None, []) as documents:
        found = {row: document[: 4 * length] for row, document in enumerate(documents) if row in rows}
    return {row: " ".join(document.split())[:length] for row, document in found.items()}


@contextlib.contextmanager
def _documents(
    path: Path, format: str, column: str | None, encoding: str, progress: Progress | None, names: list[str]
) -> Iterator[Iterator[str]]:
    """Open a corpus of text; `names` is filled while its documents are read."""
    if format == "folder":
        yield _folder(path, names, encoding, progress)
        return
    with Source(path, progress) as source:
        if format == "text":
            yield source.text(encoding)
        elif format == "jsonl":
            yield _json_lines(source, column, names, encoding)
        else:
            rows = _TabRows(source, encoding) if format == "tsv" else _CommaRows(source, encoding)
            yield _table(source, rows, column, names)


def count_words(path: Path, documents: Iterator[str], text: TextOptions, names: list[str]) -> Corpus:
    """Count the words of documents; `names` is filled while they are read."""
    from sklearn.feature_extraction.text import CountVectorizer  # slow to import, and matrices do without

    vectorizer = CountVectorizer(
        lowercase=text.lowercase,
        stop_words=_stop_words(text),
        ngram_range=text.ngram_range,
        min_df=text.min_df,
        max_df=text.max_df,
        max_features=text.max_features,
        token_pattern=text.token_pattern,
        vocabulary=text.vocabulary,
    )
    try:
        with warnings.catch_warnings():
            # It asks whether stop words are themselves tokens, which other people's lists need not be.
            warnings.filterwarnings("ignore", "Your stop_words may be inconsistent")
            counts = vectorizer.fit_transform(documents)
    except CorpusError:
        raise
    except ValueError as error:
        raise CorpusError(f"{path} gives no counts of words: {_no_words(error, text)}.") from error
    if counts.nnz == 0:
        raise CorpusError(f"{path} has no word of the vocabulary: check both, and the text options.")
    vocabulary = text.vocabulary or tuple(map(str, vectorizer.get_feature_names_out()))
    return Corpus(Documents.from_matrix(counts), vocabulary, tuple(names) or None, text)


def _no_words(error: ValueError, text: TextOptions) -> str:
    """Say why no word is left, in other words than scikit-learn has for it."""
    if "max_df corresponds" in str(error) or "no terms remain" in str(error):
        return (
            f"no word is in at least {text.min_df} and at most {text.max_df} of its documents (min_df and max_df; "
            "below 1 a share of them): lower the one or raise the other"
        )
    if "empty vocabulary" in str(error):
        return "there are no words in it, or stop words only"
    return f"{clause(error)}: change the text options"


def with_vocabulary(text: TextOptions, file: Path | None, encoding: str) -> TextOptions:
    """Return the text options with the vocabulary of a file, if there is one."""
    if file is None:
        return text
    if text.vocabulary is not None:
        raise CorpusError(f"{file} is one vocabulary and the text options have another: give one of them.")
    words = read_vocabulary(file, encoding)
    try:
        return replace(text, vocabulary=words)
    except ValueError as error:
        raise CorpusError(f"{file} cannot be the vocabulary: {error}") from error


def _stop_words(text: TextOptions) -> Any:
    """Return the stop words; those that are in a given vocabulary are wanted after all."""
    if text.vocabulary is None or text.stop_words is None:
        return list(text.stop_words) if isinstance(text.stop_words, tuple) else text.stop_words
    from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

    stop_words = ENGLISH_STOP_WORDS if isinstance(text.stop_words, str) else text.stop_words
    return sorted(set(stop_words) - set(text.vocabulary)) or None


def _json_lines(source: Source, column: str | None, names: list[str], encoding: str) -> Iterator[str]:
    key = name_key = None
    for line in source.text(encoding):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            what = error.msg if isinstance(error, json.JSONDecodeError) else "a number or a nesting is too long"
            raise source.fault(f"this is not JSON ({what}): mend the line or remove it.") from error
        if not isinstance(record, dict):
            raise source.fault('this is no JSON object such as {"text": "..."}: mend the line or remove it.')
        if key is None:
            key = choose_column(source.path, list(record), column)
            name_key = choose_names(list(record), key)
        if key not in record:
            raise source.fault(f"there is no key {key!r}: add it or remove the line.")
        text = record[key]
        if not isinstance(text, str | None):
            raise source.fault(f"the value of {key!r} is no text: mend it, or give another key as `column`.")
        if name_key is not None:
            name = record.get(name_key)
            names.append("" if name is None else str(name))
        yield text or ""


def _table(source: Source, rows: _Rows, column: str | None, names: list[str]) -> Iterator[str]:
    limit = csv.field_size_limit(sys.maxsize)  # documents may be longer than the 128 kB it allows; rows are checked
    try:
        header = next(rows, [])
        text_place = header.index(choose_column(source.path, header, column))
        name_column = choose_names(header, header[text_place])
        name_place = None if name_column is None else header.index(name_column)
        for row in rows:
            if not row:
                continue
            if len(row) != len(header):
                raise source.fault(
                    f"there are {len(row)} fields and not {len(header)} as in the header: mend it.", rows.start
                )
            if name_place is not None:
                names.append(row[name_place])
            yield row[text_place]
    finally:
        csv.field_size_limit(limit)


class _Rows(Iterator[list[str]]):
    """The rows of a table, and the line where the last one began."""

    start = 1


class _TabRows(_Rows):
    """Rows by tabs, a line each. Quotes are text, unless they are around a field and doubled inside of it."""

    def __init__(self, source: Source, encoding: str) -> None:
        self._source, self._lines, self._width = source, source.text(encoding), 0

    def __next__(self) -> list[str]:
        line = next(self._lines).rstrip("\n")
        self.start = self._source.number
        if not line:
            return []
        fields = line.split("\t")
        if self._width and len(fields) != self._width and '"' in line:
            with contextlib.suppress(csv.Error):  # a tab may be inside of quotes
                return next(csv.reader([line], delimiter="\t", strict=True))
        self._width = self._width or len(fields)
        return [field[1:-1].replace('""', '"') if _QUOTED.fullmatch(field) else field for field in fields]


class _CommaRows(_Rows):
    """Rows by commas; quoted fields may have several lines."""

    def __init__(self, source: Source, encoding: str) -> None:
        self._source = source
        self._reader = csv.reader(self._lines(encoding), strict=True)
        self._size = 0

    def __next__(self) -> list[str]:
        self.start, self._size = self._reader.line_num + 1, 0
        try:
            return next(self._reader)
        except csv.Error as error:
            raise self._source.fault(
                f"the quotes of a field do not match ({error}): double those inside of it.", self.start
            ) from error

    def _lines(self, encoding: str) -> Iterator[str]:
        for line in self._source.text(encoding, newline=""):
            self._size += len(line)
            if self._size >= LONGEST_TEXT:
                what = f"the row has {LONGEST_TEXT:,} characters or more: close its quotes or split it into documents."
                raise self._source.fault(what, self.start)
            yield line


def _folder(path: Path, names: list[str], encoding: str, progress: Progress | None) -> Iterator[str]:
    """Yield the files under a folder in the order of their relative paths; hidden ones are left out."""
    files = []
    for folder, inner, own in os.walk(path):
        inner[:] = [name for name in inner if not name.startswith(".")]
        files += [file for name in own if not name.startswith(".") and (file := Path(folder, name)).is_file()]
    if not files:
        raise CorpusError(f"{path} has no files in it: give a folder of text files.")
    by_name = sorted((file.relative_to(path).as_posix(), file) for file in files)
    total = sum(file.stat().st_size for file in files)
    done = reported = 0
    for name, file in by_name:
        names.append(name)
        with Source(file) as source:
            text = source.whole_text(encoding)
            if _MOST_ZEROS * text.count("\0") > len(text):
                raise CorpusError(
                    f"{file} is no text in {encoding}, it has many zero bytes: take it out of the folder, or give its "
                    "`encoding`, such as 'utf-16'."
                )
        yield text
        done += file.stat().st_size
        if progress is not None and (done - reported >= _REPORT or len(names) == len(by_name)):
            reported = done
            progress(done, max(done, total))
