"""R-style formulas: what is in brackets with a bar, and columns that further tables share with the first."""

import numpy as np
import pandas as pd
import pytest

from ssvi.estimators.hierarchical.formulas import Formula, parse, read, read_inputs

FRAME = pd.DataFrame({
    "y": [1.0, 2.0, 3.0, 4.0], "x": [0.5, 1.5, 2.5, 3.5], "g": ["a", "b", "a", "b"], "kind": ["u", "v", "w", "u"],
    "n": [1, 2, 3, 4],
})  # fmt: skip


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("y ~ x", ("y", None, "x", None, None)),
        ("y~x+(1|g)", ("y", None, "x", "1", "g")),
        ("y ~ (1 + x | g) + x", ("y", None, "x", "1 + x", "g")),
        ("y ~ (0 + x | g)", ("y", None, "1", "0 + x", "g")),
        ("y | trials(n) ~ log(x) + C(kind) + (1 + log(x) | g)", ("y", "n", "log(x) + C(kind)", "1 + log(x)", "g")),
        ("y | se(s) ~ 1 + (1 | g)", ("y", "s", "1", "1", "g")),
        ("y ~ 0 + x + (x | g)", ("y", None, "0 + x", "x", "g")),
    ],
)
def test_a_formula_is_taken_apart(text, parts):
    assert parse(text) == Formula(*parts)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x + (1 | g)", "must be of the form y ~ x"),
        ("y ~ x ~ z", "must be of the form y ~ x"),
        ("y ~ x + (1 | g) + (1 | h)", "has 2 terms with a bar, and there can be one"),
        ("y ~ x + (1 | )", r"the term \(1 \| \) of the formula"),
        ("y ~ x + (1 | g", "the brackets of the formula"),
        ("y ~ x + 1 | g)", "the brackets of the formula"),
        ("y ~ {print(1)}", "that cannot be read"),
        ("y ~ x.__class__", "that cannot be read"),
        ("y ~ __import__('os')", "that cannot be read"),
        ("y ~ eval(x)", "calls 'eval': there are C, I"),
        ("y ~ I (open(x))", "calls 'open': there are C, I"),
    ],
)
def test_what_is_no_formula_is_refused(text, message):
    with pytest.raises(ValueError, match=message):
        parse(text)


def test_columns_that_vary_and_those_that_are_fixed():
    parts, (inputs, y, groups, weights) = read("y | trials(n) ~ kind + (1 + x | g)", FRAME, None)
    assert parts["names"] == ["Intercept", "kind[T.v]", "kind[T.w]", "x"]
    assert (parts["fixed"], parts["varying"]) == ([0, 1, 2], [0, 3])
    np.testing.assert_array_equal(inputs[:, 3], FRAME["x"])
    assert (y.tolist(), groups.tolist(), weights.tolist()) == ([1, 2, 3, 4], ["a", "b", "a", "b"], [1, 2, 3, 4])


def test_a_further_table_has_the_same_columns():
    parts, _ = read("y ~ kind + (1 | g)", FRAME, None)
    inputs, groups = read_inputs("y ~ kind + (1 | g)", FRAME.iloc[[2]].drop(columns=["y", "g"]), parts)
    assert inputs.tolist() == [[1.0, 0.0, 1.0]]
    assert groups is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("z ~ x", "needs a column 'z', which the table has not"),
        ("y ~ q", "the terms 'q' cannot be made of this table"),
        ("y ~ scale(x)", "calls 'scale'"),
    ],
)
def test_what_a_table_has_not_is_named(text, message):
    with pytest.raises(ValueError, match=message):
        read(text, FRAME, None)


def test_missing_values_are_refused():
    with pytest.raises(ValueError, match="cannot be made of this table"):
        read("y ~ x", FRAME.assign(x=[1.0, np.nan, 1.0, 1.0]), None)
    with pytest.raises(ValueError, match="cannot be made of this table"):
        read("y ~ kind", FRAME.assign(kind=["u", None, "v", "w"]), None)
