"""Writing a corpus to disk, block by block."""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

import numpy as np

from ssvi.batches.documents import Documents
from ssvi.batches.sizes import Sizes
from ssvi.corpora import blocks, index
from ssvi.corpora.folders import NewFolder, named_if_full
from ssvi.data.readers.base import CorpusError, DocumentInfo, optional_module

ROWS = 1_000
"""Documents of a block at most."""
ENTRIES = 1 << 18
"""Entries after which a block ends, however few documents it has: what is in memory is some blocks."""
BLOCKS = 128
"""Blocks of a shard."""


class CorpusWriter:
    """Writes a corpus as its documents come: memory is for one block.

    >>> with CorpusWriter("news", n_words=8000) as writer:  # doctest: +SKIP
    ...     for documents in stream:
    ...         writer.add(documents)

    The folder appears when all of it was written; after an error nothing is left of it.

    Parameters
    ----------
    output : path or URL
        The folder: a new one, or an empty one.
    n_words : int
        The size of the vocabulary.
    vocabulary : sequence of str, optional
        The words.
    known : sequence of str
        Those of id, title, date and group that `add` is told of documents.
    text : mapping, optional
        How text became words (`TextOptions.kept`).

    """

    def __init__(
        self,
        output: str | os.PathLike[str],
        n_words: int,
        vocabulary: Sequence[str] | None = None,
        *,
        known: Sequence[str] = (),
        text: Mapping[str, Any] | None = None,
    ) -> None:
        self._parquet = optional_module("pyarrow.parquet", "arrow", output)  # type: ignore[arg-type]
        if vocabulary is not None and len(vocabulary) != n_words:
            raise CorpusError(f"the vocabulary has {len(vocabulary):,} words and the corpus {n_words:,}.")
        if any("\n" in word or "\r" in word for word in vocabulary or ()):
            raise CorpusError(
                "there is a word with the end of a line in it, which a file of a word a line cannot hold."
            )
        self._output, self._n_words, self._vocabulary, self._text = output, n_words, vocabulary, text
        self._known = tuple(name for name in index.KNOWN if name in known)
        self._words_hash = index.hash_of_words(vocabulary, n_words)
        self._shards: list[index.Shard] = []
        self._waiting: list[tuple[Documents, dict[str, Sequence[str]]]] = []
        self._sizes = Sizes(0, 0.0, 0.0, 0, True)
        self._open: _OpenShard | None = None

    def __enter__(self) -> Self:
        self._folder = NewFolder(self._output)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with named_if_full(self._output):
            try:
                if error is None:
                    self._finish()
                elif isinstance(error, OSError):
                    raise error
            except BaseException:
                self._give_up()
                raise
        if error is not None:
            self._give_up()

    def add(self, documents: Documents, info: DocumentInfo | None = None) -> None:
        """Write some documents, and what is known of them."""
        if documents.n_words != self._n_words:
            raise CorpusError(f"documents over {documents.n_words:,} words came to a corpus over {self._n_words:,}.")
        documents.check_not_negative("CorpusWriter.add")
        own = (info or DocumentInfo()).known()
        known = {name: own.get(name) or ("",) * len(documents) for name in self._known}
        for start in range(0, len(documents), ROWS):
            stop = min(start + ROWS, len(documents))
            self._waiting.append(
                (documents.slice(start, stop), {name: texts[start:stop] for name, texts in known.items()})
            )
            rows, entries = self._held()
            if rows >= ROWS or entries >= ENTRIES:
                self._flush()

    def _held(self) -> tuple[int, int]:
        own = [documents for documents, _ in self._waiting]
        return sum(map(len, own)), sum(int(part.indptr[-1] - part.indptr[0]) for part in own)

    def _flush(self, *, everything: bool = False) -> None:
        """Write what waits, in blocks that are full; or all of it."""
        documents = stacked([own for own, _ in self._waiting], self._n_words)
        known = {name: [text for _, texts in self._waiting for text in texts[name]] for name in self._known}
        while len(documents):
            stop, is_full = _first_block(documents)
            if not (is_full or everything):
                break
            own = {name: texts[:stop] for name, texts in known.items()}
            self._write(blocks.Block(blocks.narrow(documents.slice(0, stop)), own))
            documents = documents.slice(stop, len(documents))
            known = {name: texts[stop:] for name, texts in known.items()}
        self._waiting = [(documents, dict(known))] if len(documents) else []

    def _write(self, block: blocks.Block) -> None:
        if self._open is None:
            name = f"shard-{len(self._shards):05d}.parquet"
            self._open = _OpenShard(self._parquet, self._folder, name, self._known)
        own = Sizes.of(block.documents)
        self._open.write(block, own)
        self._sizes = self._sizes.with_more(own)
        if len(self._open.rows) == BLOCKS:
            self._close_shard()

    def _close_shard(self) -> None:
        if self._open is not None:
            self._shards.append(self._open.close(self._words_hash, self._n_words))
            self._open = None

    def _finish(self) -> None:
        """Write what is left, the vocabulary and, last of all, the index."""
        self._flush(everything=True)
        self._close_shard()
        if not self._shards:
            raise CorpusError(f"there are no documents to write to {self._output}.")
        if self._vocabulary is not None:
            self._put(index.VOCABULARY, "".join(f"{word}\n" for word in self._vocabulary).encode())
        own = index.Index(
            self._n_words, self._sizes, tuple(self._shards), self._known, self._words_hash,
            self._vocabulary is not None, self._text,
        )  # fmt: skip
        self._put(index.NAME, own.to_bytes())
        self._folder.finish()

    def _put(self, name: str, data: bytes) -> None:
        with self._folder.create(name) as file:
            file.write(data)

    def _give_up(self) -> None:
        if self._open is not None:
            self._open.abandon()
            self._open = None
        self._folder.abandon()


