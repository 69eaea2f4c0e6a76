"""Which words a text has, and in how many documents: exact however many there are, in memory that has a limit.

Words get numbers in the order in which they come. When there are too many of them they are put down on disk, and
numbers begin anew: a volume. It lies in parts, by a hash of the words, so that one part of all volumes can be looked at
together. Which column a volume's words have is found when the volume is come to: no memory grows with their number.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.data.readers.base import WordFacts
from ssvi.data.readers.options import TextOptions

MOST_WORDS = 1_000_000
"""Words of a volume."""
PARTS = 256
"""Parts of a volume, a power of two."""

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
    places : function
        From a volume to the column of each of its numbers, -1 for words that are not kept.
    facts : WordFacts
        What became of others.

    """

    words: tuple[str, ...]
    totals: npt.NDArray[np.int64]
    places: Callable[[int], Numbers]
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
        """Put the words of a volume down, part by part."""
        import pyarrow as pa

        words = list(self.numbers)  # in the order of their numbers
        part = np.fromiter(map(hash, words), np.int64, len(words)) & (PARTS - 1)
        order = np.argsort(part, kind="stable").astype(np.int32)
        cuts = np.searchsorted(part[order], np.arange(PARTS + 1))
        columns = [pa.array(words, pa.string()).take(pa.array(order)), pa.array(order)]
        columns += [pa.array(values[order]) for values in (self._documents, self._totals)]
        whole = pa.record_batch(columns, names=["word", "number", "documents", "total"])
        path = self._folder / f"words-{len(self._volumes):04d}.arrow"
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, whole.schema) as writer:
            for start, stop in pairwise(cuts.tolist()):
                writer.write_batch(whole.slice(start, stop - start))
        self._volumes.append((path, len(words)))
        self._begin()

    def choose(self, text: TextOptions, n_documents: int) -> Chosen:
        """Return the words to keep: of enough and not too many documents, and of those the most frequent.

        It is what `ssvi.data.readers.counting` keeps.
        """
        import pyarrow as pa
        from pyarrow import compute

        if len(self.numbers):
            self._close()
        if not self._volumes:
            raise ValueError("empty vocabulary")
        least, most = (limit if isinstance(limit, int) else limit * n_documents for limit in (text.min_df, text.max_df))
        if most < least:
            raise ValueError("max_df corresponds to < documents than min_df")
        kept, totals, found, rare, frequent = list[Any](), list[npt.NDArray[np.int64]](), 0, 0, 0
        for part in range(PARTS):
            words, documents, own = self._counted(part)
            is_rare, is_frequent = documents < least, documents > most
            found, rare, frequent = found + len(words), rare + int(is_rare.sum()), frequent + int(is_frequent.sum())
            wanted = ~(is_rare | is_frequent)
            kept.append(words.filter(pa.array(wanted)))
            totals.append(own[wanted])
        every = pa.concat_arrays(kept)
        if not len(every):
            raise ValueError("no terms remain")
        order = np.asarray(compute.sort_indices(every))
        return self._limited(every.take(pa.array(order)), np.concatenate(totals)[order], text, (found, rare, frequent))

    def _counted(self, part: int) -> tuple[Any, npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the words of a part of all volumes, each once, in how many documents each is, and how often."""
        import pyarrow as pa

        batches = [self._read(path, [part])[0].drop_columns(["number"]) for path, _ in self._volumes]
        grouped = pa.Table.from_batches(batches).group_by("word").aggregate([("documents", "sum"), ("total", "sum")])
        words = grouped["word"].combine_chunks()
        return words, np.asarray(grouped["documents_sum"]), np.asarray(grouped["total_sum"])

    @staticmethod
    def _read(path: Path, parts: Iterable[int]) -> list[Any]:
        import pyarrow as pa

        with pa.OSFile(str(path), "rb") as file, pa.ipc.open_file(file) as reader:
            return [reader.get_batch(part) for part in parts]

    def _limited(
        self, words: Any, totals: npt.NDArray[np.int64], text: TextOptions, counted: tuple[int, int, int]
    ) -> Chosen:
        """Keep the most frequent words, if there are more than are wanted."""
        import pyarrow as pa

        found, rare, frequent = counted
        beyond = 0
        if text.max_features is not None and len(words) > text.max_features:
            beyond = len(words) - text.max_features
            order = np.sort(np.argsort(-totals, kind="stable")[: text.max_features])
            words, totals = words.take(pa.array(order)), totals[order]
        facts = WordFacts(found, rare, frequent, beyond, len(words))
        return Chosen(tuple(words.to_pylist()), totals, lambda volume: self._places(words, volume), facts)

    def _places(self, words: Any, volume: int) -> Numbers:
        """Return the column of each number of a volume, -1 for words that are not kept."""
        import pyarrow as pa
        from pyarrow import compute

        path, size = self._volumes[volume]
        own = pa.Table.from_batches(self._read(path, range(PARTS)))
        places: Numbers = np.empty(size, np.int32)
        places[np.asarray(own["number"])] = np.asarray(compute.index_in(own["word"], value_set=words).fill_null(-1))
        return places


def _grown(values: Any, size: int) -> Any:
    """Return an array with room for at least so many values."""
    return values if len(values) >= size else np.concatenate([values, np.zeros(max(size, len(values)), values.dtype)])
