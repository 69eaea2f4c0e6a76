"""Which words a text has, and in how many documents: exact however many there are, in memory that has a limit.

Words get numbers in the order in which they come. When there are too many of them they are put down on disk, sorted,
and numbers begin anew: a volume. In the end all volumes are gone through together, word by word.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.data.readers.base import WordFacts
from ssvi.data.readers.options import TextOptions

MOST_WORDS = 1_000_000
"""Words of a volume."""
_AT_ONCE = 1 << 16  # words of a volume that are read together

Numbers = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Chosen:
    """The words that are kept, in alphabetical order.

    Attributes
    ----------
    words : tuple of str
        They themselves.
    totals : integers
        How often each comes.
    places : list of arrays
        For each volume, the column of each of its numbers, -1 for words that are not kept.
    facts : WordFacts
        What became of others.

    """

    words: tuple[str, ...]
    totals: npt.NDArray[np.int64]
    places: list[Numbers]
    facts: WordFacts


class Dictionary:
    """Numbers for words, and how often each comes.

    Parameters
    ----------
    folder : Path
        Where volumes are put down.

    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._volumes = folder, list[tuple[Path, int]]()
        self._begin()

    def _begin(self) -> None:
        self.numbers: defaultdict[str, int] = defaultdict()
        self.numbers.default_factory = self.numbers.__len__  # a new word has the next number
        self._documents, self._totals = np.zeros(0, np.int64), np.zeros(0, np.int64)

    @property
    def volume(self) -> int:
        """The volume whose numbers are given now."""
        return len(self._volumes)

    def count(self, numbers: npt.NDArray[np.int64], counts: npt.NDArray[np.int64]) -> None:
        """Count words of some documents: a number for each different word of each, and how often that comes there.

        A volume that is full is closed.
        """
        size = len(self.numbers)
        self._documents = _grown(self._documents, size)
        self._totals = _grown(self._totals, size)
        self._documents[:size] += np.bincount(numbers, minlength=size)
        self._totals[:size] += np.bincount(numbers, weights=counts, minlength=size).astype(np.int64)
        if size > MOST_WORDS:
            self._close()

    def _close(self) -> None:
        """Put the words of a volume down, sorted."""
        import pyarrow as pa

        path = self._folder / f"words-{len(self._volumes):04d}.arrow"
        kinds = pa.schema(
            [("word", pa.string()), ("number", pa.int32()), ("documents", pa.int64()), ("total", pa.int64())]
        )
        order = sorted(self.numbers)
        size = len(order)
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, kinds) as stream:
            for start in range(0, size, _AT_ONCE):
                own = order[start : start + _AT_ONCE]
                numbers = np.array([self.numbers[word] for word in own], np.int32)
                columns = [pa.array(own), pa.array(numbers), self._documents[numbers], self._totals[numbers]]
                stream.write_batch(pa.record_batch(columns, schema=kinds))
        self._volumes.append((path, size))
        self._begin()

    def choose(self, text: TextOptions, n_documents: int) -> Chosen:
        """Return the words to keep: of enough and not too many documents, and of those the most frequent.

        It is what `ssvi.data.readers.counting` keeps.
        """
        if len(self.numbers):
            self._close()
        least, most = (limit if isinstance(limit, int) else limit * n_documents for limit in (text.min_df, text.max_df))
        if most < least:
            raise ValueError("max_df corresponds to < documents than min_df")
        places = [np.full(size, -1, np.int32) for _, size in self._volumes]
        kept, totals, found, rare, frequent = list[str](), list[int](), 0, 0, 0
        for word, documents, total, where in self._words():
            found += 1
            if documents < least:
                rare += 1
            elif documents > most:
                frequent += 1
            else:
                for volume, number in where:
                    places[volume][number] = len(kept)
                kept.append(word)
                totals.append(total)
        if not found:
            raise ValueError("empty vocabulary")
        if not kept:
            raise ValueError("no terms remain")
        return _limited(kept, np.array(totals, np.int64), places, text, (found, rare, frequent))

    def _words(self) -> Iterator[tuple[str, int, int, list[tuple[int, int]]]]:
        """Yield all words in their order: documents, total, and the volumes and numbers that each has."""
        rows = heapq.merge(*(_volume_rows(path, volume) for volume, (path, _) in enumerate(self._volumes)))
        word, documents, total, where = "", 0, 0, list[tuple[int, int]]()
        for own, volume, number, in_documents, times in rows:
            if where and own != word:
                yield word, documents, total, where
                documents, total, where = 0, 0, []
            word, documents, total = own, documents + in_documents, total + times
            where.append((volume, number))
        if where:
            yield word, documents, total, where


def _limited(
    kept: Sequence[str],
    totals: npt.NDArray[np.int64],
    places: list[Numbers],
    text: TextOptions,
    counted: tuple[int, int, int],
) -> Chosen:
    """Keep the most frequent words, if there are more than are wanted."""
    found, rare, frequent = counted
    beyond, order = 0, np.arange(len(kept))
    if text.max_features is not None and len(kept) > text.max_features:
        beyond = len(kept) - text.max_features
        order = np.sort(np.argsort(-totals, kind="stable")[: text.max_features])
        columns = np.full(len(kept) + 1, -1, np.int32)  # the last is for -1
        columns[order] = np.arange(len(order), dtype=np.int32)
        places = [columns[own] for own in places]
    words = tuple(kept[place] for place in order.tolist())
    return Chosen(words, totals[order], places, WordFacts(found, rare, frequent, beyond, len(words)))


def _volume_rows(path: Path, volume: int) -> Iterator[tuple[str, int, int, int, int]]:
    import pyarrow as pa

    with pa.OSFile(str(path), "rb") as file, pa.ipc.open_stream(file) as stream:
        for batch in stream:
            columns = [batch.column(name).to_pylist() for name in ("word", "number", "documents", "total")]
            for word, number, documents, total in zip(*columns, strict=True):
                yield word, volume, number, documents, total


def _grown(values: Any, size: int) -> Any:
    """Return an array with room for at least so many values."""
    return values if len(values) >= size else np.concatenate([values, np.zeros(max(size, len(values)), values.dtype)])
