"""The Gibbs kernel for up to some hundreds of topics: all K probabilities of a token, a vector at a time.

A token's topic has probability proportional to (n_dk + alpha_k) beta_kw. With sixteen topics in a register, going over
all of them takes fewer instructions than a list of the document's own topics, and there is no branch whose way depends
on a random number: the processor foresees everything, and works on eight documents at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types

from ssvi.local_steps.lda.draw_code import DrawCode
from ssvi.local_steps.lda.gibbs_in_python import resample_dense
from ssvi.local_steps.lda.tokens import (
    UNIT_OF_TOKENS,
    add_tokens,
    aligned,
    count_tables,
    count_word_tables,
    document_lengths,
    expand,
    longest_first,
    record,
)
from ssvi.numerics.compile import intrinsic, kernel
from ssvi.numerics.random import Keys, next_bits
from ssvi.numerics.simd import WIDTH, array_address, constant

_ROWS = 8  # running sums compared in one go; their number is a multiple of this
TOGETHER = 8  # documents sampled side by side, by trial
_SHIFT = np.uint64(40)  # leaves 24 random bits, as many as a single-precision number holds


@intrinsic(in_python=resample_dense)
def _resample(
    _typing: Any,
    tally: Any,
    places: Any,
    weights: Any,
    rows: Any,
    alpha: Any,
    running: Any,
    blocks: Any,
    old: Any,
    removed: Any,
    uniforms: Any,
    last: Any,
    new: Any,
) -> Any:
    """Draw a topic for one token of each of eight documents, and count it.

    Topics stand in `blocks` vectors, and partial sums of (tally + alpha) weights go to `running`. `places[d]` and
    `rows[d]` are where its tallies and its word's weights begin, `old[d]` is the topic that the token leaves
    (`removed[d]` is 1, or 0 in the first sweep), `uniforms[d]` the random number, and `new[d]` receives the topic.
    `last` is the last topic: rounding may point past it.
    """
    number = tally.dtype
    signature = types.void(tally, places, weights, rows, alpha, running, blocks, old, removed, uniforms, last, new)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = _ResampleCode(context, builder, number, signature.args, arguments)
        code.remove_old()
        code.count(code.draw())
        return context.get_dummy_value()

    return signature, codegen


class _ResampleCode(DrawCode):
    """Writes the instructions of `_resample`, part by part; each part goes over the eight documents."""

    def __init__(self, context: Any, builder: Any, number: Any, kinds: Any, arguments: Any) -> None:
        tally, places, weights, rows, self._alpha, running, self._blocks, self._old, self._removed, *last = (
            array_address(context, builder, kind, value) if isinstance(kind, types.Array) else value
            for kind, value in zip(kinds, arguments, strict=True)
        )
        self._uniforms, self._last, self._new = last
        self._turns = builder.lshr(builder.add(self._blocks, constant(_ROWS - 1)), constant(3))
        super().__init__(context, builder, number, running, TOGETHER)
        self._tallies = self.addresses(tally, places, TOGETHER)
        self._weights = self.addresses(weights, rows, TOGETHER)

    def remove_old(self) -> None:
        """Take the tokens out of their tallies."""
        for d, tally in enumerate(self._tallies):
            self.add_at(tally, self.load_one(self._old, d), self._builder.fneg(self.load_one(self._removed, d)))

    def draw(self) -> list[Any]:
        """Draw the topics."""
        columns, rests = [], []
        for d, total in enumerate(self.add_up(self._blocks, self._factors)):
            prefix = self.running_sums(total)
            level = self._builder.fmul(self.load_one(self._uniforms, d), self.last(prefix))
            column, rest = self.find_column(prefix, level)
            columns.append(column)
            rests.append(rest)
        hits = self.find_rows(self._turns, _ROWS, columns, rests)
        return [
            self.smaller(self._builder.add(self._builder.mul(hit, constant(WIDTH)), column), self._last)
            for hit, column in zip(hits, columns, strict=True)
        ]

    def count(self, topics: list[Any]) -> None:
        """Write down the topics, and put the tokens into their tallies."""
        for d, (tally, topic) in enumerate(zip(self._tallies, topics, strict=True)):
            self._builder.store(topic, self.at(self._new, d))
            self.add_at(tally, topic, ir.Constant(self.number, 1.0))

    def _factors(self, start: Any) -> list[tuple[Any, Any]]:
        prior = self.load(self.at(self._alpha, start))
        return [
            (self._builder.fadd(self.load(self.at(tally, start)), prior), self.load(self.at(weights, start)))
            for tally, weights in zip(self._tallies, self._weights, strict=True)
        ]


@kernel
def _advance(
    words: npt.NDArray[np.uint32],
    topics: npt.NDArray[np.uint32],
    weights: npt.NDArray[Any],
    alpha: npt.NDArray[Any],
    n_topics: int,
    at: npt.NDArray[np.uint64],
    removed: npt.NDArray[Any],
    tally: npt.NDArray[Any],
    places: npt.NDArray[np.uint64],
    running: npt.NDArray[Any],
    states: Keys,
    room: npt.NDArray[np.uint64],
    uniforms: npt.NDArray[Any],
    count: np.int64,
) -> None:
    """Draw the topics of the next `count` tokens of eight documents, each given all others of its document.

    `at` says where these tokens are: their words, their topics of the sweep before, and those of this one. What is in
    `room` and `uniforms` is of no use afterwards.
    """
    number = weights.dtype.type
    unit, width = number(2.0**-24), np.uint64(alpha.size)
    blocks, last = width // np.uint64(WIDTH), np.uint64(n_topics - 1)
    rows, old, new = room[0], room[1], room[2]
    for token in range(np.uint64(count)):
        for d in range(np.uint64(TOGETHER)):
            rows[d] = np.uint64(words[at[0, d] + token]) * width
            old[d] = topics[at[1, d] + token]
            bits, states[d] = next_bits(states[d])
            uniforms[d] = number(np.int64(bits >> _SHIFT)) * unit
        _resample(tally, places, weights, rows, alpha, running, blocks, old, removed, uniforms, last, new)
        for d in range(np.uint64(TOGETHER)):
            topics[at[2, d] + token] = new[d]


@kernel
def _next_sweep(
    at: npt.NDArray[np.uint64], removed: npt.NDArray[Any], place: int, sweep: int, kept: int, longest: int, first: bool
) -> None:
    """Go to the first token of a document, in a sweep of which the topics go round a ring."""
    ring = place * (kept + 1)
    at[0, place] = place * longest
    at[1, place] = (ring + (sweep + kept) % (kept + 1)) * longest
    at[2, place] = (ring + sweep % (kept + 1)) * longest
    removed[place] = 0 if first else 1


@kernel
def _begin(
    words: npt.NDArray[np.uint32],
    columns: npt.NDArray[np.uint32],
    counts: npt.NDArray[np.int32],
    former: npt.NDArray[np.uint32],
    before: npt.NDArray[np.uint32],
    tally: npt.NDArray[Any],
) -> None:
    """Write out the tokens of a document, and count the topics that they had `before`, if they had any."""
    expand(columns, counts, words)
    tally[:] = 0
    for token in range(before.size):
        former[token] = before[token]
        tally[before[token]] += 1


@kernel
def _end(
    words: npt.NDArray[np.uint32],
    topics: npt.NDArray[np.uint32],
    sweeps: int,
    alpha: npt.NDArray[Any],
    statistics: npt.NDArray[Any],
    seen: npt.NDArray[np.int64],
    tables: npt.NDArray[np.int64],
    chain: npt.NDArray[np.uint32],
) -> None:
    """Count what a document's tokens (columns of `topics`, a ring of sweeps) have found; see `gibbs_dense`."""
    last = topics[(sweeps - 1) % topics.shape[0]]
    if statistics.size:
        record(words, words.size, topics, sweeps, topics.shape[0] - 1, statistics)
    if tables.size:
        count_tables(last, words.size, alpha, seen, tables)
    for token in range(chain.size):
        chain[token] = last[token]


