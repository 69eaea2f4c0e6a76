import numpy as np
import pytest

from ssvi.numerics.products import add_products


@pytest.mark.parametrize("count", [0, 1, 3, 4])
def test_outer_products_are_added_to_what_is_there(count):
    rng = np.random.default_rng(count)
    lefts, rights, before = rng.normal(size=(4, 5)), rng.normal(size=(4, 7)), rng.normal(size=(5, 7))
    found = before.copy()
    add_products(lefts, rights, count, found)
    np.testing.assert_allclose(found, before + lefts[:count].T @ rights[:count], rtol=1e-13, atol=1e-13)
