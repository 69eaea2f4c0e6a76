import numpy as np
import pytest

from ssvi.numerics.vectors import dot, total, total_distance


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("size", [1, 3, 8, 31, 32, 100, 1000])
def test_sums_are_right_and_have_one_order(dtype, size):
    """The last bits must not depend on where the arrays lie, neither on their alignment nor on their distance."""
    rng = np.random.default_rng(size)
    a, b = rng.normal(size=size).astype(dtype), rng.normal(size=size).astype(dtype)
    results = set()
    for offset in range(8):
        for gap in (0, 1, 5):
            buffer = np.zeros(2 * size + 64, dtype)
            first = buffer[offset : offset + size]
            second = buffer[offset + size + gap : offset + 2 * size + gap]
            first[:], second[:] = a, b
            results.add((float(dot(first, second)), float(total(first)), float(total_distance(first, second))))
    assert len(results) == 1
    scale = 20 * size * np.finfo(dtype).eps
    exact = a.astype(float) @ b.astype(float), a.astype(float).sum(), np.abs(a.astype(float) - b).sum()
    np.testing.assert_allclose(next(iter(results)), exact, atol=scale)
