import numpy as np
import pytest

from ssvi.report.packing import pack, places, rounded, shades, unpack


@pytest.mark.parametrize(
    ("kind", "values"), [("f4", [0.0, -1.5, 3e-20]), ("u4", [0, 70_000]), ("u2", [0, 65_535]), ("u1", [0, 255])]
)
def test_what_is_packed_comes_back(kind, values):
    np.testing.assert_array_equal(unpack(pack(values, kind)), np.array(values, dtype=unpack(pack(values, kind)).dtype))


def test_what_is_no_number_or_too_large_does_not_break_the_page():
    np.testing.assert_array_equal(unpack(pack([np.nan, 300.0, -1.0], "u1")), [0, 255, 0])
    assert np.isfinite(unpack(pack([np.inf, -np.inf, 1e300], "f4"))).all()
    assert rounded(np.nan) == 0.0


@pytest.mark.parametrize(("count", "kind"), [(256, "u1"), (257, "u2"), (65_537, "u4")])
def test_places_take_as_few_bytes_as_they_can(count, kind):
    packed = places([0, count - 1], count)
    assert packed["kind"] == kind
    np.testing.assert_array_equal(unpack(packed), [0, count - 1])


def test_shades_are_parts_of_the_largest():
    packed = shades(np.array([0.0, 0.5, 2.0]), "u2")
    np.testing.assert_allclose(unpack(packed) / 65_535 * packed["largest"], [0.0, 0.5, 2.0], atol=2e-5)
    assert not unpack(shades(np.zeros(3))).any()
