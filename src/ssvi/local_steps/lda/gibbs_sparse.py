"""The Gibbs kernel for many topics: a token costs its document's number of topics, not K.

p(z = k | other z, w) is proportional to (n_dk + alpha_k) beta_kw. It splits into n_dk beta_kw, over the topics that the
document uses, and alpha_k beta_kw, which does not change during a minibatch: running sums of it over every sixteen
topics, for each word, serve every draw from it.

A document's topics stand in slots, in the order of their first use, with their tallies beside them; sixteen slots make
a vector, for which sixteen weights of the word are gathered. A topic that has lost its last token keeps its slot until
the end of the sweep.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types

from ssvi.local_steps.lda.draw_code import DrawCode
from ssvi.local_steps.lda.expected import add_expected_sparse
from ssvi.local_steps.lda.gibbs_in_python import resample_sparse
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
from ssvi.numerics.simd import WIDTH, aligned_zeros, constant, loop, pack, variable

TOGETHER = 4  # documents sampled side by side, by trial
_SHIFT = np.uint64(40)  # leaves 24 random bits, as many as a single-precision number holds
_INT32, _INT64 = ir.IntType(32), ir.IntType(64)


@kernel
def prior_sums(weights: npt.NDArray[Any], alpha: npt.NDArray[Any], sums: npt.NDArray[Any]) -> None:
    """Fill a row a word with the running sums of alpha_k beta_kw over the first 16, 32, ... topics, then infinity."""
    blocks = weights.shape[1] // WIDTH
    for word in range(weights.shape[0]):
        total = 0.0
        for block in range(blocks):
            for k in range(block * WIDTH, (block + 1) * WIDTH):
                total += alpha[k] * weights[word, k]
            sums[word, block] = total
        sums[word, blocks:] = np.inf


@kernel
def to_packed(weights: npt.NDArray[np.float32], packed: npt.NDArray[np.uint16]) -> None:
    """Fill `packed` with weights in 16 bits each, and round the weights themselves to that."""
    pack(weights, packed)


@intrinsic(in_python=resample_sparse)
def _resample(
    _typing: Any,
    tally: Any,
    slots: Any,
    place: Any,
    used: Any,
    lists: Any,
    weights: Any,
    alpha: Any,
    prior: Any,
    words: Any,
    running: Any,
    blocks: Any,
    old: Any,
    removed: Any,
    uniforms: Any,
    new: Any,
) -> Any:
    """Draw a topic for one token of each of four documents, and count it.

    `lists[d]` is the number of document d's list: a row of `tally`, of `slots` (the topics), of `place` (a topic's
    slot, or the last slot of all if it has none; one more than there are topics) and of `used` (how many slots hold a
    topic). `blocks` vectors cover the slots of all four. `words[d]` is the word, `old[d]` the topic that the token
    leaves (`removed` is 1, or 0 in the first sweep), `uniforms[d]` the random number, and `new[d]` receives the topic.
    Partial sums go to `running`.
    """
    number = tally.dtype
    signature = types.void(
        tally, slots, place, used, lists, weights, alpha, prior, words, running, blocks, old, number, uniforms, new
    )

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = _ResampleCode(context, builder, number, signature.args, arguments)
        code.remove_old()
        code.draw()
        return context.get_dummy_value()

    return signature, codegen


class _ResampleCode(DrawCode):
    """Writes the instructions of `_resample`, part by part."""

    def __init__(self, context: Any, builder: Any, number: Any, kinds: Any, arguments: Any) -> None:
        names = (
            "tally", "slots", "place", "used", "lists", "weights", "alpha", "prior", "words", "running", "blocks",
            "old", "removed", "uniforms", "new",
        )  # fmt: skip
        given = dict(zip(names, arguments, strict=True))
        shapes = {}
        for name, kind in zip(names, kinds, strict=True):
            if isinstance(kind, types.Array):
                array = context.make_array(kind)(context, builder, given[name])
                given[name], shapes[name] = array.data, array.shape
        self._alpha, self._blocks, self._removed = given["alpha"], given["blocks"], given["removed"]
        self._old, self._uniforms, self._new = given["old"], given["uniforms"], given["new"]
        self._width = builder.extract_value(shapes["weights"], 1)
        capacity, topics = builder.extract_value(shapes["tally"], 1), builder.extract_value(shapes["place"], 1)
        self._prior_width = builder.extract_value(shapes["prior"], 1)
        self._nowhere, self._last_topic = builder.sub(capacity, constant(1)), builder.sub(topics, constant(2))
        super().__init__(context, builder, number, given["running"], TOGETHER)
        if kinds[names.index("weights")].dtype == number:
            self._load_weights, self._gather_weights = self.load, self.gather
        else:
            self._load_weights, self._gather_weights = self.load_packed, self.gather_packed
        lists = [self.load_one(given["lists"], d) for d in range(TOGETHER)]
        words = [self.load_one(given["words"], d) for d in range(TOGETHER)]

        def rows(name: str, size: Any, numbers: list[Any]) -> list[Any]:
            return [self.at(given[name], builder.mul(number, size)) for number in numbers]

        self._tallies, self._slots = rows("tally", capacity, lists), rows("slots", capacity, lists)
        self._places, self._used = rows("place", topics, lists), rows("used", constant(1), lists)
        self._weights, self._prior = rows("weights", self._width, words), rows("prior", self._prior_width, words)

    def remove_old(self) -> None:
        """Take the tokens out of their tallies."""
        for d, (tally, places) in enumerate(zip(self._tallies, self._places, strict=True)):
            slot = self._builder.zext(self.load_one(places, self.load_one(self._old, d)), _INT64)
            self.add_at(tally, slot, self._builder.fneg(self._removed))

    def draw(self) -> None:
        """Draw the topics from the documents' own or from the prior, and count them."""
        builder = self._builder
        last_block = builder.sub(builder.udiv(self._width, constant(WIDTH)), constant(1))
        levels, columns, rests = [], [], []
        for d, total in enumerate(self.add_up(self._blocks, self._factors)):
            prefix = self.running_sums(total)
            whole = builder.fadd(self.last(prefix), self.load_one(self._prior[d], last_block))
            level = builder.fmul(self.load_one(self._uniforms, d), whole)
            column, rest = self.find_column(prefix, level)
            levels.append(builder.fsub(level, self.last(prefix)))
            columns.append(column)
            rests.append(rest)
        hits = self.find_rows(self._blocks, 1, columns, rests)
        for d, (hit, column, level) in enumerate(zip(hits, columns, levels, strict=True)):
            slot = builder.add(builder.mul(hit, constant(WIDTH)), column)
            # Rounding may point past the last topic.
            slot = variable(builder, self.smaller(slot, builder.sub(builder.load(self._used[d]), constant(1))))
            with builder.if_then(builder.fcmp_ordered(">=", level, ir.Constant(self.number, 0.0)), likely=False):
                builder.store(self._make_place(d, self._from_prior(d, level, last_block)), slot)
            where = builder.load(slot)
            topic = self.load_one(self._slots[d], where)
            builder.store(builder.zext(topic, _INT64), self.at(self._new, d))
            self.add_at(self._tallies[d], where, ir.Constant(self.number, 1.0))

    def _factors(self, start: Any) -> list[tuple[Any, Any]]:
        return [
            (self.load(self.at(tally, start)), self._gather_weights(weights, self.at(slots, start)))
            for tally, slots, weights in zip(self._tallies, self._slots, self._weights, strict=True)
        ]

    def _from_prior(self, d: int, level: Any, last_block: Any) -> Any:
        """Return the topic at a level of the running sum of alpha_k beta_kw."""
        builder = self._builder
        beyond = variable(builder, constant(0))
        with loop(builder, builder.udiv(self._prior_width, constant(WIDTH))) as turn:
            sums = self.load(self.at(self._prior[d], builder.mul(turn, constant(WIDTH))))
            builder.store(builder.add(builder.load(beyond), self.count_up_to(sums, level)), beyond)
        block = self.smaller(builder.load(beyond), last_block)
        is_first = builder.icmp_unsigned("==", block, constant(0))
        before = self.load_one(self._prior[d], builder.select(is_first, block, builder.sub(block, constant(1))))
        rest = builder.fsub(level, builder.select(is_first, ir.Constant(self.number, 0.0), before))
        start = builder.mul(block, constant(WIDTH))
        weights = self._load_weights(self.at(self._weights[d], start))
        masses = builder.fmul(self.load(self.at(self._alpha, start)), weights)
        column = self.count_up_to(self.running_sums(masses), rest)
        return self.smaller(builder.add(start, column), self._last_topic)

    def _make_place(self, d: int, topic: Any) -> Any:
        """Return the slot of a topic, its own or a new one."""
        builder = self._builder
        used = builder.load(self._used[d])
        own = builder.zext(self.load_one(self._places[d], topic), _INT64)
        fresh = builder.icmp_unsigned("==", own, self._nowhere)
        slot = builder.select(fresh, used, own)
        builder.store(builder.add(used, builder.zext(fresh, _INT64)), self._used[d])
        builder.store(builder.trunc(slot, _INT32), self.at(self._places[d], topic))
        builder.store(builder.trunc(topic, _INT32), self.at(self._slots[d], slot))
        return slot


