"""Entries of a matrix that are put down on disk: counts larger than memory, on their way to a corpus on disk.

Entries are written as they come. Most files have them in the order of documents; those of others are then put into
ranges of documents, each of which can be read alone.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ssvi.batches.documents import Documents
from ssvi.batches.sizes import Sizes
from ssvi.batches.sources import Source
from ssvi.data.readers.assemble import Entries, check_entries, check_total, checked

_ENTRY = np.dtype([("row", "<i4"), ("word", "<i4"), ("count", "<f8")])
_AT_ONCE = 1 << 20  # entries of a range of documents, about, and of what is read at a time

_new_file: ContextVar[Callable[[], IO[bytes]] | None] = ContextVar("_new_file", default=None)


@contextmanager
def entries_in(folder: Path) -> Iterator[None]:
    """Let all readers of counts put their entries down in a folder; documents stay there, as long as this lasts."""
    with ExitStack() as files:
        before = _new_file.set(lambda: files.enter_context(tempfile.TemporaryFile(dir=folder)))
        try:
            yield
        finally:
            _new_file.reset(before)


def are_put_down() -> bool:
    """Tell whether entries go to disk."""
    return _new_file.get() is not None


def new_entries() -> Entries:
    """Return entries to be added to: in memory, or on disk if that was asked for."""
    new_file = _new_file.get()
    return Entries() if new_file is None else EntriesOnDisk(new_file)


class EntriesOnDisk(Entries):
    """Entries of a matrix in a file, 16 bytes each."""

    def __init__(self, new_file: Callable[[], IO[bytes]]) -> None:
        super().__init__()
        self._new_file, self._file = new_file, new_file()
        self._last, self._in_order = 0, True
        self._total, self._whole = 0.0, True

    def add(self, rows: npt.NDArray[Any], words: npt.NDArray[Any], counts: npt.NDArray[Any]) -> None:
        """Put entries down that were found to be in range."""
        own = np.empty(len(rows), _ENTRY)
        own["row"], own["word"], own["count"] = rows, words, counts
        own.tofile(self._file)
        if len(rows):
            self._in_order &= bool(rows[0] >= self._last and np.all(rows[1:] >= rows[:-1]))
            self._last = int(rows[-1])
        self._total += float(own["count"].sum())
        self._whole &= counts.dtype.kind in "biu"
        self.number += len(rows)

    def documents(self, path: Path, n_rows: int, n_words: int, first_word: int = 0) -> Any:
        """Return the matrix as a source of documents."""
        check_entries(path, n_rows, n_words, self.number)
        if self._whole:
            check_total(path, self._total)
        costs = np.zeros(n_rows, np.int64)
        for entries in self._read():
            costs += np.bincount(entries["row"], minlength=n_rows)
        ranges = Ranges.of(costs)
        if not self._in_order:
            self._put_into(ranges)
        sizes = Sizes(self.number, self._total, self._total, int((costs == 0).sum()), self._whole)
        return PutDown(path, self._file, ranges, sizes, n_words, first_word)

    def _read(self) -> Iterator[npt.NDArray[Any]]:
        self._file.seek(0)
        while len(entries := np.fromfile(self._file, _ENTRY, _AT_ONCE)):
            yield entries

    def _put_into(self, ranges: Ranges) -> None:
        """Write all entries again, those of a range of documents together."""
        new, filled = self._new_file(), ranges.begins[:-1].copy()
        for entries in self._read():
            place = np.searchsorted(ranges.rows, entries["row"], side="right") - 1
            order = np.argsort(place, kind="stable")
            counts = np.bincount(place, minlength=len(filled))
            ends = np.cumsum(counts)
            for number in np.flatnonzero(counts):
                new.seek(int(filled[number]) * _ENTRY.itemsize)
                entries[order[ends[number] - counts[number] : ends[number]]].tofile(new)
            filled += counts
        self._file.close()
        self._file = new


class Ranges:
    """Ranges of documents: `rows` are where they begin and end, and `begins` the same of their entries."""

    def __init__(self, rows: npt.NDArray[np.int64], begins: npt.NDArray[np.int64]) -> None:
        self.rows, self.begins = rows, begins

    @classmethod
    def of(cls, costs: npt.NDArray[np.int64]) -> Ranges:
        """Cut documents of so many entries each into ranges of few entries, and of few documents."""
        reached = np.cumsum(costs + 1)
        numbers = (reached - 1) // _AT_ONCE
        rows = np.concatenate([[0], np.flatnonzero(np.diff(numbers)) + 1, [len(costs)]]).astype(np.int64)
        return cls(rows, np.concatenate([[0], np.cumsum(costs)])[rows])


class PutDown(Source):
    """Documents of entries that lie in a file, range by range; entries of one place are added up."""

    def __init__(self, path: Path, file: Any, ranges: Ranges, sizes: Sizes, n_words: int, first_word: int) -> None:
        self._path, self._file, self._ranges, self._first_word = path, file, ranges, first_word
        self.sizes, self.n_words = sizes, n_words
        self._last: tuple[int, Documents] | None = None

    @property
    def block_sizes(self) -> npt.NDArray[np.int64]:
        """The number of documents of each range."""
        return np.diff(self._ranges.rows)

    @property
    def content_hash(self) -> str:
        """There is none: this is on its way to a corpus that has one."""
        return ""

    def read_block(self, number: int) -> Documents:
        """Return the documents of a range; the last one is kept."""
        if self._last is None or self._last[0] != number:
            begin, end = (int(self._ranges.begins[place]) for place in (number, number + 1))
            first, last = (int(self._ranges.rows[place]) for place in (number, number + 1))
            self._file.seek(begin * _ENTRY.itemsize)
            own = np.fromfile(self._file, _ENTRY, end - begin)
            counts = own["count"].astype(np.int64 if self.sizes.whole else np.float64)
            places = own["row"] - first, own["word"] - self._first_word
            matrix = sparse.coo_array((counts, places), shape=(last - first, self.n_words))
            self._last = number, checked(self._path, matrix, first)
        return self._last[1]
