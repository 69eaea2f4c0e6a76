"""A corpus on disk, read block by block."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.batches.documents import Documents
from ssvi.batches.places import WINDOW
from ssvi.batches.sources import Source
from ssvi.corpora.blocks import ShardFile
from ssvi.corpora.folders import Folder, is_url
from ssvi.corpora.index import NAME, VOCABULARY, Index, hash_of_words, is_corpus, short_hash
from ssvi.data.readers.base import CorpusError, DocumentInfo

_OPEN_FILES = 64
_KEPT_BLOCKS = 2 * WINDOW  # those of a window are read for several minibatches, and one may lie across two windows


class DiskCorpus(Source):
    """A corpus on disk for `fit`, `partial_fit`, `transform` and `score`, in memory that does not depend on its size.

    >>> LatentDirichletAllocation(100).fit(DiskCorpus("wikipedia"))  # doctest: +SKIP

    `places` gives the places of minibatches, in an order that follows from the seed, and `read(place)` their documents,
    in any process: what is sent there is the path and the index. All that is read is checked against the index.

    Parameters
    ----------
    path : path or URL
        A folder that `ssvi corpus build` or `CorpusWriter` wrote; URLs are fsspec's.

    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._folder = Folder(path)
        data = _index_of(self._folder)
        self.index = Index.from_bytes(data, self._folder.place(NAME))
        self._content_hash = short_hash(data)
        self._check_files()
        self.n_words, self.sizes = self.index.n_words, self.index.sizes
        self.vocabulary = self._words()
        self._locate()

    def _locate(self) -> None:
        """Note where blocks are, and that nothing is open yet."""
        self._block_sizes = self.index.block_sizes()
        self._first_blocks = np.cumsum([0, *(len(shard.blocks) for shard in self.index.shards)])
        self._files: OrderedDict[int, ShardFile] = OrderedDict()
        self._blocks: OrderedDict[int, Documents] = OrderedDict()
        self._lock = threading.Lock()

    def __getstate__(self) -> dict[str, Any]:
        own = {"_folder", "index", "_content_hash", "n_words", "sizes", "vocabulary"}
        return {name: value for name, value in vars(self).items() if name in own}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._locate()

    def __repr__(self) -> str:
        return f"DiskCorpus({self._folder.where!r})"

    @property
    def path(self) -> str:
        """Where it lies."""
        return self._folder.where

    @property
    def block_sizes(self) -> npt.NDArray[np.int64]:
        """The number of documents of each block, of all shards."""
        return self._block_sizes

    @property
    def content_hash(self) -> str:
        """The hash of the index, which has those of all shards."""
        return self._content_hash

    def read_block(self, number: int) -> Documents:
        """Return all documents of a block, in narrow types; those of late are kept."""
        with self._lock:
            if number in self._blocks:
                self._blocks.move_to_end(number)
                return self._blocks[number]
            shard, own = self._find(number)
            block = self._shard(shard).read(own)
            if len(block) != self._block_sizes[number]:
                raise CorpusError(f"{self._place(shard)} has other blocks than the index says: build the corpus again.")
            self._blocks[number] = block
            if len(self._blocks) > _KEPT_BLOCKS:
                self._blocks.popitem(last=False)
            return block

    def info(self, start: int = 0, stop: int | None = None, names: Sequence[str] | None = None) -> DocumentInfo:
        """Return ids, titles, dates and groups of documents start, ..., stop - 1, as far as there are any."""
        cuts = np.concatenate([[0], np.cumsum(self._block_sizes)])
        stop = len(self) if stop is None else stop
        wanted = [name for name in self.index.known if names is None or name in names]
        found: dict[str, list[str]] = {name: [] for name in wanted}
        first, last = np.searchsorted(cuts, start, side="right") - 1, np.searchsorted(cuts, stop, side="left")
        for block in range(int(first), int(last)) if wanted else ():
            own = slice(max(0, start - int(cuts[block])), stop - int(cuts[block]))
            for name, texts in self._known(block, wanted).items():
                found[name] += texts[own]
        return DocumentInfo(**{f"{name}s": tuple(texts) for name, texts in found.items()})

    def check(self) -> Iterator[int]:
        """Read all documents and see that they are what was written; yield how many were read so far."""
        done = 0
        for number, rows in enumerate(self._block_sizes.tolist()):
            self.read_block(number)
            done += rows
            yield done

    def _known(self, number: int, names: Sequence[str]) -> dict[str, list[str]]:
        with self._lock:
            shard, own = self._find(number)
            return self._shard(shard).known(own, names)

    def block_costs(self, number: int) -> npt.NDArray[np.int64]:
        """Return the number of entries of each document of a block; words and counts are not read for it."""
        with self._lock:
            if number in self._blocks:
                return self._blocks[number].costs()
            shard, own = self._find(number)
            return self._shard(shard).entries(own)

    def _find(self, number: int) -> tuple[int, int]:
        """Return the shard of a block, and its number there."""
        shard = int(np.searchsorted(self._first_blocks, number, side="right")) - 1
        return shard, number - int(self._first_blocks[shard])

    def _place(self, shard: int) -> str:
        return self._folder.place(self.index.shards[shard].file)

    def _shard(self, number: int) -> ShardFile:
        """Return an open shard; those of late stay open."""
        if number in self._files:
            self._files.move_to_end(number)
            return self._files[number]
        shard, place = self.index.shards[number], self._place(number)
        try:
            file = self._folder.open_for_arrow(shard.file)
        except OSError as error:
            why = error.strerror or error
            raise CorpusError(f"{place} cannot be opened ({why}): get the file again, or build it again.") from error
        try:
            self._files[number] = ShardFile(file, place, self.n_words, self.index.vocabulary_hash, shard.hash)
        except BaseException:
            file.close()
            raise
        if len(self._files) > _OPEN_FILES:
            self._files.popitem(last=False)[1].close()
        return self._files[number]

    def _check_files(self) -> None:
        """Raise if a shard is missing, or has another size than it was written with."""
        there = self._folder.sizes()
        for shard in self.index.shards:
            place = self._folder.place(shard.file)
            if shard.file not in there:
                raise CorpusError(
                    f"there is no {place}, and the index says so: get it again, or build the corpus again."
                )
            if there[shard.file] != shard.bytes:
                raise CorpusError(
                    f"{place} has {there[shard.file]:,} bytes and not {shard.bytes:,}, so it is cut short or another "
                    "file: get it again, or build the corpus again."
                )

    def _words(self) -> tuple[str, ...] | None:
        """Return the words, if they have names."""
        if not self.index.has_vocabulary:
            return None
        place = self._folder.place(VOCABULARY)
        try:
            words = tuple(self._folder.read(VOCABULARY).decode().removesuffix("\n").split("\n"))
        except (OSError, UnicodeDecodeError) as error:
            raise CorpusError(f"{place} cannot be read ({error}): build the corpus again.") from error
        if hash_of_words(words, self.index.n_words) != self.index.vocabulary_hash:
            raise CorpusError(f"{place} is not the vocabulary that the corpus was written with: get that one again.")
        return words


def _index_of(folder: Folder) -> bytes:
    try:
        return folder.read(NAME)
    except OSError as error:
        if is_corpus(folder.where):
            raise CorpusError(f"{folder.place(NAME)} cannot be read ({error.strerror or error}).") from error
        there = is_url(folder.where) or os.path.exists(folder.where)
        why = "has no index.json in it" if there else "is not there"
        raise CorpusError(
            f"{folder.where} is no corpus, it {why}: give a folder that `ssvi corpus build` wrote."
        ) from error
