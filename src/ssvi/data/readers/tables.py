"""Parquet and Arrow files: a column of text, or columns of counts."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.data.readers.assemble import LARGEST_DIMENSION
from ssvi.data.readers.base import (
    Corpus,
    CorpusError,
    DocumentInfo,
    Progress,
    clause,
    optional_module,
)
from ssvi.data.readers.columns import Columns, Gathered
from ssvi.data.readers.put_down import new_entries
from ssvi.data.readers.vocabulary import read_vocabulary, words_of_columns

_ROWS = 1_000  # of a batch; those of text may be long,
_ENTRIES = 1 << 16  # those of entries are short


def holds_counts(path: Path, format: str, column: str | None) -> bool:
    """Tell whether a parquet or arrow file holds counts and no text."""
    pyarrow = optional_module("pyarrow", "arrow", path)
    with pyarrow.OSFile(str(path), "rb") as file:
        names = {name.strip().lower() for name in _Table(path, file, format, None).columns}
    return column is None and ({"doc", "word", "count"} <= names or {"words", "counts"} <= names)


def read_table(path: Path, format: str, vocabulary: Path | None, encoding: str, progress: Progress | None) -> Corpus:
    """Read counts from a parquet or arrow file.

    It has columns doc, word and count, an entry a row; or columns words and counts of lists, a document a row. Words
    and docs are numbers from 0 or strings.
    """
    pyarrow = optional_module("pyarrow", "arrow", path)
    with pyarrow.OSFile(str(path), "rb") as file:
        table = _Table(path, file, format, progress)
        names = {name.strip().lower(): name for name in reversed(table.columns)}
        counts = _Counts(path, pyarrow, vocabulary, encoding)
        if {"doc", "word", "count"} <= names.keys():
            return counts.read_triples(table, names)
        return counts.read_lists(table, names)


def table_texts(
    path: Path, format: str, columns: Columns, gathered: Gathered, progress: Progress | None
) -> Iterator[str]:
    """Yield the texts of a parquet or arrow file; `gathered` is filled while they are read."""
    pyarrow = optional_module("pyarrow", "arrow", path)
    with pyarrow.OSFile(str(path), "rb") as file:
        table = _Table(path, file, format, progress)
        chosen = columns.chosen(path, table.columns)
        fields = gathered.fields(chosen)
        wanted = list(dict.fromkeys([chosen.text, *(column for _, column in fields)]))
        for batch in table.batches(wanted):
            for values, column in fields:
                own = batch[wanted.index(column)].to_pylist()
                values.extend("" if value is None else str(value) for value in own)
            for document in batch[0].to_pylist():
                if not isinstance(document, str | None):
                    raise CorpusError(f"{path}: column {chosen.text!r} is no text: give another as `column`.")
                yield document or ""


class _Table:
    """An open file: the names of its columns, and its rows in batches.

    pyarrow runs in this process, unlike HDF5: it checks what it reads, and tens of thousands of damaged files
    (benchmarks/fuzz_files.py) neither crashed it nor made it take much memory.
    """

    def __init__(self, path: Path, file: Any, format: str, progress: Progress | None) -> None:
        self._path, self._file, self._format, self._progress = path, file, format, progress
        self._parquet: Any = None
        self._reader: Any = None
        with self._faults():
            self._open(file, path, format)

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """Turn what pyarrow says about a damaged file into an error that names it."""
        try:
            yield
        except CorpusError:
            raise
        except Exception as error:  # it raises its own kinds, and OSError, UnicodeError, ...
            raise CorpusError(
                f"{self._path} is not a file that pyarrow can read as {self._format} ({clause(error)}): get it again."
            ) from error

    def _open(self, file: Any, path: Path, format: str) -> None:
        if format == "parquet":
            self._parquet = optional_module("pyarrow.parquet", "arrow", path).ParquetFile(file)
            self.columns: list[str] = self._parquet.schema_arrow.names
            return
        ipc = optional_module("pyarrow.ipc", "arrow", path)
        # Files begin with these letters, streams do not.
        self._reader = ipc.open_file(file) if file.read(6) == b"ARROW1" else ipc.open_stream(_rewound(file))
        self.columns = self._reader.schema.names

    def batches(self, columns: list[str], rows: int = _ROWS) -> Iterator[list[Any]]:
        """Yield the given columns: of parquet files so many rows at a time, else those that were written together."""
        total = self._path.stat().st_size
        batches = self._all(columns, rows)
        while True:
            with self._faults():
                batch = next(batches, None)
                if batch is None:
                    return
                batch.validate(full=True)  # offsets of a damaged file would lead out of its memory
                own = [batch.column(self._place(batch, name)) for name in columns]
            yield own
            if self._progress is not None:
                self._progress(min(self._file.tell(), total), total)

    def _place(self, batch: Any, name: str) -> int:
        places = batch.schema.get_all_field_indices(name)
        if len(places) != 1:
            raise CorpusError(f"{self._path} has {len(places)} columns {name!r}: rename all but one.")
        return int(places[0])

    def _all(self, columns: list[str], rows: int) -> Iterator[Any]:
        if self._parquet is not None:
            yield from self._parquet.iter_batches(batch_size=rows, columns=columns)
        elif hasattr(self._reader, "num_record_batches"):
            for number in range(self._reader.num_record_batches):
                yield self._reader.get_batch(number)
        else:
            yield from self._reader


def _rewound(file: Any) -> Any:
    file.seek(0)
    return file


class _Numbers(dict[str, int]):
    """Numbers for strings, in the order in which they come."""

    def __missing__(self, word: str) -> int:
        self[word] = number = len(self)
        return number


class _Counts:
    """Counts read from columns: entries, and numbers for the words and documents that are strings."""

    def __init__(self, path: Path, pyarrow: Any, vocabulary: Path | None, encoding: str) -> None:
        self._path, self._pyarrow, self._encoding, self._file = path, pyarrow, encoding, vocabulary
        self._given = None if vocabulary is None else read_vocabulary(vocabulary, encoding)
        self._entries = new_entries()
        self._words, self._docs = _Numbers(), _Numbers()
        self._fixed = self._given is not None
        if self._given is not None:
            self._words.update((word, number) for number, word in enumerate(self._given))
        self._n_rows = self._n_words = 0

    def read_triples(self, table: _Table, names: dict[str, str]) -> Corpus:
        """Read an entry a row."""
        for docs, words, counts in table.batches([names["doc"], names["word"], names["count"]], _ENTRIES):
            rows = self._indices(docs, "doc", self._docs, fixed=False)
            self._n_rows = max(self._n_rows, int(rows.max(initial=-1)) + 1)
            self._add(rows, words, counts)
        return self._corpus(tuple(self._docs) or None)

    def read_lists(self, table: _Table, names: dict[str, str]) -> Corpus:
        """Read a document a row."""
        compute = optional_module("pyarrow.compute", "arrow", self._path)
        for words, counts in table.batches([names["words"], names["counts"]]):
            lengths = [self._lengths(compute, array, what) for array, what in ((words, "words"), (counts, "counts"))]
            differ = np.flatnonzero(lengths[0] != lengths[1])
            if len(differ):
                row, (n_words, n_counts) = self._n_rows + differ[0] + 1, (int(own[differ[0]]) for own in lengths)
                raise CorpusError(f"{self._path}: row {row} has {n_words} words but {n_counts} counts: mend it.")
            rows = np.repeat(np.arange(self._n_rows, self._n_rows + len(words)), lengths[0])
            self._n_rows += len(words)
            self._add(rows, compute.list_flatten(words), compute.list_flatten(counts))
        return self._corpus(None)

    def _lengths(self, compute: Any, array: Any, what: str) -> npt.NDArray[np.int64]:
        types = self._pyarrow.types
        if not (types.is_list(array.type) or types.is_large_list(array.type)):
            raise CorpusError(
                f"{self._path}: column {what!r} has no lists: give lists, or the text's name as `column`."
            )
        lengths: npt.NDArray[np.int64] = np.array(compute.list_value_length(array).fill_null(0), dtype=np.int64)
        return lengths

    def _add(self, rows: npt.NDArray[Any], words: Any, counts: Any) -> None:
        columns = self._indices(words, "word", self._words, fixed=self._fixed)
        values = self._numbers(counts, "count")
        faulty = np.flatnonzero(~(np.isfinite(values) & (values >= 0)))
        if len(faulty):
            place = self._entries.number + int(faulty[0]) + 1
            raise CorpusError(
                f"{self._path}: the count of entry {place} is {values[faulty[0]]} and must be finite and not "
                "negative: mend it."
            )
        self._n_words = max(self._n_words, int(columns.max(initial=-1)) + 1)
        self._entries.add(rows, columns, values)

    def _numbers(self, array: Any, what: str) -> npt.NDArray[Any]:
        types = self._pyarrow.types
        if array.null_count or not (types.is_integer(array.type) or types.is_floating(array.type)):
            raise CorpusError(f"{self._path}: every {what} must be a number, none missing: mend the column.")
        values: npt.NDArray[Any] = array.to_numpy(zero_copy_only=False)
        return values

    def _indices(self, array: Any, what: str, numbers: _Numbers, *, fixed: bool) -> npt.NDArray[np.int64]:
        """Return words or documents as numbers from 0."""
        types = self._pyarrow.types
        if types.is_dictionary(array.type):
            array = array.dictionary_decode()
        if str(array.type) == "string_view":  # as polars writes them; older versions of pyarrow have no name for it
            array = array.cast(self._pyarrow.large_string())
        if types.is_string(array.type) or types.is_large_string(array.type):
            if array.null_count:
                raise CorpusError(f"{self._path}: a {what} is missing: mend the column.")
            encoded = array.dictionary_encode()
            words = encoded.dictionary.to_pylist()
            if fixed and not numbers.keys() >= set(words):
                strange = next(word for word in words if word not in numbers)
                raise CorpusError(f"{self._path} has the word {strange!r}, which is not in {self._file}: add it there.")
            own = np.array([numbers[word] for word in words], np.int64)
            return own[np.asarray(encoded.indices, np.int64)]
        values = self._numbers(array, what)
        most = LARGEST_DIMENSION - 1 if not (fixed and what == "word") else len(numbers) - 1
        faulty = np.flatnonzero(~((values >= 0) & (values <= most)) | (values != np.floor(values)))
        if len(faulty):
            raise CorpusError(
                f"{self._path}: {what} {values[faulty[0]]} is not a whole number between 0 and {most:,}: mend it."
            )
        return values.astype(np.int64)

    def _corpus(self, names: tuple[str, ...] | None) -> Corpus:
        words = self._given
        if words is None and self._words:
            words = tuple(self._words)
        if words is None:
            words = words_of_columns(self._path, None, self._encoding, self._n_words, may_be_longer=True)
        n_words = self._n_words if words is None else len(words)
        return Corpus(self._entries.documents(self._path, self._n_rows, n_words), words, DocumentInfo(ids=names))
