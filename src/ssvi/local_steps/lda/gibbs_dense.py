"""The Gibbs kernel for up to some hundreds of topics: all K probabilities of a token, a vector at a time.

A token's topic has probability proportional to (n_dk + alpha_k) beta_kw. With sixteen topics in a register, going over
all of them takes fewer instructions than a list of the document's own topics, and there is no branch whose way depends
on a random number: the processor foresees everything, and works on four documents at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types

from ssvi.local_steps.lda.tokens import document_lengths, expand, record
from ssvi.numerics.compile import intrinsic, kernel
from ssvi.numerics.random import Keys, next_bits
from ssvi.numerics.simd import LINE, WIDTH, VectorCode, buffer, constant, loop, variable

_TOGETHER = 4  # documents sampled side by side
_ROWS = 8  # running sums compared in one go; their number is a multiple of this
_SHIFT = np.uint64(40)  # leaves 24 random bits, as many as a single-precision number holds
_INT64 = ir.IntType(64)


@intrinsic
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
    """Draw a topic for one token of each of four documents, and count it.

    Topics stand in `blocks` vectors. For document d, the vectors (tally + alpha) weights are added up one after the
    other, and all partial sums are kept in `running`; the total's sixteen columns then tell in which column the draw
    falls, and the column's partial sums in which vector. `places[d]` and `rows[d]` are where its tallies and its word's
    weights begin, `old[d]` is the topic that the token leaves (`removed` is 1, or 0 in the first sweep), `uniforms[d]`
    the random number, and `new[d]` receives the topic. `last` is the last topic: rounding may point past it.
    """
    number = tally.dtype
    signature = types.void(tally, places, weights, rows, alpha, running, blocks, old, number, uniforms, last, new)

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = _ResampleCode(context, builder, number, signature.args, arguments)
        code.remove_old()
        columns, rests = code.find_columns(code.add_up())
        code.count(columns, code.find_rows(columns, rests))
        return context.get_dummy_value()

    return signature, codegen


class _ResampleCode(VectorCode):
    """Writes the instructions of `_resample`, part by part; each part goes over the four documents."""

    def __init__(self, context: Any, builder: Any, number: Any, kinds: Any, arguments: Any) -> None:
        super().__init__(context, builder, number)
        tally, places, weights, rows, self._alpha, running, self._blocks, self._old, self._removed, *last = (
            self.pointer(kind, value) if isinstance(kind, types.Array) else value
            for kind, value in zip(kinds, arguments, strict=True)
        )
        self._uniforms, self._last, self._new = last
        self._chunks = builder.lshr(builder.add(self._blocks, constant(_ROWS - 1)), constant(3))
        documents = range(_TOGETHER)
        self._tallies = [self.at(tally, builder.load(self.at(places, d))) for d in documents]
        self._weights = [self.at(weights, builder.load(self.at(rows, d))) for d in documents]
        self._sums = [self.at(running, builder.mul(self._chunks, constant(d * _ROWS * WIDTH))) for d in documents]

    def count(self, columns: list[Any], hits: list[Any]) -> None:
        """Write down the topics, and put the tokens into their tallies."""
        builder = self._builder
        for d, (column, hit) in enumerate(zip(columns, hits, strict=True)):
            topic = builder.add(builder.mul(builder.load(hit), constant(WIDTH)), column)
            topic = builder.select(builder.icmp_unsigned("<", topic, self._last), topic, self._last)
            builder.store(topic, self.at(self._new, d))
            self.add_at(self._tallies[d], topic, ir.Constant(self.number, 1.0))

    def at(self, pointer: Any, index: Any) -> Any:
        """Return the address of an element."""
        return self._builder.gep(pointer, [index if isinstance(index, ir.Value) else constant(index)])

    def remove_old(self) -> None:
        """Take the tokens out of their tallies."""
        for d, tally in enumerate(self._tallies):
            self.add_at(tally, self._builder.load(self.at(self._old, d)), self._builder.fneg(self._removed))

    def add_up(self) -> list[Any]:
        """Add up probabilities vector by vector, keep all partial sums, return the last."""
        builder = self._builder
        totals = [variable(builder, self.zero) for _ in self._tallies]
        with loop(builder, self._blocks) as block:
            start = builder.mul(block, constant(WIDTH))
            prior = self.load(self.at(self._alpha, start))
            for tally, weights, sums, total in zip(self._tallies, self._weights, self._sums, totals, strict=True):
                share = builder.fadd(self.load(self.at(tally, start)), prior)
                value = self.multiply_add(share, self.load(self.at(weights, start)), builder.load(total))
                self.store(value, self.at(sums, start))
                builder.store(value, total)
        return [builder.load(total) for total in totals]

    def find_columns(self, totals: list[Any]) -> tuple[list[Any], list[Any]]:
        """Return the columns that the draws fall into, and how far into them."""
        builder, columns, rests = self._builder, [], []
        for d, total in enumerate(totals):
            prefix = self.running_sums(total)
            level = builder.fmul(builder.load(self.at(self._uniforms, d)), self.last(prefix))
            column = self.count_up_to(prefix, level)
            # What the columns before hold: 0 or one of the running sums, by way of memory.
            memory = buffer(builder, ir.ArrayType(self.number, WIDTH + 1))
            lower = builder.bitcast(memory, self.number.as_pointer())
            builder.store(ir.Constant(self.number, 0.0), lower)
            self.store(prefix, self.at(lower, 1))
            rests.append(builder.fsub(level, builder.load(self.at(lower, column))))
            inside = builder.icmp_unsigned("<", column, constant(WIDTH - 1))
            columns.append(builder.select(inside, column, constant(WIDTH - 1)))
        return columns, rests

    def find_rows(self, columns: list[Any], rests: list[Any]) -> list[Any]:
        """Count the partial sums of each draw's column that it lies beyond; return where the counts are."""
        builder = self._builder
        hits = [variable(builder, constant(0)) for _ in columns]
        with loop(builder, self._chunks) as chunk:
            start = builder.mul(chunk, constant(_ROWS * WIDTH))
            for sums, column, rest, hit in zip(self._sums, columns, rests, hits, strict=True):
                first = self.at(self.at(sums, column), start)
                for row in range(_ROWS):
                    below = builder.fcmp_ordered("<=", builder.load(self.at(first, row * WIDTH)), rest)
                    builder.store(builder.add(builder.load(hit), builder.zext(below, _INT64)), hit)
        return hits


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
    start: int,
    stop: int,
) -> None:
    """Draw the topics of tokens start, ..., stop - 1 of four documents, each given all others of its document."""
    number = weights.dtype.type
    unit, removed, width = number(2.0**-24), number(0 if first else 1), np.uint64(alpha.size)
    blocks, last = width // np.uint64(WIDTH), np.uint64(n_topics - 1)
    rows, old, new = np.zeros(_TOGETHER, np.uint64), np.zeros(_TOGETHER, np.uint64), np.zeros(_TOGETHER, np.uint64)
    uniforms = np.zeros(_TOGETHER, weights.dtype)
    for token in range(np.uint64(start), np.uint64(stop)):
        for d in range(np.uint64(_TOGETHER)):
            rows[d] = np.uint64(words[token, d]) * width
            old[d] = old_topics[token, d]
            bits, states[d] = next_bits(states[d])
            uniforms[d] = number(np.int64(bits >> _SHIFT)) * unit
        _resample(tally, places, weights, rows, alpha, running, blocks, old, removed, uniforms, last, new)
        for d in range(np.uint64(_TOGETHER)):
            new_topics[token, d] = new[d]


