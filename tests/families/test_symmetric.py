import numpy as np
import pytest

from ssvi.families.symmetric import pack, pack_dual, packed_size, unpack, unpack_dual


@pytest.mark.parametrize("order", [0, 1, 2, 5])
def test_packing_is_undone_and_inner_products_are_traces(order):
    rng = np.random.default_rng(order)
    first, second = (a + np.swapaxes(a, -1, -2) for a in rng.normal(size=(2, 3, 4, order, order)))
    assert pack(first).shape == pack_dual(first).shape == (3, 4, packed_size(order))
    np.testing.assert_array_equal(unpack(pack(first), order), first)
    np.testing.assert_array_equal(unpack_dual(pack_dual(first), order), first)
    traces = np.trace(first @ second, axis1=-2, axis2=-1)
    np.testing.assert_allclose((pack(first) * pack_dual(second)).sum(axis=-1), traces, rtol=1e-12, atol=1e-12)
