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
    `rows[d]` are where its tallies and its word's weights begin, `old[d]` is the topic that the token leaves (`removed`
    is 1, or 0 in the first sweep), `uniforms[d]` the random number, and `new[d]` receives the topic. `last` is the last
    topic: rounding may point past it.
    """
    number = tally.dtype
    signature = types.void(tally, places, weights, rows, alpha, running, blocks, old, number, uniforms, last, new)

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
            self.add_at(tally, self.load_one(self._old, d), self._builder.fneg(self._removed))

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
    weights: npt.NDArray[Any],
    alpha: npt.NDArray[Any],
    n_topics: int,
    old_topics: npt.NDArray[np.uint32],
    new_topics: npt.NDArray[np.uint32],
    tally: npt.NDArray[Any],
    places: npt.NDArray[np.uint64],
    running: npt.NDArray[Any],
    states: Keys,
    first: bool,
    start: int | np.int64,
    stop: int,
) -> None:
    """Draw the topics of tokens start, ..., stop - 1 of eight documents, each given all others of its document."""
    number = weights.dtype.type
    unit, removed, width = number(2.0**-24), number(0 if first else 1), np.uint64(alpha.size)
    blocks, last = width // np.uint64(WIDTH), np.uint64(n_topics - 1)
    rows, old, new = np.zeros(TOGETHER, np.uint64), np.zeros(TOGETHER, np.uint64), np.zeros(TOGETHER, np.uint64)
    uniforms = np.zeros(TOGETHER, weights.dtype)
    for token in range(np.uint64(start), np.uint64(stop)):
        for d in range(np.uint64(TOGETHER)):
            rows[d] = np.uint64(words[token, d]) * width
            old[d] = old_topics[token, d]
            bits, states[d] = next_bits(states[d])
            uniforms[d] = number(np.int64(bits >> _SHIFT)) * unit
        _resample(tally, places, weights, rows, alpha, running, blocks, old, removed, uniforms, last, new)
        for d in range(np.uint64(TOGETHER)):
            new_topics[token, d] = new[d]


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
    """
    n_topics, n_documents, width = statistics.shape[1], indptr.size - 1, weights.shape[1]
    lengths, seen = document_lengths(indptr, counts), np.zeros(n_topics, np.int64)
    n_words, filled, unit = weights.shape[0], 0, np.empty(UNIT_OF_TOKENS * n_topics, np.int64)
    order, longest = longest_first(lengths)  # documents side by side are about equally long
    words = np.zeros((longest, TOGETHER), np.uint32)
    topics = np.zeros((kept + 1, longest, TOGETHER), np.uint32)
    # One document more than there are: where those that have ended go on counting, for nobody.
    tally = aligned((TOGETHER + 1) * width, weights)
    whole = WIDTH * _ROWS
    running = aligned((width + whole - 1) // whole * whole * TOGETHER, weights)
    running[:] = np.inf  # rows past the last vector are above any level
    places, states = np.zeros(TOGETHER, np.uint64), np.zeros(TOGETHER, np.uint64)
    ends = np.zeros(TOGETHER, np.uint64)  # the random states after the last sweep
    links = np.zeros(n_documents, np.int64)  # where documents begin in `chains`
    for d in range(1, n_documents):
        links[d] = links[d - 1] + lengths[d - 1]
    for begin in range(0, n_documents, TOGETHER):
        own = order[begin : begin + TOGETHER]
        for d in range(own.size):
            start, stop = indptr[own[d]], indptr[own[d] + 1]
            expand(columns[start:stop], counts[start:stop], words[:, d])
            ends[d] = keys[own[d]]
        tally[:] = 0
        for d in range(own.size if goes_on else 0):
            for token in range(lengths[own[d]]):
                topic = chains[links[own[d]] + token]
                topics[kept, token, d] = topic  # where the first sweep looks for the one before
                tally[d * width + topic] += 1
        for sweep in range(sweeps):
            old, new = topics[(sweep - 1) % (kept + 1)], topics[sweep % (kept + 1)]
            done = np.int64(0)  # of the type that it goes on with: another would be compiled for
            for d in range(TOGETHER):
                places[d], states[d] = (d if d < own.size else TOGETHER) * width, ends[d]
            for d in range(own.size - 1, -1, -1):  # the shortest document ends first
                end = lengths[own[d]]
                _advance(
                    words, weights.reshape(-1), alpha, n_topics, old, new, tally, places, running, states,
                    sweep == 0 and not goes_on, done, end,
                )  # fmt: skip
                done, places[d], ends[d] = end, TOGETHER * width, states[d]
            if sweep >= sweeps - kept and tallies.size:
                for d in range(own.size):
                    for k in range(n_topics):
                        tallies[own[d], k] += tally[d * width + k]
        for d in range(own.size if statistics.size else 0):
            record(words[:, d], lengths[own[d]], topics[:, :, d], sweeps, kept, statistics)
        for d in range(own.size if tables.size else 0):
            count_tables(topics[(sweeps - 1) % (kept + 1), :, d], lengths[own[d]], alpha, seen, tables)
        for d in range(own.size if chains.size else 0):
            for token in range(lengths[own[d]]):
                chains[links[own[d]] + token] = topics[(sweeps - 1) % (kept + 1), token, d]
        if word_tables is not None:
            for d in range(own.size):
                last = topics[(sweeps - 1) % (kept + 1), :, d]
                filled = add_tokens(words[:, d], last, lengths[own[d]], n_words, word_prior, unit, filled, word_tables)
    if word_tables is not None:
        count_word_tables(unit[:filled], n_words, word_prior, word_tables)