@kernel
def _advance(
    words: npt.NDArray[np.uint32],
    weights: npt.NDArray[Any],
    alpha: npt.NDArray[Any],
    prior: npt.NDArray[Any],
    old_topics: npt.NDArray[np.uint32],
    new_topics: npt.NDArray[np.uint32],
    tally: npt.NDArray[Any],
    slots: npt.NDArray[np.uint32],
    place: npt.NDArray[np.uint32],
    used: npt.NDArray[np.uint64],
    lists: npt.NDArray[np.uint64],
    running: npt.NDArray[Any],
    states: Keys,
    first: bool,
    start: int | np.int64,
    stop: int,
    live: int,
) -> None:
    """Draw the topics of tokens start, ..., stop - 1 of four documents, each given all others of its document."""
    number = tally.dtype.type
    unit, removed, fill = number(2.0**-24), number(0 if first else 1), np.uint64(WIDTH - 1)
    own, old, new = np.zeros(TOGETHER, np.uint64), np.zeros(TOGETHER, np.uint64), np.zeros(TOGETHER, np.uint64)
    uniforms = np.zeros(TOGETHER, tally.dtype)
    for token in range(np.uint64(start), np.uint64(stop)):
        most = np.uint64(0)
        for d in range(np.uint64(TOGETHER)):
            own[d], old[d] = words[token, d], old_topics[token, d]
            bits, states[d] = next_bits(states[d])
            uniforms[d] = number(np.int64(bits >> _SHIFT)) * unit
            if d < np.uint64(live):
                most = max(most, used[d])
        blocks = (most + fill) // np.uint64(WIDTH)
        _resample(
            tally, slots, place, used, lists, weights, alpha, prior, own, running, blocks, old, removed, uniforms, new
        )
        for d in range(np.uint64(TOGETHER)):
            new_topics[token, d] = new[d]


