"""Blocks of documents as row groups of Parquet files.

A row has its words and their counts as runs of little-endian numbers of as few bytes as will do, in binary columns, and
the number of its entries in a column of its own. (Lists of integers would be read by other programs at once, but take
six times as long to decode and a quarter more space.) The footer has a hash of every block: a block is checked when it
is read, whatever may have happened to the file.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.batches.documents import Documents
from ssvi.corpora.index import short_hash
from ssvi.data.readers.base import CorpusError, optional_module

FOOTER = b"ssvi"
"""The key of what the footer says of blocks."""

_COUNT_TYPES = ("<u1", "<u2", "<u4", "<f4", "<f8")


def word_type(n_words: int) -> str:
    """Return the narrowest type for numbers of words."""
    return "<u2" if n_words <= 1 << 16 else "<u4"


def count_type(counts: npt.NDArray[Any]) -> str:
    """Return the narrowest type that holds some counts as they are.

    >>> count_type(np.array([1.0, 300.0])), count_type(np.array([0.5])), count_type(np.array([0.1]))
    ('<u2', '<f4', '<f8')
    """
    largest = counts.max(initial=0)
    if np.issubdtype(counts.dtype, np.integer) or np.array_equal(counts, np.floor(counts)):
        fitting = [kind for kind in _COUNT_TYPES[:3] if largest <= np.iinfo(kind).max]
        if fitting:
            return fitting[0]
    exact = np.array_equal(counts.astype(np.float32).astype(counts.dtype), counts)
    return "<f4" if exact and np.issubdtype(counts.dtype, np.floating) else "<f8"


@dataclass(frozen=True)
class Block:
    """Documents as they are stored, with what is known of them by column (id, title, date, group)."""

    documents: Documents
    known: Mapping[str, Sequence[str]]

    def told(self) -> list[str]:
        """Return what the footer says of it: its hash, and the type of its counts."""
        tight = self.documents
        return [_hash(tight), count_type(tight.counts)]


def narrow(documents: Documents) -> Documents:
    """Return documents with words and counts in the narrowest types."""
    tight = documents.tight()
    counts = tight.counts.astype(count_type(tight.counts), copy=False)
    return Documents(tight.indptr, tight.words.astype(word_type(tight.n_words), copy=False), counts, tight.n_words)


def schema(known: Sequence[str]) -> Any:
    """Return the columns of a shard."""
    import pyarrow as pa

    columns = [("entries", pa.uint32()), ("words", pa.binary()), ("counts", pa.binary())]
    return pa.schema([*columns, *((name, pa.string()) for name in known)])


def to_table(block: Block) -> Any:
    """Return a block as an Arrow table."""
    import pyarrow as pa

    documents = block.documents
    columns = {"entries": pa.array(documents.costs().astype(np.uint32))}
    for name, values in (("words", documents.words), ("counts", documents.counts)):
        offsets = pa.py_buffer((documents.indptr * values.itemsize).astype(np.int32))
        data = pa.py_buffer(np.ascontiguousarray(values))
        columns[name] = pa.BinaryArray.from_buffers(pa.binary(), len(documents), [None, offsets, data])
    for name, texts in block.known.items():
        columns[name] = pa.array(list(texts), pa.string())
    return pa.table(columns, schema=schema(list(block.known)))


def footer(vocabulary_hash: str, n_words: int, told: Sequence[list[str]]) -> bytes:
    """Return what the footer says of a shard's vocabulary and of its blocks."""
    return json.dumps({"vocabulary": vocabulary_hash, "words": n_words, "blocks": list(told)}).encode()


class ShardFile:
    """An open shard, found to be the one that the index means."""

    def __init__(self, file: Any, place: str, n_words: int, vocabulary_hash: str, shard_hash: str) -> None:
        parquet = optional_module("pyarrow.parquet", "arrow", place)  # type: ignore[arg-type]
        self._place, self._n_words, self._handle = place, n_words, file
        try:
            self._file = parquet.ParquetFile(file)
            told = (self._file.metadata.metadata or {}).get(FOOTER, b"")
            said = json.loads(told) if told else {}
        except (OSError, ValueError) as error:
            raise CorpusError(f"{place} is damaged or no Parquet file ({_clause(error)}): {_AGAIN}.") from error
        if said.get("vocabulary") != vocabulary_hash:
            words = said.get("words", "no")
            other = "another" if words == n_words else f"another, of {words} words and not {n_words},"
            raise CorpusError(f"{place} is a shard over {other} vocabulary than its corpus has: {_AGAIN}.")
        if short_hash(told) != shard_hash:
            raise CorpusError(f"{place} is not the shard that the index tells of, it was changed: {_AGAIN}.")
        self._told = said["blocks"]

    def close(self) -> None:
        """Close the file."""
        self._handle.close()

    def read(self, number: int) -> Documents:
        """Return the documents of a block."""
        columns = self._columns(number, ["entries", "words", "counts"])
        hash_, counts_are = self._told[number]
        try:
            entries = np.asarray(columns["entries"]).astype(np.int64)
            indptr = np.concatenate([[0], np.cumsum(entries)])
            words = _values(columns["words"], word_type(self._n_words))
            documents = Documents(indptr, words, _values(columns["counts"], counts_are), self._n_words)
            sound = _hash(documents) == hash_
        except (ValueError, TypeError):
            sound = False
        if not sound:
            raise CorpusError(
                f"block {number} of {self._place} is not what was written there, it was changed or damaged: {_AGAIN}."
            )
        return documents

    def entries(self, number: int) -> npt.NDArray[np.int64]:
        """Return the number of entries of each document of a block, and read nothing else."""
        return np.asarray(self._columns(number, ["entries"])["entries"]).astype(np.int64)

    def known(self, number: int, names: Sequence[str]) -> dict[str, list[str]]:
        """Return what is known of the documents of a block."""
        columns = self._columns(number, list(names))
        return {name: [text or "" for text in column.to_pylist()] for name, column in columns.items()}

    def _columns(self, number: int, names: list[str]) -> dict[str, Any]:
        try:
            group = self._file.read_row_group(number, columns=names, use_threads=False)
            return {name: group.column(name).combine_chunks() for name in names}
        except (OSError, ValueError, KeyError) as error:
            raise CorpusError(
                f"block {number} of {self._place} cannot be read ({_clause(error)}): {_AGAIN}."
            ) from error


_AGAIN = "get the file again, or build the corpus again"


def _values(column: Any, kind: str) -> npt.NDArray[Any]:
    """Return the numbers of a binary column, all rows one after the other."""
    array = column.chunk(0) if hasattr(column, "chunk") else column
    _, offsets, data = array.buffers()
    cuts = np.frombuffer(offsets, np.int32)[array.offset : array.offset + len(array) + 1]
    if data is None:
        return np.zeros(0, kind)
    return np.frombuffer(data, np.uint8)[cuts[0] : cuts[-1]].view(kind) if len(cuts) else np.zeros(0, kind)


def _hash(documents: Documents) -> str:
    """Return the hash of documents in narrow types."""
    parts = (documents.costs().astype("<u4"), documents.words, documents.counts)
    return short_hash(*(np.ascontiguousarray(part).view(np.uint8).data for part in parts))


def _clause(error: Exception) -> str:
    return " ".join(str(error).split()).rstrip(".")[:200] or type(error).__name__
