"""Minibatches without replacement."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ssvi.numerics.random import derive_key


def minibatches(n_documents: int, batch_size: int, seed: int, sweep: int) -> list[npt.NDArray[np.int64]]:
    """Return the rows of each minibatch of one sweep: every document once, in an order of the sweep's own.

    All minibatches have `batch_size` documents but the last, which has what is left.

    >>> [sorted(rows.tolist()) for rows in minibatches(5, 5, seed=0, sweep=0)]
    [[0, 1, 2, 3, 4]]
    """
    order = np.random.default_rng(derive_key(seed, "minibatches", sweep)).permutation(n_documents)
    return [order[start : start + batch_size] for start in range(0, n_documents, batch_size)]
