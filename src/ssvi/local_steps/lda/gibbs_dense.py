"""The Gibbs kernel for up to some hundreds of topics: all K probabilities of a token, a vector at a time.

A token's topic has probability proportional to (n_dk + alpha_k) beta_kw. With sixteen topics in a register, going over
all of them takes fewer instructions than a list of the document's own topics, and there is no branch whose way depends
on a random number: the processor foresees everything, and works on eight documents at once.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types

from ssvi.local_steps.lda.draw_code import DrawCode
from ssvi.local_steps.lda.expected import add_expected
from ssvi.local_steps.lda.gibbs_in_python import resample_dense
from ssvi.local_steps.lda.tokens import (
    UNIT_OF_TOKENS,
    add_tokens,
    count_tables,
    count_word_tables,
    document_lengths,
    expand,
    longest_first,
    record,
)
from ssvi.numerics.compile import intrinsic, kernel
from ssvi.numerics.random import Keys, next_bits
from ssvi.numerics.simd import WIDTH, aligned_zeros, array_address, constant

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


class Places(NamedTuple):
    """Room for eight documents that are sampled side by side, each in a place of its own.

    Everything is made by NumPy, which takes no time to compile.

    Attributes
    ----------
    words : (8, longest) integers
        The words of each document's tokens.
    topics : (8, turns, longest) integers
        Their topics, in a ring of sweeps: of those that are looked at together, and one more.
    tally : (9 vectors,)
        How many tokens each topic has. The ninth is where places without a document count, for nobody.
    tallies : (8,) integers
        Where the tally of each place begins.
    running : numbers
        Partial sums of a token's probabilities.
    states : (8,) integers
        Random streams.
    at : (3, 8) integers
        Where the next tokens are: their words, their topics of the sweep before, and those of this one.
    removed : (8,)
        What a token takes out of its tally: 1, or 0 in the first sweep.
    uniforms, room : (8,), (3, 8)
        Of use to `_advance` alone.
    documents, sweep, left : (8,) integers
        Which document is there, its sweep, and the tokens that this has still to draw; 0: the place is free.

    """

    words: npt.NDArray[np.uint32]
    topics: npt.NDArray[np.uint32]
    tally: npt.NDArray[Any]
    tallies: npt.NDArray[np.uint64]
    running: npt.NDArray[Any]
    states: Keys
    at: npt.NDArray[np.uint64]
    removed: npt.NDArray[Any]
    uniforms: npt.NDArray[Any]
    room: npt.NDArray[np.uint64]
    documents: npt.NDArray[np.int64]
    sweep: npt.NDArray[np.int64]
    left: npt.NDArray[np.int64]

    @classmethod
    def empty(cls, longest: int, turns: int, alpha: npt.NDArray[Any]) -> Places:
        """Return free places for documents of so many tokens at most, whose topics go round a ring of so many turns."""
        width, number, whole = alpha.size, alpha.dtype, WIDTH * _ROWS
        running = aligned_zeros((-(-width // whole) * whole * TOGETHER,), number)
        running[:] = np.inf  # rows past the last vector are above any level
        at, ring = np.zeros((3, TOGETHER), np.uint64), np.arange(TOGETHER) * longest
        at[:] = ring, ring * turns, ring * turns  # without a document it goes over memory of its own
        return cls(
            words=np.zeros((TOGETHER, longest), np.uint32),
            topics=np.zeros((TOGETHER, turns, longest), np.uint32),
            tally=aligned_zeros(((TOGETHER + 1) * width,), number),
            tallies=np.full(TOGETHER, TOGETHER * width, np.uint64),
            running=running,
            states=np.zeros(TOGETHER, np.uint64),
            at=at,
            removed=np.zeros(TOGETHER, number),
            uniforms=np.zeros(TOGETHER, number),
            room=np.zeros((3, TOGETHER), np.uint64),
            documents=np.zeros(TOGETHER, np.int64),
            sweep=np.zeros(TOGETHER, np.int64),
            left=np.zeros(TOGETHER, np.int64),
        )


@kernel
def _advance(
    places: Places,
    words: npt.NDArray[np.uint32],
    topics: npt.NDArray[np.uint32],
    weights: npt.NDArray[Any],
    alpha: npt.NDArray[Any],
    n_topics: int,
    count: np.int64,
) -> None:
    """Draw the topics of the next `count` tokens of eight documents, each given all others of its document.

    `words`, `topics` and `weights` are in one row each.
    """
    number = weights.dtype.type
    unit, width = number(2.0**-24), np.uint64(alpha.size)
    blocks, last = width // np.uint64(WIDTH), np.uint64(n_topics - 1)
    at, states, uniforms, room = places.at, places.states, places.uniforms, places.room
    rows, old, new = room[0], room[1], room[2]
    for token in range(np.uint64(count)):
        for d in range(np.uint64(TOGETHER)):
            rows[d] = np.uint64(words[at[0, d] + token]) * width
            old[d] = topics[at[1, d] + token]
            bits, states[d] = next_bits(states[d])
            uniforms[d] = number(np.int64(bits >> _SHIFT)) * unit
        _resample(
            places.tally, places.tallies, weights, rows, alpha, places.running, blocks, old, places.removed, uniforms,
            last, new,
        )  # fmt: skip
        for d in range(np.uint64(TOGETHER)):
            topics[at[2, d] + token] = new[d]


@kernel
def _next_sweep(places: Places, place: int, removed: np.int64) -> None:
    """Go to the first token of a document, in a sweep of which the topics go round a ring."""
    _, turns, longest = places.topics.shape
    ring, sweep = place * turns, places.sweep[place]
    places.at[0, place] = place * longest
    places.at[1, place] = (ring + (sweep + turns - 1) % turns) * longest
    places.at[2, place] = (ring + sweep % turns) * longest
    places.removed[place] = removed


@kernel
def _begin(
    places: Places,
    place: int,
    document: int,
    columns: npt.NDArray[np.uint32],
    counts: npt.NDArray[np.int32],
    before: npt.NDArray[np.uint32],
    key: np.uint64,
    goes_on: bool,
) -> None:
    """Put a document into a place; count the topics that its tokens had `before`, if it goes on."""
    words, former, width = places.words[place], places.topics[place, -1], places.tally.size // (TOGETHER + 1)
    begin = place * width
    expand(columns, counts, words)
    for k in range(begin, begin + width):
        places.tally[k] = 0
    for token in range(before.size if goes_on else 0):
        former[token] = before[token]  # the first sweep looks for the one before in the last place of the ring
        places.tally[begin + before[token]] += 1
    places.documents[place], places.sweep[place] = document, 0
    places.states[place], places.tallies[place] = key, begin
    _next_sweep(places, place, np.int64(goes_on))


@kernel
def _end(
    places: Places,
    place: int,
    length: int,
    sweeps: int,
    alpha: npt.NDArray[Any],
    statistics: npt.NDArray[Any],
    expected: bool,
    seen: npt.NDArray[np.int64],
    tables: npt.NDArray[np.int64],
    chain: npt.NDArray[np.uint32],
) -> None:
    """Count what a document's tokens have found (see `gibbs_dense`), and free its place."""
    words, topics = places.words[place], places.topics[place]
    last = topics[(sweeps - 1) % topics.shape[0]]
    if statistics.size and not expected:
        record(words, length, topics, sweeps, topics.shape[0] - 1, statistics)
    if tables.size:
        count_tables(last, length, alpha, seen, tables)
    for token in range(chain.size):
        chain[token] = last[token]
    places.tallies[place] = np.uint64(places.tally.size // (TOGETHER + 1) * TOGETHER)
    places.sweep[place] = 0
    _next_sweep(places, place, np.int64(0))  # an integer like any other: numba compiles for each literal


@kernel
def _sample(
    places: Places,
    indptr: npt.NDArray[np.int64],
    columns: npt.NDArray[np.uint32],
    counts: npt.NDArray[np.int32],
    lengths: npt.NDArray[np.int64],
    order: npt.NDArray[np.int64],
    links: npt.NDArray[np.int64],
    flat: tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[Any]],
    alpha: npt.NDArray[Any],
    sweeps: int,
    kept: int,
    keys: Keys,
    statistics: npt.NDArray[Any],
    expected: bool,
    tallies: npt.NDArray[np.float64],
    seen: npt.NDArray[np.int64],
    tables: npt.NDArray[np.int64],
    word_prior: npt.NDArray[np.float64],
    word_tables: Any,
    unit: npt.NDArray[np.int64] | None,
    chains: npt.NDArray[np.uint32],
    goes_on: bool,
) -> None:
    """Do what `gibbs_dense` says, given room for it.

    `order` has the documents that have tokens, `links` says where their topics begin in `chains`, and `flat` is words,
    topics and weights in one row each.
    """
    n_topics, turns, taken, filled = tallies.shape[1], places.topics.shape[1], 0, 0
    n_words = flat[2].size // alpha.size
    left, sweep = places.left, places.sweep
    while True:
        count = np.int64(0)
        for d in range(TOGETHER):
            if left[d] == 0 and taken < order.size:
                own, taken = order[taken], taken + 1
                left[d] = lengths[own]
                start, stop = indptr[own], indptr[own + 1]
                before = chains[links[own] : links[own + 1]]
                _begin(places, d, own, columns[start:stop], counts[start:stop], before, keys[own], goes_on)
            if left[d] > 0:
                count = left[d] if count == 0 else min(count, left[d])
        if count == 0:
            break
        _advance(places, flat[0], flat[1], flat[2], alpha, n_topics, count)
        for d in range(TOGETHER):
            if left[d] == 0:
                continue
            own = places.documents[d]
            left[d] -= count
            for i in range(3):
                places.at[i, d] += np.uint64(count)
            if left[d] > 0:
                continue
            if sweep[d] >= sweeps - kept and tallies.size:
                for k in range(n_topics):
                    tallies[own, k] += places.tally[d * alpha.size + k]
            if sweep[d] >= sweeps - kept and statistics.size and expected:
                add_expected(
                    places.words[d], places.topics[d, sweep[d] % turns], lengths[own], places.tally, d * alpha.size,
                    alpha, flat[2], places.running, statistics,
                )  # fmt: skip
            sweep[d] += 1
            if sweep[d] < sweeps:
                left[d] = lengths[own]
                _next_sweep(places, d, np.int64(1))
                continue
            if unit is not None:
                tokens, last = places.words[d], places.topics[d, (sweeps - 1) % turns]
                filled = add_tokens(tokens, last, lengths[own], n_words, word_prior, unit, filled, word_tables)
            chain = chains[links[own] : links[own + 1]]
            _end(places, d, lengths[own], sweeps, alpha, statistics, expected, seen, tables, chain)
    if unit is not None:
        count_word_tables(unit[:filled], n_words, word_prior, word_tables)


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
    `sweeps` sweeps, unless they have no rows (statistics in floating point, which have as many columns as `weights`,
    count tokens by their probabilities, see `expected`), `tables` with what the last sweep says of alpha
    (`count_tables`) and `word_tables`, unless it is None, with what it says of eta (`count_word_tables`): most fits do
    not learn that, and do not wait until it is compiled.
    The first sweep draws each token given those before it. `chains`, unless it is empty, receives the topic of each
    token after the last sweep, document after document; a shard that `goes_on` begins with what is there. Rows of
    `weights`, and `alpha`, are a whole number of vectors, 0 past the last topic.

    Eight documents have a place each, and when one has had all its sweeps the next takes its place: so nothing waits
    for a longer neighbour. The longest come first, and only few short ones are alone at the end.
    """
    lengths = document_lengths(indptr, counts)
    order = longest_first(lengths)
    expected = statistics.dtype.kind == "f"  # then sweeps are counted one by one
    places = Places.empty(int(lengths.max(initial=0)), 2 if expected else kept + 1, alpha)
    flat = places.words.reshape(-1), places.topics.reshape(-1), weights.reshape(-1)
    links = np.concatenate([[0], np.cumsum(lengths)]) if chains.size else np.zeros(lengths.size + 1, np.int64)
    n_topics = tallies.shape[1]
    seen = np.zeros(n_topics, np.int64)
    unit = None if word_tables is None else np.empty(UNIT_OF_TOKENS * n_topics, np.int64)
    _sample(
        places, indptr, columns, counts, lengths, order[lengths[order] > 0], links, flat, alpha, sweeps, kept, keys,
        statistics, expected, tallies, seen, tables, word_prior, word_tables, unit, chains, goes_on,
    )  # fmt: skip
