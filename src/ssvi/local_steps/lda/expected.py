"""Tokens counted by their probabilities: what the Gibbs kernels record of a kept sweep, unless they count draws.

Given the topics of all other tokens of its document, a token has topic k with probability
(n_k + alpha_k) beta_kw / sum_j (n_j + alpha_j) beta_jw, where n leaves the token itself out. Once a
chain has forgotten its start, counts of these probabilities have the mean of counts of drawn topics and far less noise
(Rao and Blackwell), so that one sweep of them says more than eight of draws.

What is added is rounded to multiples of 2^-24. Sums of such numbers are exact in double precision, up to 2^29 tokens of
a word in a minibatch (counted once for each kept sweep), and so are the same in any order: shards may add to one array,
whichever comes first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import types

from ssvi.numerics.compile import intrinsic, kernel
from ssvi.numerics.simd import WIDTH, VectorCode, array_address, constant, loop, number_at, variable
from ssvi.typing import Array

_ROUNDING = 2.0**28
"""Doubles from here on, up to twice that, are multiples of 2^-24: adding it, then taking it away, rounds to these."""

_INT32, _DOUBLE = ir.IntType(32), ir.DoubleType()


def _add_in_python(
    tally: npt.NDArray[Any],
    begin: int,
    alpha: npt.NDArray[Any],
    weights: npt.NDArray[Any],
    row: int,
    topic: int,
    times: float,
    masses: npt.NDArray[Any],
    statistics: npt.NDArray[Any],
    word: int,
) -> None:
    """Do what `_add` does."""
    if statistics.dtype.kind != "f":
        return
    size, begin, row = alpha.size, int(begin), int(row)
    own = tally[begin : begin + size] + alpha
    own[topic] = (tally[begin + topic] - 1) + alpha[topic]
    masses[:size] = own * weights[row : row + size]
    share = alpha.dtype.type(times / masses[:size].sum())
    statistics[word] += (masses[:size] * share).astype(float) + _ROUNDING - _ROUNDING


@intrinsic(in_python=_add_in_python)
def _add(
    _typing: Any,
    tally: Any,
    begin: Any,
    alpha: Any,
    weights: Any,
    row: Any,
    topic: Any,
    times: Any,
    masses: Any,
    statistics: Any,
    word: Any,
) -> Any:
    """Add the probabilities of a token, `times` over, to a row of statistics; to whole numbers nothing is added.

    A document's tallies begin at `begin` and the word's weights at `row`; both, `alpha`, and rows of statistics are
    whole vectors. `topic` is the token's own, and `masses` room for as many numbers as alpha has.
    """
    number = alpha.dtype
    signature = types.void(
        tally, types.uint64, alpha, weights, types.uint64, types.uint64, number, masses, statistics, types.uint64
    )

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        if not isinstance(statistics.dtype, types.Integer):
            _AddCode(context, builder, number, signature.args, arguments).write()
        return context.get_dummy_value()

    return signature, codegen


class _AddCode(VectorCode):
    """Writes the instructions of `_add`."""

    def __init__(self, context: Any, builder: Any, number: Any, kinds: Any, arguments: Any) -> None:
        super().__init__(context, builder, number)
        tally, begin, self._alpha, weights, row, self._topic, self._times, self._masses, statistics, word = (
            array_address(context, builder, kind, value) if isinstance(kind, types.Array) else value
            for kind, value in zip(kinds, arguments, strict=True)
        )
        size = builder.extract_value(context.make_array(kinds[2])(context, builder, arguments[2]).shape, 0)
        self._tally, self._weights = self.at(tally, begin), self.at(weights, row)
        self._statistics = self.at(statistics, builder.mul(word, size))
        self._blocks = builder.udiv(size, constant(WIDTH))

    def write(self) -> None:
        """Write everything."""
        total = self._fill_masses()
        share = self.splat(self._builder.fdiv(self._times, total))
        wide = ir.VectorType(_DOUBLE, WIDTH)
        rounding = ir.Constant(wide, [ir.Constant(_DOUBLE, _ROUNDING)] * WIDTH)
        builder = self._builder
        with loop(builder, self._blocks) as block:
            start = builder.mul(block, constant(WIDTH))
            value = builder.fmul(self.load(self.at(self._masses, start)), share)
            value = value if value.type == wide else builder.fpext(value, wide)
            rounded = builder.fsub(builder.fadd(value, rounding), rounding)
            address = builder.bitcast(self.at(self._statistics, start), wide.as_pointer())
            before = builder.load(address)
            before.align = 8
            builder.store(builder.fadd(before, rounded), address).align = 8

    def _fill_masses(self) -> Any:
        """Write down (n_k + alpha_k) beta_kw for all topics, the token's own left out of n; return the sum."""
        builder, kind = self._builder, ir.VectorType(_INT32, WIDTH)
        total = variable(builder, self.zero)
        places = ir.Constant(kind, [ir.Constant(_INT32, i) for i in range(WIDTH)])
        topic = self.splat(builder.trunc(self._topic, _INT32), kind)
        minus_one = self.splat(ir.Constant(self.number, -1.0))
        with loop(builder, self._blocks) as block:
            start = builder.mul(block, constant(WIDTH))
            lanes = builder.add(places, self.splat(builder.trunc(start, _INT32), kind))
            own = builder.select(builder.icmp_unsigned("==", lanes, topic), minus_one, self.zero)
            others = builder.fadd(self.load(self.at(self._tally, start)), own)
            factor = builder.fadd(others, self.load(self.at(self._alpha, start)))
            mass = builder.fmul(factor, self.load(self.at(self._weights, start)))
            self.store(mass, self.at(self._masses, start))
            builder.store(builder.fadd(builder.load(total), mass), total)
        return self.last(self.running_sums(builder.load(total)))


