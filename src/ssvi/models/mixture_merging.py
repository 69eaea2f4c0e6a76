"""Components of a mixture that are better one: pairs whose merging makes the bound on the evidence grow.

With lambda = eta + n, where n is what the rows of a component say, the bound has A(eta + n) - A(eta) of each component
and of the weights, and the entropy of each row's component. A merged component has the rows of both. No threshold is
needed: a second component costs what its parameters cost, and is worth what it explains.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from scipy.special import entr

from ssvi.families.dirichlet import Dirichlet
from ssvi.models.base import Block
from ssvi.models.rearranging import Rearrangement
from ssvi.typing import Array

_NEIGHBOURS = 5  # of each component, which it may be merged with
_LEAST_ROWS = 0.5  # of a component that is one


def merging(blocks: Mapping[str, Block], lam: Mapping[str, Array], probabilities: Array) -> Rearrangement | None:
    """Return the merges that make the bound grow, each component in one of them at most; nothing if there are none.

    Parameters
    ----------
    blocks : mapping
        `weights` (1 x K) and `components` (K x anything), and no others.
    lam : mapping
        Their lambda.
    probabilities : (rows, K)
        The components of some rows, which stand for all.

    """
    held = Dirichlet().seen(lam["weights"], blocks["weights"].prior)[0]
    pairs = _candidates(blocks["components"], lam["components"], held)
    if not len(pairs):
        return None
    gains = gains_of_merging(blocks, lam, probabilities, pairs)
    chosen: list[tuple[int, int]] = []
    free = np.ones(len(held), dtype=bool)
    for place in np.argsort(-gains, kind="stable"):
        first, second = pairs[place]
        if gains[place] > 0 and free[first] and free[second]:
            chosen.append((int(first), int(second)))
            free[[first, second]] = False
    fresh = {name: np.zeros((len(chosen), *(1,) * (len(block.shape) - 1))) for name, block in blocks.items()}
    return Rearrangement(tuple(chosen), fresh) if chosen else None


def gains_of_merging(
    blocks: Mapping[str, Block], lam: Mapping[str, Array], probabilities: Array, pairs: npt.NDArray[np.int64]
) -> Array:
    """Return by how much the bound grows with the merge of each pair, pairs x 2, on its own."""
    first, second = pairs.T
    block = blocks["components"]
    prior = np.broadcast_to(block.prior, block.shape)
    seen = block.family.seen(lam["components"], prior)
    own = _evidence(block, seen, prior)
    gains = _evidence(block, seen[first] + seen[second], prior[first]) - own[first] - own[second]
    held, weight = Dirichlet().seen(lam["weights"], blocks["weights"].prior)[0], float(blocks["weights"].prior.min())
    together = np.stack([held[first] + held[second] + weight, np.full(len(pairs), weight)], axis=-1)
    apart = np.stack([held[first] + weight, held[second] + weight], axis=-1)
    gains += Dirichlet().log_normalizer(together) - Dirichlet().log_normalizer(apart)
    unsure = entr(probabilities).sum(axis=0)
    lost = [entr(probabilities[:, i] + probabilities[:, j]).sum() - unsure[i] - unsure[j] for i, j in pairs]
    result: Array = gains + np.array(lost) * held.sum() / max(len(probabilities), 1)
    return result


def _evidence(block: Block, seen: Array, prior: Array) -> Array:
    """Return A(eta + n) - A(eta) of each component."""
    gained = block.family.log_normalizer(prior + seen) - block.family.log_normalizer(prior)
    result: Array = gained.reshape(len(seen), -1).sum(axis=1)
    return result


def _candidates(block: Block, lam: Array, held: Array) -> npt.NDArray[np.int64]:
    """Return pairs (larger, smaller) of components that have rows, each with the few that are nearest to it.

    The distance is that of two distributions which both have seen as much as one row, KL both ways.
    """
    used = np.flatnonzero(held >= _LEAST_ROWS)
    count = min(_NEIGHBOURS, len(used) - 1)
    if count < 1:
        return np.empty((0, 2), dtype=np.int64)
    prior = np.broadcast_to(block.prior, block.shape)
    seen = block.family.seen(lam, prior)[used].reshape(len(used), -1) / held[used][:, None]
    means = block.family.mean_stats(lam[used]).reshape(len(used), -1)
    across = np.einsum("im,jm->ij", seen, means)
    distance = np.diag(across)[:, None] + np.diag(across) - across - across.T
    np.fill_diagonal(distance, np.inf)
    near = np.argsort(distance, axis=1, kind="stable")[:, :count]
    found = {
        (int(i), int(j)) if (held[i], -i) > (held[j], -j) else (int(j), int(i))
        for i, row in zip(used, used[near], strict=True)
        for j in row
    }
    return np.array(sorted(found), dtype=np.int64)
