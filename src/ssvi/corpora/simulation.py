"""Corpora of any size that latent Dirichlet allocation has drawn: each document from a random stream of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ssvi.backends.workers import Workers
from ssvi.batches.documents import Documents
from ssvi.checks import require_count, require_positive
from ssvi.corpora.writer import ROWS, CorpusWriter
from ssvi.numerics.compile import kernel
from ssvi.numerics.gamma_variates import log_gamma_rows, log_gamma_variate
from ssvi.numerics.poisson import poisson
from ssvi.numerics.random import Keys, derive_key, derive_keys, keys_of, uniform
from ssvi.typing import Array

_TASKS = 16  # blocks that threads are handed at once


@dataclass(frozen=True)
class Simulation:
    """What is drawn. Another number of documents has the same first ones.

    Attributes
    ----------
    documents, words, topics : int
        How many there are.
    length : float
        The mean number of words of a document; the number is a Poisson draw.
    alpha, eta : float
        The priors of topic weights and of topics.
    seed : int
        The same numbers give the same corpus, bit for bit.

    """

    documents: int
    words: int = 8_000
    topics: int = 100
    length: float = 100.0
    alpha: float = 0.1
    eta: float = 0.05
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("documents", "words", "topics"):
            require_count(name, getattr(self, name))
        for name in ("length", "alpha", "eta"):
            require_positive(name, getattr(self, name))

    def draw_topics(self) -> Array:
        """Return the topics, topics x words; rows sum to 1."""
        logs = np.empty((self.topics, self.words))
        log_gamma_rows(np.full(logs.shape, self.eta), derive_keys(derive_key(self.seed, "topics"), self.topics), logs)
        weights = np.exp(logs - logs.max(axis=1, keepdims=True))
        topics: Array = weights / weights.sum(axis=1, keepdims=True)
        return topics

    def draw(self, start: int, stop: int, tables: AliasTables) -> Documents:
        """Return documents start, ..., stop - 1."""
        keys = keys_of(derive_key(self.seed, "documents"), np.arange(start, stop))
        lengths = np.empty(stop - start, np.int64)
        _draw_lengths(keys, self.length, lengths)
        begins = np.concatenate([[0], np.cumsum(lengths)])
        words = np.empty(begins[-1], np.int64)
        _draw_words(keys, self.alpha, begins, tables.thresholds, tables.others, words)
        words.sort()  # each is a document's number times V and a word's
        distinct = np.flatnonzero(np.diff(words, prepend=-1))
        counts = np.diff(np.append(distinct, len(words)))
        rows, columns = np.divmod(words[distinct], self.words)
        indptr = np.searchsorted(rows, np.arange(stop - start + 1))
        return Documents(indptr.astype(np.int64), columns.astype(np.int32), counts.astype(np.int32), self.words)


@dataclass(frozen=True)
class AliasTables:
    """Walker's tables of some distributions over words: a word in one look, however many there are.

    A draw is a place at random, and there `threshold` is the chance of the word itself; else it is the other one.
    """

    thresholds: npt.NDArray[np.float32]
    others: npt.NDArray[np.int32]

    @classmethod
    def of(cls, topics: Array) -> AliasTables:
        """Make the tables of distributions, a row each."""
        thresholds, others = np.empty(topics.shape, np.float32), np.empty(topics.shape, np.int32)
        for row, chances in enumerate(topics):
            _fill_alias(chances * len(chances), thresholds[row], others[row])
        return cls(thresholds, others)


def simulate(
    setting: Simulation,
    output: str | os.PathLike[str],
    *,
    n_jobs: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Write a corpus that LDA has drawn; `progress` is called with the number of documents written."""
    tables = AliasTables.of(setting.draw_topics())
    cuts = [*range(0, setting.documents, ROWS), setting.documents]
    tasks = list(pairwise(cuts))
    with CorpusWriter(output, setting.words) as writer, Workers(n_jobs) as workers:
        for first in range(0, len(tasks), _TASKS):
            drawn = workers.map(lambda own: setting.draw(*own, tables), tasks[first : first + _TASKS])
            for documents in drawn:
                writer.add(documents)
            if progress is not None:
                progress(tasks[: first + _TASKS][-1][1])


@kernel
def _fill_alias(scaled: Array, thresholds: npt.NDArray[np.float32], others: npt.NDArray[np.int32]) -> None:
    """Fill the table of chances times their number: small ones are filled up by large ones (Vose)."""
    size = scaled.size
    small, large = np.empty(size, np.int64), np.empty(size, np.int64)
    n_small, n_large = 0, 0
    for i in range(size):
        thresholds[i], others[i] = 1.0, i
        if scaled[i] < 1.0:
            small[n_small] = i
            n_small += 1
        else:
            large[n_large] = i
            n_large += 1
    while n_small > 0 and n_large > 0:
        n_small -= 1
        one, other = small[n_small], large[n_large - 1]
        thresholds[one], others[one] = scaled[one], other
        scaled[other] -= 1.0 - scaled[one]
        if scaled[other] < 1.0:
            n_large -= 1
            small[n_small] = other
            n_small += 1


@kernel
def _draw_lengths(keys: Keys, mean: float, lengths: npt.NDArray[np.int64]) -> None:
    """Draw how many words each document has; the stream of its words begins elsewhere."""
    for d in range(keys.size):
        length, _ = poisson(mean, keys[d] ^ np.uint64(0x5851F42D4C957F2D))
        lengths[d] = np.int64(length)


@kernel
def _draw_words(
    keys: Keys,
    alpha: float,
    begins: npt.NDArray[np.int64],
    thresholds: npt.NDArray[np.float32],
    others: npt.NDArray[np.int32],
    words: npt.NDArray[np.int64],
) -> None:
    """Draw each document's topic weights, and for each of its words a topic and a word of that."""
    n_topics, n_words = thresholds.shape
    reached = np.empty(n_topics)
    for d in range(keys.size):
        state, largest = keys[d], -np.inf
        for k in range(n_topics):
            reached[k], state = log_gamma_variate(alpha, state)
            largest = max(largest, reached[k])
        total = 0.0
        for k in range(n_topics):
            total += np.exp(reached[k] - largest)
            reached[k] = total
        for token in range(begins[d], begins[d + 1]):
            chance, state = uniform(state)
            level, low, high = chance * total, 0, n_topics - 1
            while low < high:
                middle = (low + high) // 2
                if reached[middle] < level:
                    low = middle + 1
                else:
                    high = middle
            chance, state = uniform(state)
            place = chance * n_words
            word = min(np.int64(place), n_words - 1)
            if place - word >= thresholds[low, word]:
                word = np.int64(others[low, word])
            words[token] = d * n_words + word
