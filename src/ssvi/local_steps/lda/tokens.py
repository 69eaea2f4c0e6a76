"""Documents as runs of tokens: what the samplers of LDA share."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.numerics.compile import kernel
from ssvi.numerics.simd import prefetch
from ssvi.numerics.special import digamma
from ssvi.typing import Array

TABLE_UNIT = 2.0**-24
"""What expected numbers of tables are whole multiples of."""

UNIT_OF_TOKENS = 200
"""For each topic, the tokens that are looked at together to learn eta. Many together would say more of it, and that
would be wrong: those few that are with a topic by mistake look like words that the topic has seldom."""

_AHEAD = np.uint64(6)  # tokens between asking for memory and using it


@kernel
def expand(columns: npt.NDArray[np.uint32], counts: npt.NDArray[Any], words: npt.NDArray[np.uint32]) -> None:
    """Write out each entry as often as it counts."""
    token = 0
    for i in range(columns.size):
        for _ in range(counts[i]):
            words[token] = columns[i]
            token += 1


def document_lengths(indptr: npt.NDArray[np.int64], counts: npt.NDArray[np.int32]) -> npt.NDArray[np.int64]:
    """Return the number of tokens of each document."""
    own = counts[indptr[0] : indptr[-1]]  # of a shard, whose entries are among others'
    before = np.concatenate([[0], np.cumsum(own, dtype=np.int64)])
    lengths: npt.NDArray[np.int64] = np.diff(before[indptr - indptr[0]])
    return lengths


def longest_first(lengths: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return documents by their lengths, the longest first and otherwise in their order."""
    return np.argsort(-lengths, kind="stable")


@kernel
def record(
    words: npt.NDArray[np.uint32],
    length: int,
    topics: npt.NDArray[np.uint32],
    sweeps: int,
    kept: int,
    statistics: npt.NDArray[Any],
) -> None:
    """Count the topics of the kept sweeps, token by token: then all that a word adds to lies close together.

    `topics` is a ring of kept + 1 sweeps x tokens.
    """
    for token in range(np.uint64(length)):
        soon = token + _AHEAD
        if soon < np.uint64(length):
            for sweep in range(sweeps - kept, sweeps):
                topic = topics[np.uint64(sweep % (kept + 1)), soon]
                prefetch(statistics, np.uint64(words[soon]), np.uint64(topic))
        word = words[token]
        for sweep in range(sweeps - kept, sweeps):
            statistics[word, topics[np.uint64(sweep % (kept + 1)), token]] += 1


@kernel
def count_tables(
    topics: npt.NDArray[np.uint32],
    length: int,
    alpha: npt.NDArray[Any],
    seen: npt.NDArray[Any],
    tables: npt.NDArray[Any],
) -> None:
    """Add what a document's topics say of alpha to `tables`, in units of `TABLE_UNIT`; `seen` is zeros, and stays so.

    For each topic it is alpha_k (psi(n_k + alpha_k) - psi(alpha_k)), the expected number of tables of n_k guests, and
    in the last place psi(n + sum alpha) - psi(sum alpha). Whole numbers add up to the same in any order.
    """
    for token in range(np.uint64(length)):
        topic = topics[token]
        share = float(alpha[topic]) / (float(alpha[topic]) + seen[topic])
        tables[topic] += np.int64(share / TABLE_UNIT + 0.5)
        seen[topic] += 1
    for token in range(np.uint64(length)):
        seen[topics[token]] = 0
    total = 0.0
    for k in range(alpha.size):
        total += float(alpha[k])
    tables[tables.size - 1] += np.int64((digamma(length + total) - digamma(total)) / TABLE_UNIT + 0.5)


@kernel
def _sort(numbers: npt.NDArray[np.int64]) -> None:
    """Sort numbers in place, by Shell's method: NumPy's own takes a second to compile, and most fits never sort."""
    gap = 1
    while gap < numbers.size // 9:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, numbers.size):
            number, place = numbers[i], i
            while place >= gap and numbers[place - gap] > number:
                numbers[place] = numbers[place - gap]
                place -= gap
            numbers[place] = number
        gap //= 3


@kernel
def count_word_tables(tokens: npt.NDArray[np.int64], size: int, prior: Array, tables: npt.NDArray[np.int64]) -> None:
    """Add what some tokens say of eta to `tables`, in units of `TABLE_UNIT`.

    Tokens are numbers topic * size + word, which are sorted here; `prior` is eta and V. Going through the tokens one by
    one, p is the chance that a token is not a copy of one before it, with the same topic and the same word: eta /
    (eta + those so far). Without its word being looked at it is V eta / (V eta + those of the topic so far). The four
    sums are those of p and p^2, first of the words that there are, then of words unseen.
    """
    _sort(tokens)
    eta, total = prior[0], prior[0] * prior[1]
    word, topic, same, of_topic = -1, -1, 0, 0
    for token in tokens:
        if token != word:
            word, same = token, 0
            if token // size != topic:
                topic, of_topic = token // size, 0
        seen, unseen = eta / (eta + same), total / (total + of_topic)
        tables[0] += np.int64(seen / TABLE_UNIT + 0.5)
        tables[1] += np.int64(seen * seen / TABLE_UNIT + 0.5)
        tables[2] += np.int64(unseen / TABLE_UNIT + 0.5)
        tables[3] += np.int64(unseen * unseen / TABLE_UNIT + 0.5)
        same += 1
        of_topic += 1


@kernel
def add_tokens(
    words: npt.NDArray[np.uint32], topics: npt.NDArray[np.uint32], length: int, size: int, prior: Array,
    unit: npt.NDArray[np.int64], filled: int, tables: npt.NDArray[np.int64],
) -> int:  # fmt: skip
    """Put a document's tokens into a unit, and count its tables whenever it is full; return how full it is."""
    for token in range(np.uint64(length)):
        unit[filled] = np.int64(topics[token]) * size + np.int64(words[token])
        filled += 1
        if filled == unit.size:
            count_word_tables(unit, size, prior, tables)
            filled = 0
    return filled