@kernel
def add_expected(
    words: npt.NDArray[np.uint32],
    topics: npt.NDArray[np.uint32],
    length: int,
    tally: npt.NDArray[Any],
    begin: int,
    alpha: npt.NDArray[Any],
    weights: npt.NDArray[Any],
    masses: npt.NDArray[Any],
    statistics: npt.NDArray[Any],
) -> None:
    """Add the probabilities of a document's tokens after a sweep to statistics, words x topics in whole vectors.

    `tally` from `begin` on is how many tokens each topic has, and `weights` are in one row. Tokens that are the same
    word with the same topic, one after the other, have the same probabilities.
    """
    width, token = np.uint64(alpha.size), 0
    while token < length:
        word, topic, times = words[token], topics[token], 1
        while token + times < length and words[token + times] == word and topics[token + times] == topic:
            times += 1
        row = np.uint64(word) * width
        share = alpha.dtype.type(times)
        _add(tally, np.uint64(begin), alpha, weights, row, np.uint64(topic), share, masses, statistics, np.uint64(word))
        token += times


@kernel
def add_expected_sparse(
    words: npt.NDArray[np.uint32],
    topics: npt.NDArray[np.uint32],
    length: int,
    tally: npt.NDArray[Any],
    slots: npt.NDArray[np.uint32],
    place: npt.NDArray[np.uint32],
    used: int,
    weights: npt.NDArray[Any],
    prior: npt.NDArray[Any],
    last: int,
    masses: Array,
    statistics: npt.NDArray[Any],
    from_prior: Array,
) -> None:
    """Do what `add_expected` does, for a document whose topics stand in slots.

    What is n_k beta_kw of the probabilities goes to statistics; how much the rest is, which is alpha_k beta_kw, goes to
    `from_prior` of the word: all documents share it out in the same way (`with_prior`). `prior[:, last]` is the sum of
    alpha_k beta_kw of each word.
    """
    token = 0
    while token < length:
        word, topic, times = words[token], topics[token], 1
        while token + times < length and words[token + times] == word and topics[token + times] == topic:
            times += 1
        own, rest = np.int64(place[topic]), float(prior[word, last])
        total = rest
        for slot in range(used):
            count = float(tally[slot]) - (1.0 if slot == own else 0.0)
            masses[slot] = count * number_at(weights, np.uint64(word), np.uint64(slots[slot]))
            total += masses[slot]
        share = times / total
        for slot in range(used):
            statistics[word, slots[slot]] += (share * masses[slot] + _ROUNDING) - _ROUNDING
        from_prior[word] += (share * rest + _ROUNDING) - _ROUNDING
        token += times


@kernel
def with_prior(
    statistics: Array, from_prior: Array, weights: npt.NDArray[Any], alpha: npt.NDArray[Any], totals: npt.NDArray[Any]
) -> None:
    """Share out what words have from the prior, in proportion to alpha_k beta_kw, whose sums are `totals`."""
    for word in range(statistics.shape[0]):
        if from_prior[word] == 0.0:
            continue
        share = from_prior[word] / float(totals[word])
        for k in range(np.uint64(statistics.shape[1])):
            own = share * float(alpha[k]) * number_at(weights, np.uint64(word), k)
            statistics[word, k] += (own + _ROUNDING) - _ROUNDING