@kernel
def _drop_empty(
    tally: npt.NDArray[Any], slots: npt.NDArray[np.uint32], place: npt.NDArray[np.uint32], used: int, empty: int
) -> int:
    """Give up the slots of topics without tokens; return how many are left."""
    left = 0
    for slot in range(used):
        topic, count = slots[slot], tally[slot]
        slots[slot], tally[slot], place[topic] = empty, 0, tally.size - 1
        if count > 0:
            slots[left], tally[left], place[topic] = topic, count, left
            left += 1
    return left


@kernel
def _sample(
    words: npt.NDArray[np.uint32],
    topics: npt.NDArray[np.uint32],
    tally: npt.NDArray[Any],
    slots: npt.NDArray[np.uint32],
    place: npt.NDArray[np.uint32],
    running: npt.NDArray[Any],
    lengths: npt.NDArray[np.int64],
    order: npt.NDArray[np.int64],
    indptr: npt.NDArray[np.int64],
    columns: npt.NDArray[np.uint32],
    counts: npt.NDArray[np.int32],
    weights: npt.NDArray[Any],
    alpha: npt.NDArray[Any],
    prior: npt.NDArray[Any],
    sweeps: int,
    kept: int,
    keys: Keys,
    statistics: npt.NDArray[Any],
    expected: bool,
    from_prior: npt.NDArray[np.float64],
    tallies: npt.NDArray[np.float64],
    tables: npt.NDArray[np.int64],
    word_prior: npt.NDArray[np.float64],
    word_tables: npt.NDArray[np.int64] | None,
) -> None:
    """Do what `gibbs_sparse` says, given room for it and the order of documents."""
    n_topics, n_documents, turns = statistics.shape[1], indptr.size - 1, topics.shape[0]
    masses = np.zeros(tally.shape[1] if expected else 0)
    seen = np.zeros(n_topics, np.int64)
    n_words, filled, unit = weights.shape[0], 0, np.empty(UNIT_OF_TOKENS * n_topics, np.int64)
    used, lists = np.zeros(TOGETHER + 1, np.uint64), np.zeros(TOGETHER, np.uint64)
    states, ends = np.zeros(TOGETHER, np.uint64), np.zeros(TOGETHER, np.uint64)
    for begin in range(0, n_documents, TOGETHER):
        own = order[begin : begin + TOGETHER]
        for d in range(own.size):
            start, stop = indptr[own[d]], indptr[own[d] + 1]
            expand(columns[start:stop], counts[start:stop], words[:, d])
            ends[d] = keys[own[d]]
        for sweep in range(sweeps):
            old, new = topics[(sweep - 1) % turns], topics[sweep % turns]
            done = np.int64(0)  # of the type that it goes on with: another would be compiled for
            for d in range(TOGETHER):
                lists[d], states[d] = d if d < own.size else TOGETHER, ends[d]
            for d in range(own.size - 1, -1, -1):  # the shortest document ends first
                end = lengths[own[d]]
                _advance(
                    words, weights, alpha, prior, old, new, tally, slots, place, used, lists, running, states,
                    sweep == 0, done, end, d + 1,
                )  # fmt: skip
                done, lists[d], ends[d] = end, TOGETHER, states[d]
            for d in range(own.size):
                used[d] = _drop_empty(tally[d], slots[d], place[d], used[d], n_topics)
                if sweep >= sweeps - kept and tallies.size:
                    for slot in range(used[d]):
                        tallies[own[d], slots[d, slot]] += tally[d, slot]
                if sweep >= sweeps - kept and statistics.size and expected:
                    add_expected_sparse(
                        words[:, d], new[:, d], lengths[own[d]], tally[d], slots[d], place[d], used[d], weights, prior,
                        alpha.size // WIDTH - 1, masses, statistics, from_prior,
                    )  # fmt: skip
        for d in range(TOGETHER + 1):
            for slot in range(used[d]):
                tally[d, slot] = 0
            used[d] = _drop_empty(tally[d], slots[d], place[d], used[d], n_topics)
        for d in range(own.size if statistics.size and not expected else 0):
            record(words[:, d], lengths[own[d]], topics[:, :, d], sweeps, kept, statistics)
        for d in range(own.size if tables.size else 0):
            count_tables(topics[(sweeps - 1) % turns, :, d], lengths[own[d]], alpha, seen, tables)
        if word_tables is not None:
            for d in range(own.size):
                last = topics[(sweeps - 1) % turns, :, d]
                filled = add_tokens(words[:, d], last, lengths[own[d]], n_words, word_prior, unit, filled, word_tables)
    if word_tables is not None:
        count_word_tables(unit[:filled], n_words, word_prior, word_tables)


