"""Sequences from files: arrays with lengths, tables with a column that names the sequence, and lines of symbols."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.batches.runs import group_rows
from ssvi.data.readers.base import CorpusError, clause, optional_module
from ssvi.data.readers.lines import Source
from ssvi.data.readers.number_columns import counts_rows, to_numbers
from ssvi.file_kinds import close_name
from ssvi.typing import Array

_USUAL = ("sequence", "group", "series", "id")
_USUAL_TIMES = ("time", "date", "year", "month", "day", "hour", "timestamp", "datetime")
_TABLES, _ARROWS = (".csv", ".tsv"), (".parquet", ".pq", ".arrow", ".feather")
KINDS = ".npz or .npy (X, and lengths), .csv, .tsv, .parquet or .arrow (with a column of sequences), .txt (symbols)"


@dataclass(frozen=True)
class SequenceData:
    """Rows in sequences.

    Attributes
    ----------
    values : (time points, columns)
        The numbers, sequence after sequence; NaN where one is missing.
    lengths : (sequences,)
        How many time points each has.
    columns : names of the columns, where they have names
    symbols : what the numbers of the only column stand for, where they are symbols
    names : what the sequences are called, where they have names
    times : when each time point was, where a column says so
    notes : what a person should know of how the file was read

    """

    values: Array
    lengths: npt.NDArray[np.int64]
    columns: tuple[str, ...] | None = None
    symbols: tuple[str, ...] | None = None
    names: tuple[str, ...] | None = None
    times: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def from_keys(
        cls, values: Array, keys: Any, columns: tuple[str, ...], times: Sequence[str] | None = None
    ) -> SequenceData:
        """Take rows and the name of each one's sequence; without names all rows are one sequence."""
        if keys is None:
            return cls(values, np.array([len(values)]), columns, times=None if times is None else tuple(times))
        names, order, indptr = group_rows(keys)
        ordered = None if times is None else tuple(times[row] for row in order)
        return cls(values[order], np.diff(indptr), columns, names=tuple(str(name) for name in names), times=ordered)


def read_sequences(
    path: Path,
    *,
    sequence_column: str | None = None,
    time_column: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    symbols: Sequence[str] | None = None,
    preferred: Mapping[str, str] | None = None,
) -> SequenceData:
    """Read sequences from a file, by what its name ends with.

    `symbols` are those that a model knows; without any, those of the text are numbered in the order of the alphabet.
    `preferred` has columns (`group_column`, `date_column`) and a `delimiter` that are taken where none is given and the
    file has them.
    """
    before = preferred or {}
    if path.is_dir():
        raise CorpusError(f"{path} is a folder, and models of sequences read one file: {KINDS}.")
    if not path.is_file():
        raise CorpusError(f"there is no file {path}{close_name(path)}: check the path.")
    kind = "".join(path.suffixes[-2:]).removesuffix(".gz").lower()
    kind = "." + kind.rpartition(".")[2]
    if kind in (".npz", ".npy"):
        return _read_arrays(path)
    if kind in _TABLES:
        usual = "\t" if kind == ".tsv" else ","
        delimiter = delimiter or _delimiter_of(path, before.get("delimiter", usual), encoding, usual)
        cells = _read_table(path, delimiter, encoding)
        return _from_columns(path, cells, sequence_column, time_column, before)
    if kind in _ARROWS:
        return _from_columns(path, read_arrow(path), sequence_column, time_column, before)
    if kind == ".txt":
        return _read_symbols(path, delimiter or before.get("delimiter"), encoding, symbols)
    raise CorpusError(f"{path}: sequences are read from {KINDS}.")


def _read_arrays(path: Path) -> SequenceData:
    """Read arrays X and lengths, or one array, or a sparse matrix."""
    try:
        with path.open("rb") as file:  # which NumPy leaves open
            found = np.load(file, allow_pickle=False)
            arrays = {"X": found} if isinstance(found, np.ndarray) else {name: found[name] for name in found.files}
    except Exception as error:  # what zipfile and NumPy raise for damaged files is no closed list
        raise CorpusError(f"{path} cannot be read as arrays ({clause(error)}).") from error
    if {"format", "shape", "data"} <= arrays.keys():
        from ssvi.data.readers.matrices import sparse_matrix

        arrays = {"X": sparse_matrix(path, arrays).toarray(), **{k: v for k, v in arrays.items() if k == "lengths"}}
    if "X" not in arrays:
        raise CorpusError(f"{path} has no array X, only {', '.join(sorted(arrays)) or 'nothing'}.")
    values = arrays["X"]
    values = values[:, None] if values.ndim == 1 else values
    if values.ndim != 2 or values.dtype.kind not in "biuf":
        raise CorpusError(f"{path}: X must be numbers, time points x columns.")
    lengths = arrays.get("lengths", np.array([len(values)]))
    if lengths.ndim != 1 or lengths.dtype.kind not in "iu":
        raise CorpusError(f"{path}: lengths must be whole numbers, one for each sequence.")
    return SequenceData(values.astype(np.float64), lengths.astype(np.int64))


