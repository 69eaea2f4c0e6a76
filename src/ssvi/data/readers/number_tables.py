"""Tables of numbers, a row each: CSV, TSV, Parquet or Arrow, with or without a header; text in them is left out."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ssvi.batches.documents import Documents
from ssvi.data.readers.base import Corpus, CorpusError, DocumentInfo, Progress, guess_format
from ssvi.data.readers.columns import TEXT_COLUMNS, Columns
from ssvi.data.readers.dates import plain_dates
from ssvi.data.readers.delimited import QuotedRows, cuts_evenly, long_fields
from ssvi.data.readers.lines import Source
from ssvi.data.readers.number_columns import counts_rows, is_missing, may_count_rows, to_number, to_numbers
from ssvi.data.readers.sequences import read_arrow
from ssvi.typing import Array

_ROWS = 4_096  # that are cells at a time
_DELIMITERS = (",", ";", "\t", "|", " ")
_NAMES_OF_ROWS = {"id": ("id", "name"), "title": ("title", "headline"), "date": ("date",), "group": ("group",)}
_CALLED = {"id": "the names of the rows", "title": "their titles", "date": "their dates", "group": "their groups"}
_MOSTLY = 0.5  # of a column's cells that are numbers make it one of numbers
_MOST_NAMED = 5  # columns in a note


@dataclass(eq=False)
class _Column:
    """A column on its way: its numbers, and its cells as they are written while it may be one of text."""

    name: str
    may_name_rows: bool = False
    """Whether its cells are wanted as they are written, even if they are numbers."""
    parts: list[Array] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)
    filled: int = 0
    strange: int = 0
    first: tuple[int, str] = (0, "")
    """The row, from 1, of the first cell that is neither a number nor missing, and what stands there."""

    def add(self, cells: Sequence[Any], row: int, *, decimal_comma: bool) -> None:
        """Take the cells of some further rows, the first of which has a number from 1."""
        numbers, strange = to_numbers(cells, decimal_comma=decimal_comma)
        if strange and not self.strange:
            self.first = (row + strange[0], str(cells[strange[0]]).strip())
        self.strange += len(strange)
        self.filled += len(cells) - int(np.isnan(numbers).sum()) + len(strange)
        self.parts.append(numbers)
        if self.may_name_rows or (row == len(self.cells) + 1 and self.is_text):
            self.cells += ["" if is_missing(cell) else str(cell).strip() for cell in cells]

    @property
    def is_text(self) -> bool:
        """Tell whether less than half of what stands in it is numbers."""
        return self.strange > (1.0 - _MOSTLY) * self.filled

    def numbers(self, path: Path) -> Array:
        """Return it as numbers, or raise for a cell that is none."""
        values = np.concatenate(self.parts)
        if self.strange:
            row, cell = self.first
            raise CorpusError(
                f"{path}, row {row}, column {self.name!r}: {cell[:40]!r} is no number as the others of the column are: "
                "mend it, or leave it empty."
            )
        endless = np.flatnonzero(np.isinf(values))
        if len(endless):
            raise CorpusError(f"{path}, row {endless[0] + 1}, column {self.name!r}: the number is infinite: mend it.")
        return values


def read_number_table(
    path: Path, columns: Columns, encoding: str, wanted: Sequence[str] | None, progress: Progress | None
) -> Corpus:
    """Read the rows of a table of numbers; what is missing is NaN.

    Parameters
    ----------
    path : Path
        By its name a CSV, TSV, Parquet or Arrow file; any other is taken for CSV.
    columns : Columns
        The columns of ids, titles, dates and groups, and the delimiter.
    encoding : str
        Of the text.
    wanted : sequence of str, optional
        The columns that a model knows, which are then taken in this order, wherever they stand; of a table without a
        header there must be as many.
    progress : function, optional
        As for `read_corpus`.

    """
    if columns.text is not None:
        raise CorpusError(f"{path} is read as a table of numbers, which has no text: leave out `column`.")
    found, has_header = _columns_of(path, columns, encoding, progress)
    _check_names(path, [column.name for column in found], has_header=has_header)
    kept_apart = _apart(path, columns, found) if has_header else {}
    left = [column for column in found if column.name not in kept_apart.values()]
    texts = [column for column in left if column.is_text and column.filled and column.name not in (wanted or ())]
    if "id" not in kept_apart and (names_of_rows := _name_of_rows(texts)) is not None:
        kept_apart["id"] = names_of_rows.name
    notes: tuple[str, ...] = ()
    if wanted is not None and has_header:
        chosen = _as_wanted(path, left, wanted, [column.name for column in found])
    else:
        counted = [column for column in left[: None if has_header else 1] if _counts_rows(column, has_header)]
        counted = counted[:1] if len(left) > 1 else []
        empty = [column for column in left if not column.filled]
        chosen = [column for column in left if column not in (*counted, *empty, *texts)]
        notes = _notes(path, kept_apart, counted, empty, texts, columns)
    if not chosen:
        raise CorpusError(
            f"{path} has no column of numbers, only {_listed([column.name for column in found])}: for text there are "
            "lda, hdp and ctm."
        )
    values = np.stack([column.numbers(path) for column in chosen], axis=1)
    names = tuple(column.name for column in chosen) if has_header else None
    info = _info({what: column for column in found for what, name in kept_apart.items() if name == column.name})
    return Corpus(Documents.from_matrix(values), names, info, notes=notes, is_table=True)


def looks_like_numbers(path: Path, format: str, columns: Columns, encoding: str) -> bool:
    """Tell whether a table has numbers in its first rows, and no column that is called as those of text are.

    Lines of text may have a number here and there: of these most must be numbers.
    """
    if format in ("parquet", "arrow") or columns.text is not None:
        return False
    with Source(path) as source, long_fields():
        rows = QuotedRows(source, encoding, columns, _delimiter)
        first = [row for row in itertools.islice(rows, 20) if row]
    names = {cell.strip().lower() for cell in first[0]} if first else set()
    cells = [cell for row in first[1:] for cell in row if not is_missing(cell)]
    numbers = sum(_is_number(cell, rows.delimiter) for cell in cells)
    return not names & set(TEXT_COLUMNS) and numbers > (_MOSTLY * len(cells) if format == "text" else 0)


def _columns_of(path: Path, columns: Columns, encoding: str, progress: Progress | None) -> tuple[list[_Column], bool]:
    """Return the columns of a file, and whether they have names of their own."""
    if _format(path) in ("parquet", "arrow"):
        table = read_arrow(path)
        found = [_Column(name, _may_name_rows(name, columns)) for name in table]
        for column in found:
            column.add(table[column.name], 1, decimal_comma=False)
        return found, True
    with Source(path, progress) as source, long_fields():
        rows = QuotedRows(source, encoding, columns, _delimiter)
        filled = _even(rows, source)
        first = next(filled, [])
        has_header = _is_header(first, rows.delimiter)
        names = [cell.strip() for cell in first] if has_header else [f"column {n + 1}" for n in range(len(first))]
        found = [_Column(name, _may_name_rows(name if has_header else "", columns)) for name in names]
        row = 1
        body = filled if has_header else itertools.chain([first] if first else [], filled)
        while some := list(itertools.islice(body, _ROWS)):
            for column, cells in zip(found, zip(*some, strict=True), strict=True):
                column.add(cells, row, decimal_comma=rows.delimiter == ";")
            row += len(some)
    if row == 1:
        raise CorpusError(f"{path} has no rows below its header: give a table with numbers.")
    return found, has_header


def _may_name_rows(name: str, columns: Columns) -> bool:
    """Tell whether a column may be what rows are called or counted by, by its name."""
    before = {} if columns.preferred is None else columns.preferred.named()
    usual = {own for names in _NAMES_OF_ROWS.values() for own in names}
    return name.lower() in usual or name in (*columns.named().values(), *before.values()) or may_count_rows(name)


def _format(path: Path) -> str:
    """Return the format that a file's name tells; what tells none is taken for CSV."""
    try:
        return guess_format(path)
    except CorpusError:
        return "csv"


