"""Random streams that can be started anywhere: one 64-bit key for each (seed, purpose, step, row).

A stream is its key: a counter stepped by a fixed odd number and scrambled by a strong 64-bit mixer (SplitMix64).
Kernels pass the state along as a plain integer, so that a draw costs a few cycles and nothing is shared between
threads. Whoever handles document 17 of step 3 sees the same numbers.
"""

from __future__ import annotations

import hashlib
import math

import numpy as np
import numpy.typing as npt

from ssvi.numerics.compile import kernel

Keys = npt.NDArray[np.uint64]

_STRIDE = np.uint64(0x9E3779B97F4A7C15)
_MULTIPLIER_1 = np.uint64(0xBF58476D1CE4E5B9)
_MULTIPLIER_2 = np.uint64(0x94D049BB133111EB)
_SHIFT_27, _SHIFT_30, _SHIFT_31 = np.uint64(27), np.uint64(30), np.uint64(31)
_SHIFT_8, _SHIFT_12 = np.uint64(8), np.uint64(12)
_LOW_BYTE, _ONE_BIT = np.uint64(255), np.uint64(1)
_TO_UNIT = 2.0**-52  # with 53 bits, the half that keeps a draw off 0 could round it up to 1


@kernel
def scramble(value: np.uint64) -> np.uint64:
    """Mix the bits of a 64-bit integer so that neighbouring inputs have unrelated outputs."""
    value = (value ^ (value >> _SHIFT_30)) * _MULTIPLIER_1
    value = (value ^ (value >> _SHIFT_27)) * _MULTIPLIER_2
    return value ^ (value >> _SHIFT_31)


@kernel
def next_bits(state: np.uint64) -> tuple[np.uint64, np.uint64]:
    """Return 64 random bits and the state that follows."""
    state = state + _STRIDE
    return scramble(state), state


@kernel
def uniform(state: np.uint64) -> tuple[float, np.uint64]:
    """Return a uniform draw from the open interval (0, 1) and the state that follows."""
    bits, state = next_bits(state)
    return ((bits >> _SHIFT_12) + 0.5) * _TO_UNIT, state


_TAIL = 3.6541528853610088  # where the lowest of 256 slabs goes over into the tail


def _ziggurat(layers: int, tail: float) -> tuple[npt.NDArray[np.float64], ...]:
    """Edges and heights of `layers` slabs of equal area under exp(-x^2 / 2) on x > 0, the lowest with the tail."""
    density_at_tail = math.exp(-0.5 * tail * tail)
    area = tail * density_at_tail + math.sqrt(math.pi / 2) * math.erfc(tail / math.sqrt(2))
    edges = np.zeros(layers + 1)
    edges[0], edges[1] = area / density_at_tail, tail
    for i in range(2, layers):
        edges[i] = math.sqrt(-2 * math.log(area / edges[i - 1] + math.exp(-0.5 * edges[i - 1] ** 2)))
    return edges, np.exp(-0.5 * edges**2)


EDGES, _HEIGHTS = _ziggurat(256, _TAIL)


@kernel
def _normal_tail(state: np.uint64) -> tuple[float, np.uint64]:
    """Return a standard normal draw given that it exceeds the ziggurat's last edge (Marsaglia's method)."""
    while True:
        first, state = uniform(state)
        second, state = uniform(state)
        excess = -math.log(first) / _TAIL
        if -2.0 * math.log(second) > excess * excess:
            return _TAIL + excess, state


@kernel
def ziggurat_layer(bits: np.uint64) -> tuple[np.int64, float, float]:
    """Return what 64 random bits say: a slab, a sign, and a place in the slab."""
    layer = np.int64(bits & _LOW_BYTE)
    sign = 1.0 - 2.0 * float((bits >> _SHIFT_8) & _ONE_BIT)
    return layer, sign, (float(np.int64(bits >> _SHIFT_12)) + 0.5) * _TO_UNIT * EDGES[layer]


@kernel
def normal_from(bits: np.uint64, state: np.uint64) -> tuple[float, np.uint64]:
    """Return a standard normal draw (ziggurat) that begins with these bits, and the state that follows."""
    while True:
        layer, sign, value = ziggurat_layer(bits)
        if value < EDGES[layer + 1]:
            return sign * value, state
        if layer == 0:
            value, state = _normal_tail(state)
            return sign * value, state
        height, state = uniform(state)
        lower, upper = _HEIGHTS[layer], _HEIGHTS[layer + 1]
        if lower + height * (upper - lower) < math.exp(-0.5 * value * value):
            return sign * value, state
        bits, state = next_bits(state)


@kernel
def normal(state: np.uint64) -> tuple[float, np.uint64]:
    """Return a standard normal draw and the state that follows."""
    bits, state = next_bits(state)
    return normal_from(bits, state)


@kernel
def normal_rows(keys: Keys, out: npt.NDArray[np.float64]) -> None:
    """Fill `out` with standard normal draws, row i of the two-dimensional array from the stream `keys[i]`."""
    for row in range(out.shape[0]):
        state = keys[row]
        for column in range(out.shape[1]):
            out[row, column], state = normal(state)


def derive_key(seed: int, *path: int | str) -> int:
    """Return the 64-bit key of the stream named by `path` under `seed`.

    >>> derive_key(0, "draw", 3) == derive_key(0, "draw", 3) != derive_key(0, "draw", 4)
    True
    """
    parts = [part if isinstance(part, str) else int(part) for part in (seed, *path)]
    return int.from_bytes(hashlib.blake2b(repr(parts).encode(), digest_size=8).digest(), "little")


def derive_keys(key: int, count: int) -> Keys:
    """Return `count` keys below `key`: those of rows 0, 1, ..., count - 1."""
    return keys_of(key, np.arange(count))


def keys_of(key: int, rows: npt.NDArray[np.integer]) -> Keys:
    """Return the keys below `key` of some rows."""
    return keys_below(np.uint64(key), rows)


def keys_below(keys: Keys | np.uint64, rows: npt.NDArray[np.integer]) -> Keys:
    """Return the key of a row below each of some keys."""
    return scramble_array(keys + (rows.astype(np.uint64) + np.uint64(1)) * _STRIDE)


def scramble_array(values: Keys) -> Keys:
    """Do what `scramble` does, to each of many integers."""
    values = (values ^ (values >> _SHIFT_30)) * _MULTIPLIER_1
    values = (values ^ (values >> _SHIFT_27)) * _MULTIPLIER_2
    result: Keys = values ^ (values >> _SHIFT_31)
    return result