def _read_table(path: Path, delimiter: str, encoding: str) -> dict[str, list[str]]:
    """Read a table with a header."""
    with Source(path) as source:
        lines = source.text(encoding)
        rows = list(csv.reader(lines, delimiter=delimiter))
    if len(rows) < 2:
        raise CorpusError(f"{path} has no rows below its header.")
    header, body = [name.strip() for name in rows[0]], [row for row in rows[1:] if row]
    uneven = next((number for number, row in enumerate(body) if len(row) != len(header)), None)
    if uneven is not None:
        raise CorpusError(
            f"{path}, row {uneven + 1} below the header has {len(body[uneven])} cells, and the header {len(header)}."
        )
    return {name: [row[place] for row in body] for place, name in enumerate(header)}


def _delimiter_of(path: Path, preferred: str, encoding: str, usual: str) -> str:
    """Return the delimiter that is preferred, if the header of a table has it, else the usual one."""
    if preferred == usual:
        return usual
    with Source(path) as source:
        return preferred if preferred in next(iter(source.text(encoding)), "") else usual


def read_arrow(path: Path) -> dict[str, list[Any]]:
    """Read a parquet or arrow file."""
    optional_module("pyarrow", "arrow", path)
    try:
        if path.suffix.lower() in (".parquet", ".pq"):
            from pyarrow import parquet

            table = parquet.read_table(path)
        else:
            from pyarrow import feather

            table = feather.read_table(path)
        return {name: table[name].to_pylist() for name in table.column_names}
    except Exception as error:  # pyarrow's errors are no closed list
        raise CorpusError(f"{path} cannot be read as a table ({clause(error)}).") from error


def _from_columns(
    path: Path,
    columns: Mapping[str, Sequence[Any]],
    sequences: str | None,
    times: str | None,
    preferred: Mapping[str, str],
) -> SequenceData:
    """Take the columns of sequences and of times, if there are any, and all others as numbers."""
    for wanted in (sequences, times):
        if wanted is not None and wanted not in columns:
            raise CorpusError(f"{path} has no column {wanted!r}, only {', '.join(map(repr, list(columns)[:10]))}.")
    before = [preferred.get(name) for name in ("group_column", "date_column")]
    sequences, times = (
        asked or (known if known in columns else None) for asked, known in zip((sequences, times), before, strict=True)
    )
    group = sequences or next((name for name in columns if name.strip().lower() in _USUAL and name != times), None)
    time = times or next((name for name in columns if name.strip().lower() in _USUAL_TIMES and name != group), None)
    counted = [name for name in columns if name not in (group, time) and counts_rows(name, columns[name])]
    apart = {group, time, *counted}
    numbers = {name: _numbers(path, name, cells) for name, cells in columns.items() if name not in apart}
    if not numbers:
        raise CorpusError(
            f"{path} has no columns of numbers besides {', '.join(repr(name) for name in apart if name)}."
        )
    keys = None if group is None else [str(cell) for cell in columns[group]]
    when = None if time is None else [str(cell) for cell in columns[time]]
    found = SequenceData.from_keys(np.stack(list(numbers.values()), axis=1), keys, tuple(numbers), when)
    return replace(found, notes=_notes(path, time, times, counted))


def _notes(path: Path, time: str | None, asked: str | None, counted: Sequence[str]) -> tuple[str, ...]:
    """Return what was done with columns that nobody said anything of."""
    notes = []
    if time is not None and asked is None:
        notes.append(
            f"{path}: the column {time!r} says when a time point was, and is not fitted; if it is to be, rename it."
        )
    if counted:
        notes.append(f"{path}: the column {counted[0]!r} counts the rows, and is left out.")
    return tuple(notes)


def _numbers(path: Path, name: str, cells: Sequence[Any]) -> Array:
    """Return a column as numbers, NaN where a cell is empty."""
    numbers, strange = to_numbers(cells)
    if strange:
        raise CorpusError(
            f"{path}, row {strange[0] + 1} below the header: {str(cells[strange[0]])[:40]!r} in column {name!r} is no "
            "number; if the column names sequences, give it as --group-column."
        )
    return numbers


def _read_symbols(path: Path, delimiter: str | None, encoding: str, known: Sequence[str] | None) -> SequenceData:
    """Read lines of text, a sequence each, whose characters (or words, with a delimiter) are symbols."""
    with Source(path) as source:
        lines = [list(_cut(line.rstrip("\r\n"), delimiter)) for line in source.text(encoding)]
    lines = [line for line in lines if line]
    if not lines:
        raise CorpusError(f"{path} has no symbols.")
    symbols = tuple(known) if known is not None else tuple(sorted({symbol for line in lines for symbol in line}))
    numbers = {symbol: number for number, symbol in enumerate(symbols)}
    unknown = next((symbol for line in lines for symbol in line if symbol not in numbers), None)
    if unknown is not None:
        raise CorpusError(f"{path} has the symbol {unknown!r}, which the model was not fitted to.")
    values = np.array([numbers[symbol] for line in lines for symbol in line], dtype=np.float64)
    return SequenceData(values[:, None], np.array([len(line) for line in lines]), None, symbols)


def _cut(line: str, delimiter: str | None) -> Iterator[str]:
    if delimiter is None:
        yield from line
    else:
        yield from (word for word in line.split(delimiter) if word)
