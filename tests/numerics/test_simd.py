import numpy as np
import pytest
from numba import types
from numba.extending import intrinsic

from ssvi.numerics.compile import kernel
from ssvi.numerics.simd import LINE, SMALLEST_PACKED, WIDTH, VectorCode, aligned_zeros, pack, pack_in_python, prefetch


@intrinsic
def _gather_once(_typing, values, places, result):
    def codegen(context, builder, signature, arguments):
        code = VectorCode(context, builder, signature.args[2].dtype)
        source, numbers, target = (
            context.make_array(kind)(context, builder, array).data
            for kind, array in zip(signature.args, arguments, strict=True)
        )
        gather = code.gather if signature.args[0].dtype == signature.args[2].dtype else code.gather_packed
        code.store(gather(source, numbers), target)
        return context.get_dummy_value()

    return types.void(values, places, result), codegen


@kernel
def _gather(values, places, result):
    _gather_once(values, places, result)


@kernel
def _pack(values, packed):
    pack(values, packed)


@kernel
def _prefetch(matrix):
    prefetch(matrix, np.uint64(1), np.uint64(2))
    return matrix[1, 2]


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gather_is_indexing(dtype):
    rng = np.random.default_rng(0)
    values, places, result = rng.random(1_000).astype(dtype), np.zeros(WIDTH, np.uint32), np.zeros(WIDTH, dtype)
    for _ in range(20):
        places[:] = rng.integers(1_000, size=WIDTH)
        _gather(values, places, result)
        np.testing.assert_array_equal(result, values[places])


def _rounded(values):
    """Eleven significant bits, ties to even, by NumPy's own arithmetic of doubles."""
    fractions, exponents = np.frexp(np.maximum(values.astype(float), SMALLEST_PACKED))
    return np.ldexp(np.rint(fractions * 2.0**11), exponents - 11)


def test_packed_numbers_have_eleven_bits_down_to_the_smallest():
    """Numbers of all sizes, ties, both ends, what is below, and what is gathered back."""
    rng = np.random.default_rng(1)
    values = np.exp(rng.uniform(-50, 0, (30, 2 * WIDTH))).astype(np.float32)
    values[0] = np.ldexp((2 * np.arange(2 * WIDTH) + 2049) / 4096, -np.arange(2 * WIDTH))  # half way between two
    values[1, :6] = [1.0, np.nextafter(np.float32(1), np.float32(0)), SMALLEST_PACKED, 1e-20, 1e-42, 0.0]
    expected, packed = _rounded(values), aligned_zeros(values.shape, np.uint16)
    before, again, plainly = values.astype(float), values.copy(), packed.copy()
    pack_in_python(again, plainly)
    _pack(values, packed)
    np.testing.assert_array_equal(plainly, packed)
    np.testing.assert_array_equal(again, values)
    np.testing.assert_array_equal(values, expected)
    assert np.all(np.abs(values - before) <= np.maximum(before * 2.0**-11, SMALLEST_PACKED))
    as_half = before >= 2.0**-14  # where half precision has all its bits, it is the same
    np.testing.assert_array_equal(values[as_half], before.astype(np.float16)[as_half])
    places, result = rng.integers(packed.size - 1, size=WIDTH).astype(np.uint32), np.zeros(WIDTH, np.float32)
    _gather(packed.reshape(-1), places, result)
    np.testing.assert_array_equal(result, expected.reshape(-1)[places])


def test_prefetch_changes_nothing():
    matrix = np.arange(12.0).reshape(3, 4)
    assert _prefetch(matrix) == matrix[1, 2]


@pytest.mark.parametrize("dtype", [np.uint16, np.float32, np.float64])
def test_arrays_begin_with_a_cache_line(dtype):
    array = aligned_zeros((3, 5), dtype)
    assert array.shape == (3, 5)
    assert array.dtype == dtype
    assert not array.any()
    assert array.ctypes.data % LINE == 0
