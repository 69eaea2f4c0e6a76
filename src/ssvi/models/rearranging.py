"""Components that are merged during a fit because they are copies, what they keep, and what takes their places."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse

from ssvi.batches.documents import Documents
from ssvi.families.base import ExponentialFamily
from ssvi.typing import Array

_NEIGHBOURS = 2, 10  # documents that a new topic is made of, at the least and at the most
_WORDS = 1_000.0  # that so many documents have, where a new topic is made of fewer than the most


def fewest_neighbours(documents: Documents) -> int:
    """Return how many documents a new topic is made of at the least: few if they are long."""
    return int(np.clip(np.ceil(_WORDS / max(documents.mean_length(), 1.0)), *_NEIGHBOURS))


@dataclass(frozen=True)
class Look:
    """Some groups of the data, and what the local step finds on them given the global parameters as they are."""

    groups: Any
    local: Callable[[], Mapping[str, Array]]


@dataclass(frozen=True)
class Rearrangement:
    """Pairs (component, near-copy of it); the copy keeps a part, or its place is taken by something new or is empty.

    Attributes
    ----------
    pairs : tuple of (int, int)
        The component that stays, and its copy.
    fresh : mapping of (pairs, ...) arrays
        What is added to the prior of each copy's place, by the name of the block. Components lie on a block's first
        axis, but on the last of a block of one row, which holds a weight for each.
    hyperparameters : mapping of arrays
        Those that change with it.
    kept : mapping of (pairs, ...) arrays
        The shares that a copy keeps of what it has seen, from 0 to 1, by the name of the block; by default none.

    """

    pairs: tuple[tuple[int, int], ...]
    fresh: Mapping[str, Array]
    hyperparameters: Mapping[str, Array] = field(default_factory=dict)
    kept: Mapping[str, Array] = field(default_factory=dict)

    def applied(self, name: str, family: ExponentialFamily, lam: Array, prior: Array) -> Array:
        """Return lambda of a block (or an average of it) after the change. What a copy does not keep, the other has."""
        new, prior = np.array(lam), np.broadcast_to(prior, lam.shape)
        arrays = new, prior, family.seen(lam, prior)  # a correction may have taken lambda below its prior
        rows, etas, seen = (array.T for array in arrays) if lam.shape[0] == 1 else arrays
        kept = self.kept.get(name, np.zeros(len(self.pairs)))
        for (stays, copy), fresh, share in zip(self.pairs, self.fresh[name], kept, strict=True):
            rows[stays] += (1.0 - share) * seen[copy]
            seen[stays] += (1.0 - share) * seen[copy]  # it may be a copy itself of one that comes later
            seen[copy] = share * seen[copy] + fresh
            rows[copy] = etas[copy] + seen[copy]
        return new

    def of(self, arrays: Mapping[str, Array], blocks: Mapping[str, Any]) -> dict[str, Array]:
        """Return lambda of all blocks (or averages of it, if there are any) after the change."""
        return {name: self.applied(name, blocks[name].family, lam, blocks[name].prior) for name, lam in arrays.items()}


def surprising_words(documents: Documents, weights: Array, topics: Array, count: int) -> Array:
    """Return word distributions of what the topics explain worst, `count` of them.

    Each is made of a document and those of which the same words are more frequent than its topics say. The first
    document is the one that all in all is furthest from what is expected of it (the Kullback-Leibler divergence, times
    its length); those that a distribution was made of are left out of the next.

    Parameters
    ----------
    documents : Documents
        Where to look.
    weights : (documents, K)
        Topic weights of each.
    topics : (K, V)
        Word probabilities.
    count : int
        How many distributions.

    """
    counts = documents.to_matrix().astype(float).tocoo()
    lengths = np.maximum(documents.lengths(), 1.0)
    rows, columns = counts.coords
    expected = np.einsum("ek,ke->e", weights[rows], topics[:, columns])
    excess = np.maximum(counts.data - lengths[rows] * expected, 0.0)
    far = np.bincount(rows, counts.data * np.log(counts.data / (lengths[rows] * expected)), len(documents))
    norms = np.sqrt(np.bincount(rows, excess**2, len(documents))).clip(1e-12)
    units = sparse.csr_array((excess / norms[rows], (rows, columns)), shape=counts.shape)
    result, free = np.empty((count, topics.shape[1])), np.ones(len(documents), dtype=bool)
    neighbours = int(np.clip(len(documents) // max(count, 1), fewest_neighbours(documents), _NEIGHBOURS[1]))
    for new in range(count):
        first = int(np.argmax(np.where(free, far, -np.inf)))
        likeness = np.where(free, units @ units[[first]].toarray()[0], -1.0)
        chosen = np.argsort(-likeness, kind="stable")[:neighbours]
        words = np.bincount(columns, np.where(np.isin(rows, chosen), excess, 0.0), topics.shape[1])
        result[new] = words / max(words.sum(), 1e-300)
        free[chosen] = False
    return result
