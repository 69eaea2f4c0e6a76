import numpy as np
import pandas
import pytest

from ssvi import checks


@pytest.mark.parametrize(
    "value", [True, np.False_, "1", None, np.nan, np.array(1.0), np.array([1, 2]), pandas.NA, [1], {}]
)
@pytest.mark.parametrize(
    "check",
    [
        lambda name, value: checks.require(name, value, lambda v: v >= 0, "a number"),
        checks.require_count,
        checks.require_positive,
        checks.require_not_negative,
        lambda name, value: checks.require_one_of(name, value, ("first", "second")),
    ],
)
def test_what_is_no_number_or_name_is_refused_in_one_sentence(check, value):
    with pytest.raises(ValueError, match=r"^size must be .*, not .*\.$"):
        check("size", value)


@pytest.mark.parametrize("value", [0, 1, "True", None, np.array(True), np.array([True])])
def test_what_is_no_truth_is_refused_in_one_sentence(value):
    with pytest.raises(ValueError, match=r"^deep must be True or False, not .*\.$"):
        checks.require_flag("deep", value)


def test_limits():
    for value in (1, np.uint8(3), 2**63 - 1):
        checks.require_count("size", value)
    for value in (0, -1, 1.0, 2**63):
        with pytest.raises(ValueError, match="size must be an integer"):
            checks.require_count("size", value)
    for value in (5e-324, np.float32(2), 7):
        checks.require_positive("size", value)
    for value in (0, -0.0, np.inf):
        with pytest.raises(ValueError, match="size must be a positive number"):
            checks.require_positive("size", value)
    checks.require_not_negative("size", 0)
    with pytest.raises(ValueError, match=r"^kind must be 'a', 'b' or 'c', not 'd'\.$"):
        checks.require_one_of("kind", "d", ("a", "b", "c"))
    assert checks.positive_pair("pair", (1, np.float32(2))) == (1.0, 2.0)
    for pair in ((1,), (1, 0), (1, np.inf), "ab", None, 3):
        with pytest.raises(ValueError, match="pair must be two positive numbers"):
            checks.positive_pair("pair", pair)