@kernel
def gibbs_dense(
    indptr: npt.NDArray[np.int64],
    columns: npt.NDArray[np.uint32],
    counts: npt.NDArray[np.int32],
    weights: npt.NDArray[Any],
    alpha: npt.NDArray[Any],
    sweeps: int,
    kept: int,
    keys: Keys,
    statistics: npt.NDArray[Any],
    tallies: npt.NDArray[np.float64],
    tables: npt.NDArray[np.int64],
    word_prior: npt.NDArray[np.float64],
    word_tables: npt.NDArray[np.int64] | None,
    chains: npt.NDArray[np.uint32],
    goes_on: bool,
) -> None:
    """Sample each document of a shard, from a fresh start or from where it stopped.

    Fills statistics (words x topics) and tallies (documents x topics) with counts summed over the last `kept` of
    `sweeps` sweeps, unless they have no rows, `tables` with what the last sweep says of alpha (`count_tables`) and
    `word_tables`, unless it is None, with what it says of eta (`count_word_tables`): most fits do not learn that, and
    do not wait until it is compiled.
    The first sweep draws each token given those before it. `chains`, unless it is empty, receives the topic of each
    token after the last sweep, document after document; a shard that `goes_on` begins with what is there. Rows of
    `weights`, and `alpha`, are a whole number of vectors, 0 past the last topic.

    Eight documents have a place each, and when one has had all its sweeps the next takes its place: so nothing waits
    for a longer neighbour. The longest come first, and only few short ones are alone at the end.
    """
    n_topics, n_documents, width = statistics.shape[1], indptr.size - 1, weights.shape[1]
    lengths, seen = document_lengths(indptr, counts), np.zeros(n_topics, np.int64)
    n_words, filled, unit = weights.shape[0], 0, np.empty(UNIT_OF_TOKENS * n_topics, np.int64)
    order, longest = longest_first(lengths)
    words = np.zeros((TOGETHER, longest), np.uint32)
    topics = np.zeros((TOGETHER, kept + 1, longest), np.uint32)
    # One place more than there are: where those without a document go on counting, for nobody.
    tally = aligned((TOGETHER + 1) * width, weights)
    whole = WIDTH * _ROWS
    running = aligned((width + whole - 1) // whole * whole * TOGETHER, weights)
    running[:] = np.inf  # rows past the last vector are above any level
    places, states = np.full(TOGETHER, TOGETHER * width, np.uint64), np.zeros(TOGETHER, np.uint64)
    at, room = np.zeros((3, TOGETHER), np.uint64), np.zeros((3, TOGETHER), np.uint64)
    removed, uniforms = np.zeros(TOGETHER, weights.dtype), np.zeros(TOGETHER, weights.dtype)
    documents, sweep = np.full(TOGETHER, -1, np.int64), np.zeros(TOGETHER, np.int64)
    left = np.zeros(TOGETHER, np.int64)  # tokens that the sweep of each place has still to draw; 0: it is free
    links = np.zeros(n_documents + 1, np.int64)  # where documents begin in `chains`
    for d in range(n_documents):
        links[d + 1] = links[d] + lengths[d]
    for d in range(TOGETHER):  # a place without a document goes over memory of its own
        _next_sweep(at, removed, d, 0, kept, longest, True)
    taken = 0
    while True:
        count = np.int64(0)
        for d in range(TOGETHER):
            if left[d] == 0 and taken < n_documents and lengths[order[taken]] > 0:
                own, taken = order[taken], taken + 1
                documents[d], sweep[d], left[d] = own, 0, lengths[own]
                states[d], places[d] = keys[own], d * width
                entries = slice(indptr[own], indptr[own + 1])
                before = chains[links[own] : links[own + 1]] if goes_on else chains[:0]
                # The first sweep looks for the one before in the last place of the ring.
                _begin(words[d], columns[entries], counts[entries], topics[d, kept], before, tally[d * width :][:width])
                _next_sweep(at, removed, d, 0, kept, longest, not goes_on)
            if left[d] > 0:
                count = left[d] if count == 0 else min(count, left[d])
        if count == 0:
            break
        _advance(
            words.reshape(-1), topics.reshape(-1), weights.reshape(-1), alpha, n_topics, at, removed, tally, places,
            running, states, room, uniforms, count,
        )  # fmt: skip
        for d in range(TOGETHER):
            if left[d] == 0:
                continue
            own = documents[d]
            at[:, d] += np.uint64(count)
            left[d] -= count
            if left[d] > 0:
                continue
            if sweep[d] >= sweeps - kept and tallies.size:
                for k in range(n_topics):
                    tallies[own, k] += tally[d * width + k]
            sweep[d] += 1
            if sweep[d] < sweeps:
                left[d] = lengths[own]
                _next_sweep(at, removed, d, sweep[d], kept, longest, False)
                continue
            tokens, found = words[d, : lengths[own]], topics[d, :, : lengths[own]]
            _end(tokens, found, sweeps, alpha, statistics, seen, tables, chains[links[own] : links[own + 1]])
            if word_tables is not None:
                last = found[(sweeps - 1) % (kept + 1)]
                filled = add_tokens(tokens, last, tokens.size, n_words, word_prior, unit, filled, word_tables)
            places[d] = TOGETHER * width
            _next_sweep(at, removed, d, 0, kept, longest, True)
    if word_tables is not None:
        count_word_tables(unit[:filled], n_words, word_prior, word_tables)