@kernel
def _aligned(size: int, like: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return a vector of zeros that begins with a cache line."""
    memory = np.zeros(size + LINE // like.itemsize, like.dtype)
    start = (-memory.ctypes.data % LINE) // like.itemsize
    return memory[start : start + size]


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
) -> None:
    """Sample each document of a shard from a fresh start.

    Fills statistics (words x topics) and tallies (documents x topics) with counts summed over the last `kept` of
    `sweeps` sweeps. The first sweep draws each token given those before it. Rows of `weights` are a whole number of
    vectors, 0 past the last topic.
    """
    n_topics, n_documents, width = statistics.shape[1], indptr.size - 1, weights.shape[1]
    lengths = document_lengths(indptr, counts)
    order = np.argsort(-lengths, kind="mergesort")  # documents side by side are about equally long
    longest = lengths.max() if n_documents else 0
    words = np.zeros((longest, _TOGETHER), np.uint32)
    topics = np.zeros((kept + 1, longest, _TOGETHER), np.uint32)
    # One document more than there are: where those that have ended go on counting, for nobody.
    tally = _aligned((_TOGETHER + 1) * width, weights)
    prior = _aligned(width, weights)
    prior[:n_topics] = alpha
    whole = WIDTH * _ROWS
    running = _aligned((width + whole - 1) // whole * whole * _TOGETHER, weights)
    running[:] = np.inf  # rows past the last vector are above any level
    places, states = np.zeros(_TOGETHER, np.uint64), np.zeros(_TOGETHER, np.uint64)
    ends = np.zeros(_TOGETHER, np.uint64)  # the random states after the last sweep
    for begin in range(0, n_documents, _TOGETHER):
        own = order[begin : begin + _TOGETHER]
        for d in range(own.size):
            start, stop = indptr[own[d]], indptr[own[d] + 1]
            expand(columns[start:stop], counts[start:stop], words[:, d])
            ends[d] = keys[own[d]]
        tally[:] = 0
        for sweep in range(sweeps):
            old, new = topics[(sweep - 1) % (kept + 1)], topics[sweep % (kept + 1)]
            done = 0
            for d in range(_TOGETHER):
                places[d], states[d] = (d if d < own.size else _TOGETHER) * width, ends[d]
            for d in range(own.size - 1, -1, -1):  # the shortest document ends first
                end = lengths[own[d]]
                _advance(
                    words, weights.reshape(-1), prior, n_topics, old, new, tally, places, running, states,
                    sweep == 0, done, end,
                )  # fmt: skip
                done, places[d], ends[d] = end, _TOGETHER * width, states[d]
            if sweep >= sweeps - kept:
                for d in range(own.size):
                    for k in range(n_topics):
                        tallies[own[d], k] += tally[d * width + k]
        for d in range(own.size):
            record(words[:, d], lengths[own[d]], topics[:, :, d], sweeps, kept, statistics)
