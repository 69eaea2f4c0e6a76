import numpy as np
import pytest
from numba import types

from ssvi.numerics.compile import intrinsic, kernel
from ssvi.numerics.simd import LINE, WIDTH, VectorCode, aligned_zeros, pack_half, prefetch


@intrinsic
def _gather_once(_typing, values, places, result):
    def codegen(context, builder, signature, arguments):
        code = VectorCode(context, builder, signature.args[2].dtype)
        source, numbers, target = (
            context.make_array(kind)(context, builder, array).data
            for kind, array in zip(signature.args, arguments, strict=True)
        )
        gather = code.gather if signature.args[0].dtype == signature.args[2].dtype else code.gather_half
        code.store(gather(source, numbers), target)
        return context.get_dummy_value()

    return types.void(values, places, result), codegen


@kernel
def _gather(values, places, result):
    _gather_once(values, places, result)


@kernel
def _pack(values, halves):
    pack_half(values, halves)


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


def test_half_precision_is_numpys_own():
    """Normal, subnormal and vanishing numbers, and what is gathered back."""
    rng = np.random.default_rng(1)
    values = np.exp(rng.uniform(-25, 0, (30, 2 * WIDTH))).astype(np.float32)
    expected, halves = values.astype(np.float16), aligned_zeros(values.shape, np.uint16)
    before = values.astype(float)
    _pack(values, halves)
    np.testing.assert_array_equal(halves, expected.view(np.uint16))
    np.testing.assert_array_equal(values, expected.astype(np.float32))
    assert np.all(np.abs(values - before) <= np.maximum(before * 2.0**-11, 3e-8))
    places, result = rng.integers(halves.size - 1, size=WIDTH).astype(np.uint32), np.zeros(WIDTH, np.float32)
    _gather(halves.reshape(-1), places, result)
    np.testing.assert_array_equal(result, expected.reshape(-1)[places].astype(np.float32))


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