def _even(rows: QuotedRows, source: Source) -> Iterator[list[str]]:
    """Yield the rows that have something in them; all have as many cells as the first."""
    first: list[str] | None = None
    for row in rows:
        if not row:
            continue
        first = row if first is None else first
        if len(row) != len(first):
            raise source.fault(rows.fault(row, first).replace("in the header", "in the first line"), rows.start)
        yield row


def _delimiter(lines: list[str], columns: Columns) -> str:
    """Return the delimiter that is preferred, or that cuts the first lines into the most numbers."""
    preferred = None if columns.preferred is None else columns.preferred.delimiter
    if preferred is not None and cuts_evenly(lines, preferred):
        return preferred
    return max(_DELIMITERS, key=lambda delimiter: _fits(lines, delimiter))


def _fits(lines: list[str], delimiter: str) -> tuple[bool, float]:
    """Tell whether a delimiter cuts lines evenly, and which share of what it cuts out are numbers."""
    own = [" ".join(line.split()) for line in lines] if delimiter == " " else lines
    try:
        rows = [row for row in csv.reader(own, delimiter=delimiter) if row]
    except csv.Error:
        return False, 0.0
    cells = [cell for row in rows[1:] for cell in row if not is_missing(cell)]
    share = sum(_is_number(cell, delimiter) for cell in cells) / max(len(cells), 1)
    return len(rows[0]) > 1 and len({len(row) for row in rows}) == 1 if rows else False, share


