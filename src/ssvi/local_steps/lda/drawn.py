"""Topics drawn from what a local step found, for what they say of eta.

Expected counts will not do: a word that is with each of ten topics by a tenth looks like a word that all ten have.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.batches.documents import Documents
from ssvi.local_steps.lda.tokens import TABLE_UNIT, UNIT_OF_TOKENS, add_tokens, count_word_tables
from ssvi.local_steps.lda.words import Prepared
from ssvi.models.lda import LDA
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys, uniform
from ssvi.typing import Array

_MOST_TOKENS = 100  # of one word in one document; all others say nothing new


@kernel
def _tokens_of(count: float, state: np.uint64) -> tuple[int, np.uint64]:
    """Return how many tokens stand for a count: a fraction is rounded at random, up or down."""
    if count >= _MOST_TOKENS:
        return _MOST_TOKENS, state
    whole = int(count)
    chance, state = uniform(state)
    return whole + (chance < count - whole), state


@kernel
def _draw_tables(
    indptr: npt.NDArray[np.int64],
    columns: npt.NDArray[np.uint32],
    counts: npt.NDArray[Any],
    weights: npt.NDArray[Any],
    mixtures: Array,
    keys: Keys,
    prior: Array,
    tables: npt.NDArray[np.int64],
) -> None:
    """Draw a topic for each token, in proportion to its word's weight times its document's; count their tables."""
    n_topics, size, filled = mixtures.shape[1], weights.shape[0], 0
    unit, sums = np.empty(UNIT_OF_TOKENS * n_topics, np.int64), np.empty(n_topics)
    topics, words = np.empty(_MOST_TOKENS, np.uint32), np.empty(_MOST_TOKENS, np.uint32)
    for d in range(indptr.size - 1):
        state = keys[d]
        for i in range(indptr[d], indptr[d + 1]):
            total = 0.0
            for k in range(n_topics):
                total += weights[columns[i], k] * mixtures[d, k]
                sums[k] = total
            count, state = _tokens_of(counts[i], state)
            words[:count] = columns[i]
            for token in range(count):
                chance, state = uniform(state)
                topics[token] = min(np.searchsorted(sums, chance * total, side="right"), n_topics - 1)
            filled = add_tokens(words, topics, count, size, prior, unit, filled, tables)
    count_word_tables(unit[:filled], size, prior, tables)


def drawn_word_tables(
    model: LDA, prepared: Prepared, documents: Documents, mixtures: Array, keys: Keys
) -> dict[str, Array]:
    """Return what documents with some weights of topics (documents x topics) say of eta, if the model learns it.

    See `ssvi.local_steps.lda.tokens.count_word_tables` for what it is.
    """
    if not model.learns_eta:
        return {}
    tables, prior = np.zeros(4, dtype=np.int64), np.array([model.eta, model.n_words])
    _draw_tables(
        documents.indptr, documents.words, documents.counts, prepared.weights, mixtures, keys, prior, tables
    )  # fmt: skip
    return {"word_tables": (tables * TABLE_UNIT).astype(np.float64)}
