"""Counts in lines of text: UCI's docword files, Blei's LDA-C, and svmlight."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.data.readers.assemble import LARGEST_DIMENSION, check_dimension
from ssvi.data.readers.base import Corpus, CorpusError, Progress
from ssvi.data.readers.lines import Source
from ssvi.data.readers.numbers import LARGEST, Pairs, nth_line, parse_pairs, parse_rows, shown
from ssvi.data.readers.put_down import new_entries
from ssvi.data.readers.vocabulary import read_vocabulary, vocabulary_beside, words_of_columns

_WHOLE = re.compile(rb"[0-9]+")
_NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_BLANK = re.compile(rb"\n[^\S\n]*\n")
_MANY_DIGITS = 20  # more than any number in range has


def read_uci(path: Path, vocabulary: Path | None, encoding: str, progress: Progress | None) -> Corpus:
    """Read three header lines (documents, words, entries) and lines `document word count`, numbered from 1."""
    entries = new_entries()
    with Source(path, progress) as source:
        n_rows, n_words, n_entries = (
            _header_number(source, what) for what in ("number of documents", "number of words", "number of entries")
        )
        check_dimension(path, "documents", n_rows)
        check_dimension(path, "words", n_words)
        most = np.array([n_rows, n_words, LARGEST])
        for first, chunk in source.chunks():
            rows = parse_rows(chunk, 3, np.int64)
            if rows is None:
                rows = _triples_by_line(source, first, chunk)
            outside = ((rows < [1, 1, 0]) | (rows > most)).any(axis=1)
            if outside.any():
                row = int(outside.argmax())
                raise _uci_fault(source, first + nth_line(chunk, row), rows[row], most)
            entries.add(rows[:, 0] - 1, rows[:, 1] - 1, rows[:, 2])
    if entries.number != n_entries:
        raise CorpusError(
            f"{path}, line 3: the header says {n_entries:,} entries but {entries.number:,} follow: mend it or get the "
            "file again."
        )
    documents = entries.documents(path, n_rows, n_words)
    file = vocabulary or vocabulary_beside(path)
    words = None
    if vocabulary is not None or file.is_file():
        words = read_vocabulary(file, encoding)
        if len(words) != n_words:
            raise CorpusError(f"{path}, line 2: the header says {n_words:,} words but {file} has {len(words):,}.")
    return Corpus(documents, words)


def read_ldac(path: Path, vocabulary: Path | None, encoding: str, progress: Progress | None) -> Corpus:
    """Read lines `N word:count ...` of N pairs, words numbered from 0."""
    return _read_pairs(path, vocabulary, encoding, progress, is_ldac=True)


def read_svmlight(path: Path, vocabulary: Path | None, encoding: str, progress: Progress | None) -> Corpus:
    """Read lines `label word:value ... # comment`; words are numbered from 1 unless there is a word 0."""
    return _read_pairs(path, vocabulary, encoding, progress, is_ldac=False)


def _read_pairs(
    path: Path, vocabulary: Path | None, encoding: str, progress: Progress | None, *, is_ldac: bool
) -> Corpus:
    given = None if vocabulary is None else read_vocabulary(vocabulary, encoding)
    # Of words numbered from 1 the last one is one higher; which it is shows at the end.
    most = LARGEST_DIMENSION - 1 if given is None else len(given) - is_ldac
    entries, n_rows, lowest, highest, blank = new_entries(), 0, LARGEST, -1, 0
    with Source(path, progress) as source:
        for first, chunk in source.chunks():
            if is_ldac:
                blank = _blank_line(source, first, chunk, blank)
            pairs = parse_pairs(chunk, np.int64 if is_ldac else np.float64)
            if pairs is None or not _sound(pairs, most, is_ldac):
                pairs = _pairs_by_line(source, first, chunk, most, vocabulary, is_ldac)
            lowest = min(lowest, int(pairs.words.min(initial=LARGEST)))
            highest = max(highest, int(pairs.words.max(initial=-1)))
            rows = np.arange(n_rows, n_rows + len(pairs.lengths))
            entries.add(np.repeat(rows, pairs.lengths), pairs.words, pairs.values)
            n_rows += len(rows)
    base = 0 if is_ldac or lowest == 0 else 1
    if given is not None and highest - base >= len(given):
        raise CorpusError(
            f"{path} has word {highest} but {vocabulary} has only {len(given):,}: give the whole vocabulary."
        )
    n_words = highest + 1 - base
    columns = given or words_of_columns(path, None, encoding, n_words, may_be_longer=True)
    documents = entries.documents(path, n_rows, n_words if columns is None else len(columns), base)
    return Corpus(documents, columns)


def _blank_line(source: Source, first: int, chunk: bytes, before: int) -> int:
    """Return the first of the blank lines that end a chunk, 0 if there is none; refuse those with more behind them."""
    solid = b"\n" + chunk.rstrip()
    if len(solid) == 1:
        return before or first
    found = _BLANK.search(solid)
    if before or found:
        number = before or first + solid.count(b"\n", 0, found.start() if found else 0)
        raise source.fault("the line is blank: write 0 for a document without words.", number)
    lines = solid.count(b"\n")
    return first + lines if chunk.count(b"\n") > lines else 0


def _sound(pairs: Pairs, most: int, is_ldac: bool) -> bool:
    """Tell whether all is in range; if not, going line by line finds where."""
    words, values = pairs.words, pairs.values
    if len(words) and not (words.min() >= 0 and words.max() <= most and np.array_equal(words, np.floor(words))):
        return False
    if is_ldac and not np.array_equal(pairs.heads, pairs.lengths):
        return False
    return not len(values) or bool(values.min() >= 0 and values.max() <= (LARGEST if is_ldac else np.finfo(float).max))


def _header_number(source: Source, what: str) -> int:
    line = source.line().strip()
    if not _WHOLE.fullmatch(line):
        raise source.fault(f"the {what} should stand here, alone, and not {shown(line)}: check the file's format.")
    return _whole(line)


def _whole(token: bytes) -> int:
    """Return a number, or one that is too large in its stead: Python refuses to read thousands of digits."""
    digits = token.lstrip(b"0") or b"0"
    return int(digits) if len(digits) < _MANY_DIGITS else 10**_MANY_DIGITS


def _uci_fault(source: Source, number: int, row: npt.NDArray[Any], most: npt.NDArray[Any]) -> CorpusError:
    for what, value, largest in zip(("document", "word"), row[:2], most[:2], strict=True):
        if not 1 <= value <= largest:
            return source.fault(f"{what} {value} is not between 1 and {largest:,}, the number in the header.", number)
    return source.fault(f"the count {row[2]} is not a whole number between 0 and {LARGEST:,}: mend it.", number)


def _triples_by_line(source: Source, first: int, chunk: bytes) -> npt.NDArray[Any]:
    rows = []
    for number, line in enumerate(chunk.split(b"\n"), first):
        tokens = line.split()
        if not tokens:
            continue
        if len(tokens) != 3:
            raise source.fault(f"{shown(line)} is not `document word count`: mend it or get the file again.", number)
        for token, what in zip(tokens, ("document", "word", "count"), strict=True):
            if not _WHOLE.fullmatch(token):
                raise source.fault(f"the {what} {shown(token)} is not a whole number, 0 or more: mend it.", number)
        rows.append([min(_whole(token), 2 * LARGEST) for token in tokens])
    return np.array(rows, np.int64).reshape(-1, 3)


@dataclass
class _LineOfPairs:
    """One line of pairs, looked at piece by piece to say what is wrong with it."""

    source: Source
    number: int
    most: int
    vocabulary: Path | None
    is_ldac: bool

    def parse(self, line: bytes) -> tuple[list[int], list[float]]:
        """Return words and values."""
        head, *tokens = line.split()
        if self.is_ldac and not _WHOLE.fullmatch(head):
            raise self.fault(f"the number of words {shown(head)} is not a whole number, 0 or more: mend it.")
        if b":" in head:
            raise self.fault(f"the line begins with {shown(head)} and not with a label: check the file's format.")
        if not self.is_ldac and tokens and tokens[0].startswith(b"qid:"):
            del tokens[0]
        if self.is_ldac and _whole(head) != len(tokens):
            raise self.fault(f"the line says {shown(head)} words but has {len(tokens)}: mend it or get the file again.")
        pairs = [self.pair(token) for token in tokens]
        return [word for word, _ in pairs], [value for _, value in pairs]

    def pair(self, token: bytes) -> tuple[int, float]:
        """Return one word and its value."""
        word, colon, value = token.partition(b":")
        if not colon:
            raise self.fault(f"{shown(token)} is not `word:{'count' if self.is_ldac else 'value'}`: mend it.")
        if not _WHOLE.fullmatch(word) or _whole(word) > self.most:
            last = f"{self.most:,}, the last of {self.vocabulary}" if self.vocabulary else f"{self.most:,}"
            raise self.fault(f"word {shown(word)} is not a whole number between 0 and {last}: mend it.")
        if self.is_ldac:
            if not _WHOLE.fullmatch(value) or _whole(value) > LARGEST:
                raise self.fault(f"the count {shown(value)} is not a whole number between 0 and {LARGEST:,}: mend it.")
            return _whole(word), _whole(value)
        if not _NUMBER.fullmatch(value) or not 0 <= float(value) < float("inf"):
            raise self.fault(f"the value {shown(value)} is not a number, finite and not negative: mend it.")
        return _whole(word), float(value)

    def fault(self, what: str) -> CorpusError:
        return self.source.fault(what, self.number)


def _pairs_by_line(
    source: Source, first: int, chunk: bytes, most: int, vocabulary: Path | None, is_ldac: bool
) -> Pairs:
    """Parse a chunk that holds comments or blank lines, or find what is wrong with it."""
    words: list[int] = []
    values: list[float] = []
    lengths: list[int] = []
    lines = chunk.removesuffix(b"\n").split(b"\n")
    for number, line in enumerate(lines, first):
        content = line if is_ldac else line.partition(b"#")[0]
        if not content.strip():
            continue
        own_words, own_values = _LineOfPairs(source, number, most, vocabulary, is_ldac).parse(content)
        words += own_words
        values += own_values
        lengths.append(len(own_words))
    lengths_array = np.array(lengths, np.int64)
    dtype: Any = np.int64 if is_ldac else np.float64
    return Pairs(lengths_array, lengths_array, np.array(words, np.int64), np.array(values, dtype))