def _is_number(cell: str, delimiter: str) -> bool:
    return to_number(cell, decimal_comma=delimiter == ";") is not None


def _is_header(row: Sequence[str], delimiter: str) -> bool:
    """Tell whether a row is names of columns: none is a number, or they are 0, 1, 2, ... as pandas has them."""
    cells = [cell.strip() for cell in row]
    filled = [cell for cell in cells if not is_missing(cell)]
    if len(filled) > 1 and filled == [str(place) for place in range(len(filled))]:
        return True
    return bool(filled) and not any(_is_number(cell, delimiter) for cell in filled)


def _check_names(path: Path, names: Sequence[str], *, has_header: bool) -> None:
    twice = next((name for name in names if names.count(name) > 1), None) if has_header else None
    if twice is not None:
        raise CorpusError(f"{path} has {names.count(twice)} columns {twice!r}: rename all but one.")


def _apart(path: Path, columns: Columns, found: Sequence[_Column]) -> dict[str, str]:
    """Return the columns that say what a row is called, from when it is and what it belongs to."""
    asked = columns.asked_for(path, [column.name for column in found])
    usual = {
        what: column.name
        for what, names in _NAMES_OF_ROWS.items()
        for column in reversed(found)
        if column.name.lower() in names
    }
    taken = set(asked.values())
    return {what: name for what, name in usual.items() if name not in taken} | asked


def _as_wanted(path: Path, found: Sequence[_Column], wanted: Sequence[str], every: Sequence[str]) -> list[_Column]:
    """Return the columns that a model knows; `every` one of the file is for messages."""
    by_name = {column.name: column for column in found}
    missing = [name for name in wanted if name not in by_name]
    if missing:
        others = [name for name in every if name not in missing]
        raise CorpusError(
            f"{path} has no column {_listed(missing)}, which the model was fitted to, only {_listed(others)}."
        )
    return [by_name[name] for name in wanted]


def _counts_rows(column: _Column, has_header: bool) -> bool:
    return counts_rows(column.name if has_header else "", column.cells)


def _name_of_rows(texts: Sequence[_Column]) -> _Column | None:
    """Return the first column of text that has another one for every row, which is what rows are called."""
    return next((column for column in texts if len(set(column.cells)) == len(column.cells) > 1), None)


def _notes(
    path: Path,
    apart: dict[str, str],
    counted: Sequence[_Column],
    empty: Sequence[_Column],
    texts: Sequence[_Column],
    columns: Columns,
) -> tuple[str, ...]:
    """Return what was done with columns that are not among the numbers, and that nobody said anything of."""
    asked = set(columns.named().values())
    notes = [
        f"{path}: the column {name!r} is taken for {_CALLED[what]}, and is not fitted; if it is to be, rename it."
        for what, name in apart.items()
        if name not in asked
    ]
    if counted:
        notes.append(f"{path}: the column {counted[0].name!r} counts the rows, and is left out.")
    if empty:
        notes.append(f"{path}: nothing stands in {_listed([column.name for column in empty])}, which is left out.")
    plain = [column.name for column in texts if column.name not in apart.values()]
    if plain:
        one = f"the column {plain[0]!r} is text, and is" if len(plain) == 1 else f"{_listed(plain)} are text, and are"
        notes.append(f"{path}: {one} left out; `group_column` {plain[0]!r} would show it beside the rows.")
    return tuple(notes)


def _info(known: dict[str, _Column]) -> DocumentInfo:
    """Return what is known of rows beside their numbers."""
    texts = {f"{what}s": tuple(column.cells) for what, column in known.items()}
    if "dates" in texts:
        dates, _ = plain_dates(texts["dates"])
        texts["dates"] = dates
        if not any(dates):
            del texts["dates"]
    return DocumentInfo(**texts)


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(map(repr, names[:_MOST_NAMED])) + more
