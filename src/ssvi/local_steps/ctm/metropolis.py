"""Metropolis local step of the correlated topic model: exact draws of log weights in the limit, z summed out.

A chain begins with a draw from Laplace's approximation N(m, S) and proposes m + c (x - m) + sqrt(1 - c^2) e with
e ~ N(0, S): such moves alone would draw from the approximation, and the exact density refuses some of them. A move
costs a look at each word, and no factor of a matrix. c follows from how many of the first moves were refused.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.batches.documents import Documents
from ssvi.checks import require_count, require_flag
from ssvi.local_steps.base import LocalStep
from ssvi.local_steps.ctm.documents import mirror
from ssvi.local_steps.ctm.modes import joint_height
from ssvi.local_steps.ctm.sampling import SamplingStep, add_drawn_topics, begin_chain, keep_sample
from ssvi.local_steps.lda.gibbs import Gibbs as LdaGibbs
from ssvi.local_steps.splits import gather, most_entries
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys, normal, uniform
from ssvi.numerics.vectors import dot
from ssvi.typing import Array

_FIRST_SCALE, _LARGEST_SCALE = 0.5, 0.95  # sqrt(1 - c^2)
_WANTED = 0.35  # share of moves to accept
_FORGOTTEN = 60  # moves after which a chain is anywhere
_ADAPTING = 12  # moves at the beginning, by which the scale is found


@kernel
def _move(
    rows: Array,
    counts: Array,
    precision: Array,
    pull: Array,
    mode: Array,
    turned: Array,
    scale: float,
    x: Array,
    noise: Array,
    theta: Array,
    height: float,
    vectors: Array,
    state: np.uint64,
) -> tuple[float, bool, np.uint64]:
    """Propose a move from x = mode + L^-T noise; return log p(y, x) less Laplace's, whether it moved, and the state."""
    other, trial, mixture = vectors[0], vectors[1], vectors[2]
    keeps = math.sqrt(1.0 - scale * scale)
    for k in range(x.size):
        fresh, state = normal(state)
        other[k] = keeps * noise[k] + scale * fresh
    for k in range(x.size):
        trial[k] = mode[k] + dot(turned[k, k:], other[k:])
    reached = joint_height(rows, counts, precision, pull, trial, mixture) + 0.5 * dot(other, other)
    chance, state = uniform(state)
    if math.log(chance) >= reached - height:
        return height, False, state
    x[:] = trial
    noise[:] = other
    theta[:] = mixture
    return reached, True, state


@kernel
def metropolis_documents(
    indptr: npt.NDArray[np.int64],
    columns: npt.NDArray[np.uint32],
    counts: Array,
    weights: Array,
    precision: Array,
    pull: Array,
    begin: Array,
    draws: int,
    moves: int,
    draws_topics: bool,
    keys: Keys,
    statistics: Array,
    total: Array,
    squares: Array,
    mixtures: Array,
) -> None:
    """Add the sums over draws to statistics (words x topics, but for the words' weights), total and squares.

    With no room in `total`, none of these is filled.
    """
    n_topics = begin.size
    buffer = np.empty((most_entries(indptr), n_topics))
    matrices, vectors = np.zeros((3, n_topics, n_topics)), np.empty((10, n_topics))
    x, noise, theta = np.empty(n_topics), np.empty(n_topics), np.empty(n_topics)
    nothing = counts[:0]
    for d in range(indptr.size - 1):
        first, last = indptr[d], indptr[d + 1]
        words, own = columns[first:last], counts[first:last]
        rows, mode, turned = gather(words, weights, buffer), begin.copy(), matrices[2]
        state = begin_chain(rows, own, precision, pull, mode, matrices, vectors, noise, x, keys[d])
        height = joint_height(rows, own, precision, pull, x, theta) + 0.5 * dot(noise, noise)
        scale = _FIRST_SCALE
        for number in range(_ADAPTING + draws * moves):
            height, moved, state = _move(
                rows, own, precision, pull, mode, turned, scale, x, noise, theta, height, vectors, state
            )
            if number < _ADAPTING:
                better = (1.0 if moved else 0.0) - _WANTED
                scale = min(_LARGEST_SCALE, scale * math.exp(better * 3.0 / (3.0 + number)))
            elif (number - _ADAPTING) % moves != moves - 1:
                continue
            elif draws_topics and total.size:
                state = add_drawn_topics(rows, words, own, theta, vectors[0], statistics, state)
                keep_sample(rows, words, nothing, x, theta, mixtures[d], statistics, total, squares)
            else:
                keep_sample(rows, words, own, x, theta, mixtures[d], statistics, total, squares)
    mirror(squares)


@dataclass(frozen=True)
class Metropolis(SamplingStep):
    """Draws of x_d given the views, which approach draws from the exact conditional as moves grow.

    Parameters
    ----------
    draws : int
        How many draws of each document's log weights are averaged.
    moves : int
        Moves between two draws.
    draws_topics : bool
        Whether topics of words are drawn as well, as a sampler of the posterior needs them. Otherwise words say of the
        topics what they do in the mean over z, which has less noise.

    """

    draws: int = 5
    moves: int = 4
    draws_topics: bool = False

    name = "metropolis"

    def __post_init__(self) -> None:
        super().__post_init__()
        require_count("draws", self.draws)
        require_count("moves", self.moves)
        require_flag("draws_topics", self.draws_topics)

    def sampler(self, model: Any) -> LocalStep:
        """Return one draw of each document and of its topics; after so many moves its start is forgotten."""
        return replace(self, draws=1, moves=_FORGOTTEN, draws_topics=True)

    def check(self, batch: Documents) -> None:
        """Raise unless every count is whole, if topics of words are drawn."""
        if self.draws_topics:
            LdaGibbs().check(batch)

    @property
    def documents(self) -> Callable[..., None]:
        """The kernel."""
        return metropolis_documents

    @property
    def options(self) -> tuple[int, int, bool]:
        """Draws and moves, and whether topics are drawn."""
        return self.draws, self.moves, self.draws_topics

    @property
    def averaged(self) -> int:
        """The draws."""
        return self.draws