class _OpenShard:
    """A shard that is being written."""

    def __init__(self, parquet: Any, folder: NewFolder, name: str, known: Sequence[str]) -> None:
        self._folder, self._name = folder, name
        self._file = folder.create(name)
        self._writer = parquet.ParquetWriter(
            self._file, blocks.schema(known), compression="zstd", use_dictionary=list(known) or False,
            write_statistics=False, column_encoding=None,
        )  # fmt: skip
        self.rows: list[int] = []
        self._told: list[list[str]] = []
        self._entries, self._tokens = 0, 0.0

    def write(self, block: blocks.Block, sizes: Sizes) -> None:
        table = blocks.to_table(block)
        self._writer.write_table(table, row_group_size=max(1, table.num_rows))
        self.rows.append(table.num_rows)
        self._told.append(block.told())
        self._entries, self._tokens = self._entries + sizes.entries, self._tokens + sizes.tokens

    def close(self, words_hash: str, n_words: int) -> index.Shard:
        told = blocks.footer(words_hash, n_words, self._told)
        self._writer.add_key_value_metadata({blocks.FOOTER: told})
        self._writer.close()
        self._file.flush()
        with suppress(io.UnsupportedOperation, AttributeError):  # of files elsewhere
            os.fsync(self._file.fileno())
        self._file.close()
        size = self._folder.size(self._name)
        return index.Shard(
            self._name, sum(self.rows), self._entries, self._tokens, size, index.short_hash(told), tuple(self.rows)
        )

    def abandon(self) -> None:
        for part in (self._writer, self._file):
            try:
                part.close()
            except Exception:  # it is to be removed, whatever is wrong with it
                continue


def stacked(parts: Sequence[Documents], n_words: int) -> Documents:
    """Return documents of several parts, one after the other."""
    own = [part.tight() for part in parts]
    costs = [part.costs() for part in own]
    indptr = np.concatenate([[0], np.cumsum(np.concatenate([np.zeros(0, np.int64), *costs]))]).astype(np.int64)
    words, counts = (
        np.concatenate([getattr(part, name) for part in own]) if own else np.zeros(0, np.int32)
        for name in ("words", "counts")
    )
    return Documents(indptr, words, counts, n_words)


def _first_block(documents: Documents) -> tuple[int, bool]:
    """Return how many of some documents make the next block, one at the least, and whether it can have no more."""
    reached = documents.indptr[1:] - documents.indptr[0]
    within = int(np.searchsorted(reached, ENTRIES, side="right"))
    size = max(1, min(ROWS, within, len(documents)))
    return size, size == ROWS or size < len(documents) or bool(reached[-1] >= ENTRIES)
