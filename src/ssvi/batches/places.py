"""The order of a corpus that lies in blocks: which rows of which blocks make each minibatch of a sweep.

It is a pure function of the seed, the sweep, the sizes of the blocks and the size of a minibatch, never of who reads or
when. Blocks (of all shards) are put into an order by chance; the rows of a window of a few consecutive ones are mixed;
and what comes of that, window after window, is cut into minibatches of equal sizes. So a block is read once a sweep,
and a minibatch has rows of many parts of the corpus.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ssvi.batches.minibatches import equal_cuts
from ssvi.numerics.random import derive_key

Rows = npt.NDArray[np.int32]

WINDOW = 32
"""Blocks whose rows are mixed. Another number is another order: fits would not go on from their checkpoints."""


@dataclass(frozen=True)
class Piece:
    """Some rows of one block, in ascending order, counted from the block's first."""

    block: int
    rows: Rows

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class Place:
    """Where the rows of a minibatch are: small, and can be sent to whoever is to read them.

    The minibatch has the rows of the first piece, then those of the second, and so on.
    """

    pieces: tuple[Piece, ...]

    def __len__(self) -> int:
        return sum(map(len, self.pieces))

    def slice(self, start: int, stop: int) -> Place:
        """Return where rows start, ..., stop - 1 of the minibatch are."""
        cut, before = [], 0
        for piece in self.pieces:
            first, last = max(start - before, 0), min(stop - before, len(piece))
            if first < last:
                cut.append(Piece(piece.block, piece.rows[first:last]))
            before += len(piece)
        return Place(tuple(cut))


def places(sizes: npt.NDArray[np.integer], batch_size: int, seed: int, sweep: int, first: int = 0) -> Iterator[Place]:
    """Yield where the rows of each minibatch of a sweep are, from minibatch `first` on; every row comes once.

    Minibatches are cut as `ssvi.batches.minibatches` cuts them: `batch_size` rows at most, and sizes that differ by one
    at most.

    >>> [[(piece.block, piece.rows.tolist()) for piece in place.pieces] for place in places(np.array([2, 3]), 5, 0, 0)]
    [[(0, [0, 1]), (1, [0, 1, 2])]]
    """
    windows = _Windows(np.asarray(sizes, dtype=np.int64), seed, sweep)
    for start, stop in list(pairwise(equal_cuts(windows.rows, batch_size)))[first:]:
        yield windows.place(start, stop)


def in_order(sizes: npt.NDArray[np.integer], start: int, stop: int) -> Place:
    """Return where rows start, ..., stop - 1 of a corpus are, as it is stored.

    >>> [(piece.block, piece.rows.tolist()) for piece in in_order(np.array([2, 3]), 1, 4).pieces]
    [(0, [1]), (1, [0, 1])]
    """
    cuts = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    first, last = np.searchsorted(cuts, start, side="right") - 1, np.searchsorted(cuts, stop, side="left")
    pieces = []
    for block in range(int(first), int(last)):
        own = np.arange(max(start, cuts[block]), min(stop, cuts[block + 1])) - cuts[block]
        if len(own):
            pieces.append(Piece(block, own.astype(np.int32)))
    return Place(tuple(pieces))


class _Windows:
    """The rows of one sweep in their order: windows of blocks, each mixed when it is come to."""

    def __init__(self, sizes: npt.NDArray[np.int64], seed: int, sweep: int) -> None:
        self._sizes, self._key = sizes, (seed, "places", sweep)
        self._blocks = np.random.default_rng(derive_key(*self._key)).permutation(len(sizes))
        ends = np.cumsum(sizes[self._blocks])
        # Where each window begins in the order of rows, and where the last one ends.
        self._cuts = np.concatenate([np.zeros(1, np.int64), ends[WINDOW - 1 :: WINDOW], ends[-1:]])
        self.rows = int(self._cuts[-1])
        self._mixed: tuple[int, npt.NDArray[np.int64]] = (-1, np.zeros(0, np.int64))

    def place(self, start: int, stop: int) -> Place:
        """Return where rows start, ..., stop - 1 of the order are, sorted within each window."""
        number = int(np.searchsorted(self._cuts, start, side="right")) - 1
        pieces: list[Piece] = []
        while start < stop:
            begin, end = int(self._cuts[number]), min(stop, int(self._cuts[number + 1]))
            if start < end:
                pieces += self._pieces(number, np.sort(self._order(number)[start - begin : end - begin]))
                start = end
            number += 1
        return Place(tuple(pieces))

    def _order(self, number: int) -> npt.NDArray[np.int64]:
        if self._mixed[0] != number:
            rows = int(self._cuts[number + 1] - self._cuts[number])
            self._mixed = number, np.random.default_rng(derive_key(*self._key, number)).permutation(rows)
        return self._mixed[1]

    def _pieces(self, number: int, rows: npt.NDArray[np.int64]) -> Sequence[Piece]:
        """Return rows of a window, which are counted through all of its blocks, block by block."""
        own = self._blocks[number * WINDOW : (number + 1) * WINDOW]
        begins = np.concatenate([[0], np.cumsum(self._sizes[own])])
        cuts = np.searchsorted(rows, begins)
        return [
            Piece(int(block), (rows[first:last] - begins[i]).astype(np.int32))
            for i, (block, (first, last)) in enumerate(zip(own, pairwise(cuts), strict=True))
            if first < last
        ]
