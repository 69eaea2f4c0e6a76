"""Tables of text: rows by commas, tabs or another character, with a header."""

from __future__ import annotations

import contextlib
import csv
import itertools
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ssvi.data.readers.base import CorpusError
from ssvi.data.readers.columns import TEXT_COLUMNS, Columns, Gathered, shown
from ssvi.data.readers.lines import LONGEST_TEXT, Source
from ssvi.data.readers.number_columns import is_missing, to_number

_QUOTED = re.compile(r'"(?:[^"]|"")*"')
_SEPARATOR_LINE = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)  # as spreadsheets write it before the header
_DELIMITERS = (",", ";", "\t", "|")
_GUESSED_FROM = 20  # lines


def table_documents(source: Source, format: str, columns: Columns, encoding: str, gathered: Gathered) -> Iterator[str]:
    """Yield the texts of a table; `gathered` is filled while they are read."""
    by_tabs = format == "tsv" and columns.delimiter is None
    rows: Rows = _TabRows(source, encoding) if by_tabs else QuotedRows(source, encoding, columns)
    with long_fields():
        header = next(rows, [])
        try:
            chosen = columns.chosen(source.path, header)
        except CorpusError:
            if columns.text is None:
                _refuse_numbers(source.path, itertools.islice(rows, _GUESSED_FROM), header)
            raise
        text_place = header.index(chosen.text)
        fields = [(values, header.index(name)) for values, name in gathered.fields(chosen)]
        for row in rows:
            if not row:
                continue
            if len(row) != len(header):
                raise source.fault(rows.fault(row, header), rows.start)
            for values, place in fields:
                values.append(row[place])
            yield row[text_place]


def _refuse_numbers(path: Path, rows: Iterable[list[str]], header: list[str]) -> None:
    """Raise if the first rows of a table are numbers for the most part: nobody knows then which column is text."""
    cells = [cell for row in rows for cell in row if not is_missing(cell)]
    if 2 * sum(to_number(cell) is not None for cell in cells) > len(cells):
        raise CorpusError(
            f"{path} holds numbers, and words are looked for: `ssvi fit gaussian_mixture` is for tables of numbers, "
            f"and a column of text, if there is one, is given as `column` (of {shown(header)})."
        )


@contextlib.contextmanager
def long_fields() -> Iterator[None]:
    """Let fields be longer than the 128 kB that the csv module allows; rows are checked."""
    limit = csv.field_size_limit(sys.maxsize)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


class Rows(Iterator[list[str]]):
    """The rows of a table, and the line where the last one began."""

    start = 1

    def fault(self, row: list[str], header: list[str]) -> str:
        """Say what is wrong with a row that has not as many fields as the header."""
        return f"there are {len(row)} fields and not {len(header)} as in the header: mend it."


class _TabRows(Rows):
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


class QuotedRows(Rows):
    """Rows by commas or another delimiter; quoted fields may have several lines.

    `guess` finds the delimiter from the first lines, where none was asked for. Spaces may be any number of them.
    """

    def __init__(
        self, source: Source, encoding: str, columns: Columns, guess: Callable[[list[str], Columns], str] | None = None
    ) -> None:
        self._source, self._size = source, 0
        lines = source.text(encoding, newline="")
        first = list(itertools.islice(lines, _GUESSED_FROM))
        skipped = _SEPARATOR_LINE.fullmatch(first[0]) if first else None
        self._before = 1 if skipped else 0
        first = first[self._before :]
        said = skipped[1] if skipped else None
        self.delimiter = columns.delimiter or said or (guess or _preferred)(first, columns)
        self._is_guess = columns.delimiter is None
        self._reader = csv.reader(self._counted(itertools.chain(first, lines)), strict=True, delimiter=self.delimiter)

    def __next__(self) -> list[str]:
        self.start, self._size = self._before + self._reader.line_num + 1, 0
        try:
            return next(self._reader)
        except csv.Error as error:
            raise self._source.fault(
                f"the quotes of a field do not match ({error}): double those inside of it.", self.start
            ) from error

    def fault(self, row: list[str], header: list[str]) -> str:
        """Say what is wrong with a row; the delimiter may have been guessed wrongly."""
        if not self._is_guess:
            return super().fault(row, header)
        return (
            f"there are {len(row)} fields and not {len(header)} as in the header, if {self.delimiter!r} is between "
            "them: mend it, or give another `delimiter`."
        )

    def _counted(self, lines: Iterator[str]) -> Iterator[str]:
        for line in lines:
            self._size += len(line)
            if self._size >= LONGEST_TEXT:
                what = f"the row has {LONGEST_TEXT:,} characters or more: close its quotes or split it into documents."
                raise self._source.fault(what, self.start)
            yield " ".join(line.split()) if self.delimiter == " " else line


def _preferred(lines: list[str], columns: Columns) -> str:
    """Return the delimiter that is preferred, if it cuts the first lines evenly, else the one that fits best."""
    preferred = None if columns.preferred is None else columns.preferred.delimiter
    if preferred is not None and cuts_evenly(lines, preferred):
        return preferred
    return guess_delimiter(lines, columns.text)


def cuts_evenly(lines: list[str], delimiter: str) -> bool:
    """Tell whether a delimiter cuts all lines into as many columns, and more than one."""
    return _fits(lines, delimiter, None)[1]


def guess_delimiter(lines: list[str], column: str | None) -> str:
    """Return what stands between the columns of a table, by its first lines: a comma, unless another fits better.

    >>> guess_delimiter(["id;text", "1;one, two, three", "2;four"], None)
    ';'
    """
    return max(_DELIMITERS, key=lambda delimiter: _fits(lines, delimiter, column))


def _fits(lines: list[str], delimiter: str, column: str | None) -> tuple[bool, bool, bool]:
    """Tell whether a delimiter finds the column of the text, several columns, and as many in each row."""
    try:
        header, *rows = (row for row in csv.reader(lines, delimiter=delimiter) if row)
    except (csv.Error, ValueError):
        return False, False, False
    wanted = TEXT_COLUMNS if column is None else (column.strip().lower(),)
    names = [name.strip().lower() for name in header]
    rows = rows[:-1] or rows  # the last may go on
    even = all(len(row) == len(header) for row in rows)
    return any(name in wanted for name in names) and even, len(header) > 1 and even, len(header) > 1


def check_is_table(path: Path, column: str | None, format: str) -> None:
    """Refuse options of tables for what has no columns."""
    if column is not None:
        raise CorpusError(f"{path} has no columns, being read as {format}: leave out `column`, or give its `format`.")
