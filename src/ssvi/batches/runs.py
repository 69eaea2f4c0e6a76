"""Groups of different lengths that lie one after another in long arrays: their cuts, and how some are taken out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[np.int64]


def take_runs(indptr: Integers, chosen: npt.NDArray[np.integer]) -> tuple[Integers, Integers]:
    """Return the cuts of some groups put one after another, and where their entries are.

    Group n has entries indptr[n], ..., indptr[n + 1] - 1.

    >>> take_runs(np.array([0, 2, 3, 6]), np.array([2, 0]))
    (array([0, 3, 5]), array([3, 4, 5, 0, 1]))
    """
    starts, lengths = indptr[chosen], np.diff(indptr)[chosen]
    cuts = np.concatenate([[0], np.cumsum(lengths)])
    return cuts, np.arange(cuts[-1]) + np.repeat(starts - cuts[:-1], lengths)


def cuts_of(lengths: npt.ArrayLike, total: int, what: str) -> Integers:
    """Return the cuts of groups of given lengths, which must add up to `total`."""
    sizes = np.asarray(lengths)
    if sizes.ndim != 1 or not np.issubdtype(sizes.dtype, np.integer) or (sizes < 0).any():
        raise ValueError(f"lengths must be whole numbers of 0 or more, one for each of the {what}, not {lengths!r}.")
    if int(sizes.sum()) != total:
        raise ValueError(
            f"lengths add up to {int(sizes.sum()):,}, and there are {total:,} rows: they must be the same."
        )
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])


def group_rows(keys: npt.ArrayLike) -> tuple[npt.NDArray[np.generic], Integers, Integers]:
    """Return the different keys, in the order of their first row, the rows sorted by key, and the cuts between them.

    Rows of one key stay in their order, and need not stand together.

    >>> names, rows, indptr = group_rows(["b", "a", "b"])
    >>> names.tolist(), rows.tolist(), indptr.tolist()
    (['b', 'a'], [0, 2, 1], [0, 2, 3])
    """
    names, first, place = np.unique(np.asarray(keys), return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    own = rank[place.reshape(-1)]
    indptr = np.concatenate([[0], np.cumsum(np.bincount(own, minlength=len(names)))])
    return names[order], np.argsort(own, kind="stable"), indptr
