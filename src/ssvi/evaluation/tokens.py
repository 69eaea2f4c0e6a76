"""What the estimators of a document's marginal probability share: checked input, and one token's conditional.

Given topics beta, p(w | beta) sums over all assignments z of the document's tokens to topics, with theta integrated
out. A tally here holds alpha_k plus the number of tokens in topic k, so that a token of word v has

    p(z = k, w = v | other z) = tally_k beta_kv / sum(tally).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.backends.base import Backend
from ssvi.backends.shards import shards
from ssvi.backends.threads import Threads
from ssvi.batches.documents import Documents
from ssvi.evaluation.held_out import HeldOut
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.local_steps.lda.tokens import expand
from ssvi.numerics.compile import kernel
from ssvi.numerics.random import Keys, uniform
from ssvi.numerics.vectors import dot
from ssvi.typing import Array

Tokens = npt.NDArray[np.uint32]
Topics = npt.NDArray[np.int64]
Estimate = Callable[[npt.NDArray[np.int64], Tokens, npt.NDArray[np.int64], Array, Array, Keys, Array], None]
"""A kernel: (indptr, words, counts, beta by word, alpha, keys) to each document's log probability."""


@kernel
def draw_topic(row: Array, tally: Array, chance: float) -> int:
    """Return k with probability proportional to tally_k row_k."""
    level = chance * dot(tally, row)
    last = tally.size - 1
    for k in range(last):
        level -= tally[k] * row[k]
        if level < 0.0:
            return k
    return last


@kernel
def sweep(tokens: Tokens, by_word: Array, topics: Topics, tally: Array, backwards: bool, state: np.uint64) -> np.uint64:
    """Redraw each token's topic given all others, in one order or the other."""
    for i in range(tokens.size):
        n = tokens.size - 1 - i if backwards else i
        tally[topics[n]] -= 1.0
        chance, state = uniform(state)
        topics[n] = draw_topic(by_word[tokens[n]], tally, chance)
        tally[topics[n]] += 1.0
    return state


@kernel
def sequence(words: Tokens, counts: npt.NDArray[np.int64]) -> Tokens:
    """Return a document as a sequence: each word as often as it counts."""
    tokens = np.empty(counts.sum(), np.uint32)
    expand(words, counts, tokens)
    return tokens


def check_topics(topics: Array, alpha: Array, documents: Documents) -> None:
    """Raise a `ValueError` unless topics, prior and documents fit together."""
    if topics.ndim != 2 or alpha.shape != (topics.shape[0],):
        raise ValueError(
            f"topics must be topics x words, with one alpha for each topic; their shapes are {topics.shape} and "
            f"{alpha.shape}."
        )
    sums = topics.sum(axis=1)
    if not (np.isfinite(topics).all() and (topics >= 0).all() and np.allclose(sums, 1.0, atol=1e-6)):
        worst = int(np.argmax(np.abs(sums - 1.0)))
        raise ValueError(
            f"each topic must be a probability distribution over words; topic {worst} sums to {sums[worst]:.6g}."
        )
    if not (np.isfinite(alpha).all() and (alpha > 0).all()):
        raise ValueError("every alpha must be a positive number.")
    if documents.n_words != topics.shape[1]:
        raise ValueError(
            f"the documents have a vocabulary of {documents.n_words} words and the topics one of {topics.shape[1]}: "
            "count the documents' words over the vocabulary of the fit."
        )
    documents.check_not_negative("a held-out estimator")
    possible = topics.max(axis=0) > 0
    if not possible.all():
        used = documents.tight()
        impossible = np.flatnonzero(~possible[used.words] & (used.counts > 0))
        if impossible.size:
            raise ValueError(
                f"word {int(used.words[impossible[0]])} is in the documents and has probability 0 in every topic: "
                "smooth the topics, or leave the word out."
            )


def estimate(
    function: Estimate, topics: Array, alpha: Array, documents: Any, key: int, backend: Backend | None
) -> HeldOut:
    """Run an estimator's kernel on shards of the documents; each document has a random stream of its own."""
    documents = Documents.of(documents)
    topics, alpha = np.asarray(topics, dtype=float), np.asarray(alpha, dtype=float)
    check_topics(topics, alpha, documents)
    Gibbs().check(documents)
    tight = documents.tight()
    words, counts = tight.words.astype(np.uint32), tight.counts.astype(np.int64)
    by_word, keys = np.ascontiguousarray(topics.T), tight.content_keys(key)
    lengths = tight.lengths()
    log_probability = np.empty(len(tight))

    def run(piece: slice) -> None:
        indptr = tight.indptr[piece.start : piece.stop + 1]
        function(indptr, words, counts, by_word, alpha, keys[piece], log_probability[piece])

    for _ in (backend or Threads()).workers.map(run, shards(lengths.astype(np.int64))):
        pass
    return HeldOut(log_probability, lengths)
