"""Corpora that are read as they are needed: what the engine and the estimators ask of one."""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.batches.documents import Documents
from ssvi.batches.joining import joined
from ssvi.batches.minibatches import equal_cuts
from ssvi.batches.places import Piece, Place, in_order, places
from ssvi.batches.sizes import Sizes
from ssvi.numerics.random import derive_key

_SPREAD = 64  # blocks that rows which are set aside come from, at most


class Source(ABC):
    """A corpus in blocks, read as it is needed: what `fit` goes over where data is not in memory.

    `places` says which rows make each minibatch, `read` reads them, wherever it is called: a source can be sent to
    another process, and reads there what is asked of it. `slice` and `take` return documents in memory.
    """

    n_words: int
    sizes: Sizes
    vocabulary: tuple[str, ...] | None = None

    @property
    @abstractmethod
    def block_sizes(self) -> npt.NDArray[np.int64]:
        """The number of rows of each block."""

    @property
    @abstractmethod
    def content_hash(self) -> str:
        """A short text that two sources share if all of their documents are the same."""

    @abstractmethod
    def read_block(self, number: int) -> Documents:
        """Return all rows of a block; its arrays may be of any types of numbers."""

    def __len__(self) -> int:
        return int(self.block_sizes.sum())

    def places(self, batch_size: int, seed: int, sweep: int, first: int = 0) -> Iterator[Place]:
        """Yield where the rows of each minibatch of a sweep are, from minibatch `first` on."""
        return places(self.block_sizes, batch_size, seed, sweep, first)

    def read(self, place: Place) -> Any:
        """Return the documents of a place."""
        parts = [(self.read_block(piece.block), piece.rows) for piece in place.pieces]
        return joined(parts, self.n_words, are_small=self.is_whole() and self.longest() <= np.iinfo(np.int32).max)

    def costs(self, place: Place) -> npt.NDArray[np.int64]:
        """Return the number of entries of each document of a place, as `read(place).costs()` does."""
        own = [self.block_costs(piece.block)[piece.rows] for piece in place.pieces]
        return np.concatenate(own) if own else np.zeros(0, np.int64)

    def block_costs(self, number: int) -> npt.NDArray[np.int64]:
        """Return the number of entries of each row of a block."""
        return np.asarray(self.read_block(number).costs(), dtype=np.int64)

    def slice(self, start: int, stop: int) -> Any:
        """Return documents start, ..., stop - 1 in the order in which they are stored."""
        return self.read(in_order(self.block_sizes, start, stop))

    def take(self, rows: npt.NDArray[np.integer]) -> Any:
        """Return some documents, by their numbers, in the order given."""
        cuts = np.concatenate([[0], np.cumsum(self.block_sizes)])
        wanted, back = np.unique(np.asarray(rows, dtype=np.int64), return_inverse=True)
        blocks = np.searchsorted(cuts, wanted, side="right") - 1
        pieces = [
            Piece(int(block), (wanted[blocks == block] - cuts[block]).astype(np.int32)) for block in np.unique(blocks)
        ]
        return self.read(Place(tuple(pieces))).take(back.reshape(-1))

    def chunks(self, rows: int = 8_192) -> Iterator[tuple[int, Any]]:
        """Yield all documents as they are stored, so many at a time, each with the number of its first."""
        cuts = equal_cuts(len(self), rows)
        for start, stop in pairwise(cuts):
            yield start, self.slice(start, stop)

    def load(self) -> Loaded:
        """Return the same corpus in memory: fits go over it in the same order, and end with the same bits."""
        return Loaded(self.slice(0, len(self)), self.block_sizes, self.content_hash, self.vocabulary)

    def set_aside(self, count: int, seed: int) -> tuple[Source, Documents]:
        """Return the corpus without some documents, chosen by the seed, and these documents, in memory.

        They are spread evenly over some of the blocks, chosen by chance: all that are needed, and 64 if there are.
        """
        sizes, rng = self.block_sizes, np.random.default_rng(derive_key(seed, "set aside"))
        filled = rng.permutation(np.flatnonzero(sizes))
        several = max(_SPREAD, 2 * -(-count // max(1, int(sizes.max(initial=1)))))
        chosen = np.sort(filled[:several])
        share = _even_shares(sizes[chosen], count)
        left_out = {
            int(block): np.sort(rng.permutation(sizes[block])[:own]).astype(np.int32)
            for block, own in zip(chosen, share, strict=True)
            if own
        }
        aside = Source.read(self, Place(tuple(Piece(block, rows) for block, rows in left_out.items())))
        return Without(self, left_out, Sizes.of(aside)), aside

    def first(self, count: int) -> Source:
        """Return the first documents of the corpus, so many of them."""
        return self if count >= len(self) else First(self, count)

    def sample(self, count: int, seed: int = 0) -> Documents:
        """Return some documents of some blocks, in memory, chosen by the seed."""
        return self.set_aside(count, seed)[1]

    def to_matrix(self) -> Any:
        """Return documents x words counts as a sparse matrix: all of the corpus in memory."""
        return self.slice(0, len(self)).to_matrix()

    def lengths(self) -> npt.NDArray[np.float64]:
        """Return the number of words of each document; all of the corpus is read for it."""
        return np.concatenate([np.zeros(0), *(documents.lengths() for _, documents in self.chunks())])

    def is_whole(self) -> bool:
        """Tell whether every count is a whole number."""
        return self.sizes.whole

    def longest(self) -> float:
        """Return the number of words of the longest document."""
        return self.sizes.longest

    def total_length(self) -> float:
        """Return the number of words of all documents."""
        return self.sizes.tokens

    def mean_length(self) -> float:
        """Return the mean number of words of a document."""
        return self.sizes.tokens / max(1, len(self))

    def column_sums(self) -> npt.NDArray[np.float64]:
        """Return the sum of counts of each word; all of the corpus is read for it."""
        sums = np.zeros(self.n_words)
        for _, documents in self.chunks():
            sums += documents.column_sums()
        return sums


class Loaded(Source):
    """A corpus in memory that is gone over in the order of the one that it was read from."""

    def __init__(
        self,
        documents: Documents,
        block_sizes: npt.NDArray[np.int64],
        content_hash: str,
        vocabulary: tuple[str, ...] | None = None,
    ) -> None:
        self.documents, self.n_words, self.vocabulary = documents, documents.n_words, vocabulary
        self.sizes = Sizes.of(documents)
        self._block_sizes, self._content_hash = block_sizes, content_hash
        self._cuts = np.concatenate([[0], np.cumsum(block_sizes)])

    @property
    def block_sizes(self) -> npt.NDArray[np.int64]:
        """The number of rows of each block."""
        return self._block_sizes

    @property
    def content_hash(self) -> str:
        """That of the corpus that it was read from."""
        return self._content_hash

    def read_block(self, number: int) -> Documents:
        """Return all rows of a block, uncopied."""
        return self.documents.slice(int(self._cuts[number]), int(self._cuts[number + 1])).tight()


class First(Source):
    """The first documents of a corpus."""

    def __init__(self, source: Source, count: int) -> None:
        self.source, self.n_words, self.vocabulary = source, source.n_words, source.vocabulary
        cuts = np.minimum(np.concatenate([[0], np.cumsum(source.block_sizes)]), count)
        kept = np.diff(cuts)
        last = int(np.flatnonzero(kept)[-1]) + 1 if count else 0
        self._block_sizes: npt.NDArray[np.int64] = kept[:last]
        self.sizes = source.sizes.share(count / max(1, len(source)))

    @property
    def block_sizes(self) -> npt.NDArray[np.int64]:
        """The number of rows of each block, as far as they belong to the first."""
        return self._block_sizes

    @property
    def content_hash(self) -> str:
        """The source's, and how many documents there are."""
        return f"{self.source.content_hash}-first-{len(self)}"

    def read_block(self, number: int) -> Documents:
        """Return those rows of a block that belong to the first."""
        return self.source.read_block(number).slice(0, int(self._block_sizes[number])).tight()

    def block_costs(self, number: int) -> npt.NDArray[np.int64]:
        """Return the number of entries of those rows of a block that belong to the first."""
        return self.source.block_costs(number)[: self._block_sizes[number]]


class Without(Source):
    """A corpus without some of its documents."""

    def __init__(self, source: Source, left_out: Mapping[int, npt.NDArray[np.int32]], gone: Sizes) -> None:
        self.source, self.n_words, self.vocabulary = source, source.n_words, source.vocabulary
        self.sizes, self._left_out = source.sizes.without(gone), dict(left_out)
        self._block_sizes = source.block_sizes.copy()
        for block, rows in self._left_out.items():
            self._block_sizes[block] -= len(rows)

    @property
    def block_sizes(self) -> npt.NDArray[np.int64]:
        """The number of rows left of each block."""
        return self._block_sizes

    @property
    def content_hash(self) -> str:
        """The source's, and what is left out of it."""
        told = [(block, self._left_out[block].tolist()) for block in sorted(self._left_out)]
        return f"{self.source.content_hash}-{derive_key(0, repr(told)):016x}"

    def read_block(self, number: int) -> Documents:
        """Return the rows left of a block."""
        block = self.source.read_block(number)
        if number not in self._left_out:
            return block
        return block.take(np.delete(np.arange(len(block)), self._left_out[number]))

    def block_costs(self, number: int) -> npt.NDArray[np.int64]:
        """Return the number of entries of the rows left of a block."""
        return np.delete(self.source.block_costs(number), self._left_out.get(number, []))


class Mapped(Source):
    """A corpus whose documents a model sees in another form, batch by batch; `function` can be sent with it."""

    def __init__(self, source: Source, function: Callable[[Documents], Any], sizes: Sizes | None = None) -> None:
        self.source, self.function = source, function
        self.n_words, self.vocabulary, self.sizes = source.n_words, source.vocabulary, sizes or source.sizes

    @property
    def block_sizes(self) -> npt.NDArray[np.int64]:
        """The number of rows of each block."""
        return self.source.block_sizes

    @property
    def content_hash(self) -> str:
        """The source's: what is made of it follows from the model's parameters."""
        return self.source.content_hash

    def read_block(self, number: int) -> Any:
        """Return all rows of a block in their other form."""
        return self.function(self.source.read_block(number))

    def read(self, place: Place) -> Any:
        """Return the rows of a place in their other form."""
        return self.function(self.source.read(place))

    def set_aside(self, count: int, seed: int) -> tuple[Source, Any]:
        """Return the corpus without some rows, and these rows in their other form."""
        rest, aside = self.source.set_aside(count, seed)
        return Mapped(rest, self.function, self.sizes), self.function(aside)


class Chained(Source):
    """The documents of several corpora over the same words, one corpus after the other."""

    def __init__(self, sources: Sequence[Source]) -> None:
        self._sources = tuple(sources)
        self.n_words, self.vocabulary = sources[0].n_words, sources[0].vocabulary
        self.sizes = functools.reduce(Sizes.with_more, (source.sizes for source in sources))
        self._block_sizes = np.concatenate([source.block_sizes for source in sources])
        self._ends = np.cumsum([len(source.block_sizes) for source in sources])

    @property
    def block_sizes(self) -> npt.NDArray[np.int64]:
        """The number of rows of each block, of all corpora."""
        return self._block_sizes

    @property
    def content_hash(self) -> str:
        """Those of all corpora."""
        return "-".join(source.content_hash for source in self._sources)

    def read_block(self, number: int) -> Documents:
        """Return all rows of a block."""
        source, own = self._find(number)
        return source.read_block(own)

    def block_costs(self, number: int) -> npt.NDArray[np.int64]:
        """Return the number of entries of each row of a block."""
        source, own = self._find(number)
        return source.block_costs(own)

    def _find(self, number: int) -> tuple[Source, int]:
        """Return the corpus of a block, and the block's number there."""
        place = int(np.searchsorted(self._ends, number, side="right"))
        return self._sources[place], number - int(self._ends[place - 1] if place else 0)


def _even_shares(sizes: npt.NDArray[np.int64], count: int) -> list[int]:
    """Return how many rows to take of each block so that there are `count`, about as many of each.

    >>> _even_shares(np.array([10, 2, 10]), 9)
    [4, 2, 3]
    """
    shares, left = np.zeros(len(sizes), np.int64), min(count, int(sizes.sum()))
    while left:
        open_ = np.flatnonzero(shares < sizes)[:left]
        more = np.minimum(sizes[open_] - shares[open_], left // len(open_))
        shares[open_] += more
        left -= int(more.sum())
    return [int(share) for share in shares]
