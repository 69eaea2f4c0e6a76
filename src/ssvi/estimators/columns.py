"""Columns by their names: which column of a model each column of some data is, and data put into a model's columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

Places = npt.NDArray[np.int64]


def check_names(names: Sequence[str], width: int) -> tuple[str, ...]:
    """Return a vocabulary as a tuple, if it has another word for each column."""
    if isinstance(names, str | Mapping) or not hasattr(names, "__len__"):
        raise ValueError(
            "vocabulary must be the words in the order of the columns, such as vectorizer.get_feature_names_out(), "
            f"not a {type(names).__name__}."
        )
    words = tuple(names)
    strange = [word for word in words if not isinstance(word, str)]
    if strange:
        raise ValueError(f"vocabulary must be strings, and {strange[0]!r} is none.")
    if len(words) != width:
        raise ValueError(f"vocabulary has {len(words):,} words, and X {width:,} columns: give one for each.")
    word, times = Counter(words).most_common(1)[0] if words else ("", 1)
    if times > 1:
        raise ValueError(f"vocabulary has {word!r} {times} times: words must be different to be told apart.")
    return tuple(map(str, words))


def places_of(names: Sequence[str], known: Sequence[str]) -> Places:
    """Return the place among `known` of each name; -1 for those that are not there."""
    there = {name: place for place, name in enumerate(known)}
    return np.array([there.get(name, -1) for name in names], dtype=np.int64)


def put_into_columns(X: Any, places: Places, width: int) -> Any:
    """Return a matrix of `width` columns with column i of X at places[i]; those at -1 are left out, others are 0."""
    kept = places >= 0
    is_sparse: bool = sparse.issparse(X)
    if is_sparse:
        rows = sparse.csr_array(sparse.csc_array(X)[:, np.flatnonzero(kept)])
        return sparse.csr_array((rows.data, places[kept][rows.indices], rows.indptr), shape=(rows.shape[0], width))
    result = np.zeros((X.shape[0], width), dtype=X.dtype)
    result[:, places[kept]] = X[:, kept]
    return result
