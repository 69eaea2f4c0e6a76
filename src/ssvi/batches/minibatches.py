"""Minibatches without replacement."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ssvi.numerics.random import derive_key


def equal_cuts(n: int, most: int) -> list[int]:
    """Return where to cut n documents into as few minibatches as have `most` each at most: all of the same size, about.

    A last minibatch of what is left would, if it has few documents, have these stand for all data.

    >>> equal_cuts(10, 4)
    [0, 3, 6, 10]
    """
    count = -(-n // most)
    return [number * n // count for number in range(count + 1)] if count else [0]


def minibatches(n_documents: int, batch_size: int, seed: int, sweep: int) -> list[npt.NDArray[np.int64]]:
    """Return the rows of each minibatch of one sweep: every document once, in an order of the sweep's own.

    Minibatches have `batch_size` documents at most, and sizes that differ by one at most.

    >>> [sorted(rows.tolist()) for rows in minibatches(5, 5, seed=0, sweep=0)]
    [[0, 1, 2, 3, 4]]
    """
    order = np.random.default_rng(derive_key(seed, "minibatches", sweep)).permutation(n_documents)
    return [order[start:stop] for start, stop in pairwise(equal_cuts(n_documents, batch_size))]