def gibbs_sparse(
    indptr: npt.NDArray[np.int64],
    columns: npt.NDArray[np.uint32],
    counts: npt.NDArray[np.int32],
    weights: npt.NDArray[Any],
    alpha: npt.NDArray[Any],
    prior: npt.NDArray[Any],
    sweeps: int,
    kept: int,
    keys: Keys,
    statistics: npt.NDArray[Any],
    from_prior: npt.NDArray[np.float64],
    tallies: npt.NDArray[np.float64],
    tables: npt.NDArray[np.int64],
    word_prior: npt.NDArray[np.float64],
    word_tables: npt.NDArray[np.int64] | None,
) -> None:
    """Sample each document of a shard from a fresh start.

    Fills statistics (words x topics) and tallies (documents x topics) with counts summed over the last `kept` of
    `sweeps` sweeps, unless they have no rows (statistics in floating point count tokens by their probabilities, and
    leave to `from_prior`, words, what `with_prior` adds to them), `tables` with what the last sweep says of alpha
    (`count_tables`) and `word_tables`, unless it is None, with what it says of eta (`count_word_tables`): most fits do
    not learn that, and do not wait until it is compiled. The
    first sweep draws each token given those before it. Rows of `weights` and `alpha` are a whole number of vectors, and
    at least one column longer than there are topics (numbers like `alpha`, which is 0 past the last topic, or packed
    ones as 16-bit integers); `prior` are its `prior_sums`.
    """
    lengths = document_lengths(indptr, counts)
    # One list more than there are documents: where those that have ended go on counting, for nobody.
    lists = TOGETHER + 1, weights.shape[1] + WIDTH
    tally, slots = aligned_zeros(lists, alpha.dtype), aligned_zeros(lists, np.uint32)
    slots[:] = statistics.shape[1]
    place = np.full((TOGETHER + 1, statistics.shape[1] + 1), lists[1] - 1, np.uint32)
    running = aligned_zeros((TOGETHER * lists[1],), alpha.dtype)
    words = np.zeros((int(lengths.max(initial=0)), TOGETHER), np.uint32)
    expected = statistics.dtype.kind == "f"  # then sweeps are counted one by one
    topics = np.zeros((2 if expected else kept + 1, *words.shape), np.uint32)
    order = longest_first(lengths)  # documents side by side are about equally long
    _sample(
        words, topics, tally, slots, place, running, lengths, order, indptr, columns, counts, weights, alpha, prior,
        sweeps, kept, keys, statistics, expected, from_prior, tallies, tables, word_prior, word_tables,
    )  # fmt: skip
