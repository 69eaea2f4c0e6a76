import math

import numpy as np
import pytest

from ssvi.numerics.bits import bits_of, double_of, fast_exp, fast_log
from ssvi.numerics.compile import kernel


@kernel
def _log_into(x, out):
    for i in range(x.size):
        out[i] = fast_log(x[i])


@kernel
def _exp_into(x, out):
    for i in range(x.size):
        out[i] = fast_exp(x[i])


@kernel
def _there_and_back(x):
    return double_of(bits_of(x))


def _apply(function, x):
    out = np.empty_like(x)
    function(x, out)
    return out


def _spaces(value, exact):
    return np.abs(value - exact) / np.spacing(np.abs(exact))


def test_logarithm():
    rng = np.random.default_rng(0)
    x = np.concatenate(
        [
            np.exp(rng.uniform(-700, 700, 20_000)),
            rng.uniform(0.5, 2.0, 20_000),
            1 + rng.normal(0, 1e-8, 2_000),
            [1.0, 2.0**-52, 0.5**0.5, 2.0**0.5, np.finfo(float).tiny, np.finfo(float).max],
        ]
    )
    exact = np.array([math.log(value) for value in x])
    result = _apply(_log_into, x)
    assert result[x == 1.0].tolist() == [0.0] * np.count_nonzero(x == 1.0)
    assert _spaces(result, exact)[exact != 0].max() <= 2


def test_exponential():
    rng = np.random.default_rng(1)
    x = np.concatenate([rng.uniform(-708, 709, 20_000), rng.normal(0, 1, 20_000), [0.0, -708.0, 709.0, 1e-300]])
    assert _spaces(_apply(_exp_into, x), np.array([math.exp(value) for value in x])).max() <= 2
    assert _apply(_exp_into, np.array([-708.1, -1e5, -np.inf])).tolist() == [0.0, 0.0, 0.0]


def test_a_value_that_is_not_a_number_stays_one():
    assert np.isnan(_apply(_exp_into, np.array([np.nan]))).all()


@pytest.mark.parametrize("value", [0.0, -1.5, 1e300, 5e-324, math.inf])
def test_bits_are_kept(value):
    assert _there_and_back(value) == value
