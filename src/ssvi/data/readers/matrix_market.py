"""Matrix Market files, documents x words, by coordinates or dense."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.data.readers.assemble import check_dimension, check_shape
from ssvi.data.readers.base import Corpus, CorpusError, Progress
from ssvi.data.readers.lines import Source
from ssvi.data.readers.numbers import LARGEST, first_fault, nth_line, parse_rows, shown
from ssvi.data.readers.put_down import new_entries
from ssvi.data.readers.vocabulary import words_of_columns

_LONGEST_NUMBER = 19  # digits of a size


@dataclass(frozen=True)
class _Header:
    dense: bool
    field: str
    symmetric: bool
    n_rows: int
    n_words: int
    n_entries: int
    line: int

    @property
    def columns(self) -> int:
        """How many numbers stand on a line."""
        return 1 if self.dense else 2 if self.field == "pattern" else 3


def read_mtx(path: Path, vocabulary: Path | None, encoding: str, progress: Progress | None) -> Corpus:
    """Read a matrix of real or whole numbers, or a pattern, whose entries count as ones."""
    entries, found = new_entries(), 0
    with Source(path, progress) as source:
        header = _header(source)
        if header.dense and 2 * header.n_entries > source.largest_size() + 1:
            raise source.fault(f"{header.n_rows:,} x {header.n_words:,} numbers are more than the file can hold.")
        for first, chunk in source.chunks():
            values = _values(source, first, chunk, header)
            rows, words, counts = _places(values, header, found)
            found += len(values)
            _check(source, first, chunk, header, rows, words, counts)
            keep = counts != 0
            entries.add(rows[keep], words[keep], counts[keep])
            if header.symmetric:
                keep &= rows != words
                entries.add(words[keep], rows[keep], counts[keep])
    if found != header.n_entries:
        raise CorpusError(
            f"{path}, line {header.line}: the header says {header.n_entries:,} entries but {found:,} follow: mend it "
            "or get the file again."
        )
    check_shape(path, header.n_rows, header.n_words, found)
    documents = entries.documents(path, header.n_rows, header.n_words)
    return Corpus(documents, words_of_columns(path, vocabulary, encoding, header.n_words))


def _header(source: Source) -> _Header:
    first = source.line()
    words = first.decode("ascii", "replace").lower().split()
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"] or words[2] not in ("coordinate", "array"):
        raise source.fault(
            f"{shown(first.strip())} is not a line such as '%%MatrixMarket matrix coordinate integer general': check "
            "the file's format."
        )
    kind, field, symmetry = words[2:]
    if field not in ("real", "double", "integer", "pattern") or (field == "pattern" and kind == "array"):
        raise source.fault(f"entries of {kind} matrices that are {field!r} cannot be read: give real or integer ones.")
    if symmetry not in ("general", "symmetric") or (symmetry == "symmetric" and kind == "array"):
        raise source.fault(f"{kind} matrices that are {symmetry!r} cannot be read: give a general one.")
    line = source.line()
    while line.startswith(b"%") or (line and not line.strip()):
        line = source.line()
    sizes = line.split()
    if len(sizes) != (2 if kind == "array" else 3) or not all(
        size.isdigit() and len(size) <= _LONGEST_NUMBER for size in sizes
    ):
        raise source.fault(f"{shown(line.strip())} is not the matrix's size: check the file's format.")
    n_rows, n_words, *rest = map(int, sizes)
    check_dimension(source.path, "documents", n_rows)
    check_dimension(source.path, "words", n_words)
    if symmetry == "symmetric" and n_rows != n_words:
        raise source.fault(f"a symmetric matrix cannot be {n_rows:,} x {n_words:,}: give a general one.")
    n_entries = rest[0] if rest else n_rows * n_words
    return _Header(kind == "array", field, symmetry == "symmetric", n_rows, n_words, n_entries, source.number)


def _values(source: Source, first: int, chunk: bytes, header: _Header) -> npt.NDArray[Any]:
    """Parse a chunk; going line by line finds what is wrong with it."""
    columns = header.columns
    dtype: Any = np.float64 if header.field in ("real", "double") else np.int64
    values = parse_rows(chunk, columns, dtype)
    if values is not None:
        return values
    lines = chunk.split(b"\n")
    place = first_fault(lines, lambda some: parse_rows(b"\n".join(some), columns, dtype) is None)
    kind = "whole numbers" if dtype is np.int64 else "numbers"
    wanted = {1: f"one of {kind}", 2: "`row column`", 3: f"`row column value`, {kind}"}[columns]
    raise source.fault(f"{shown(lines[place].strip())} is not {wanted}: mend it or get the file again.", first + place)


def _places(
    values: npt.NDArray[Any], header: _Header, found: int
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]]:
    """Return row, column and value of each line; dense matrices are written by columns."""
    if header.dense:
        places = np.arange(found, found + len(values))
        n_rows = max(header.n_rows, 1)
        return places % n_rows, places // n_rows, values[:, 0]
    counts = values[:, 2] if header.columns == 3 else np.ones(len(values), np.int32)
    return values[:, 0] - 1, values[:, 1] - 1, counts


def _check(
    source: Source,
    first: int,
    chunk: bytes,
    header: _Header,
    rows: npt.NDArray[Any],
    words: npt.NDArray[Any],
    counts: npt.NDArray[Any],
) -> None:
    """Refuse what is out of range, with the number of its line."""
    outside = ~((rows >= 0) & (rows < header.n_rows) & (rows == np.floor(rows)))
    outside |= ~((words >= 0) & (words < header.n_words) & (words == np.floor(words)))
    largest = np.finfo(np.float64).max if counts.dtype.kind == "f" else LARGEST
    faulty = outside | ~((counts >= 0) & (counts <= largest))
    if not faulty.any():
        return
    row = int(faulty.argmax())
    number = first + nth_line(chunk, row)
    if outside[row]:
        place = (
            "there are more numbers than" if header.dense else f"row {rows[row] + 1}, column {words[row] + 1} is not in"
        )
        raise source.fault(f"{place} {header.n_rows:,} x {header.n_words:,}, the size in the header.", number)
    raise source.fault(f"the entry {counts[row]} must be finite and not negative: mend it.", number)
