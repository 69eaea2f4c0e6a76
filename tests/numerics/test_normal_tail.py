"""The tail of the normal distribution against mpmath, and draws from it against its moments."""

import mpmath
import numpy as np
import pytest

from ssvi.numerics.compile import kernel
from ssvi.numerics.normal_tail import log_tail, normal_above, tail_ratio

N = 100_000


@kernel
def draw_into(low, state, out):
    for i in range(out.size):
        out[i], state = normal_above(low, state)


@pytest.mark.parametrize("x", [-30.0, -8.0, -1.0, 0.0, 0.3, 5.0, 9.999, 10.0, 30.0, 1e3, 1e6])
def test_tail_and_hazard(x):
    with mpmath.workdps(250):
        tail = mpmath.erfc(mpmath.mpf(x) / mpmath.sqrt(2)) / 2
        assert log_tail(x) == pytest.approx(float(mpmath.log(tail)), rel=1e-12, abs=1e-300)
        assert tail_ratio(x) == pytest.approx(float(mpmath.npdf(x) / tail), rel=1e-12, abs=1e-300)


@pytest.mark.parametrize("low", [-40.0, -3.0, 0.0, 0.39, 0.41, 1.0, 8.0, 40.0, 1e4])
def test_draws_have_the_moments_of_what_lies_above(low):
    """E[x | x > a] = h and Var = 1 + a h - h^2, h the hazard; five standard errors, 5e-7 each."""
    out = np.empty(N)
    draw_into(low, np.uint64(7), out)
    hazard = tail_ratio(low)
    with mpmath.workdps(60):
        tail = mpmath.erfc(mpmath.mpf(low) / mpmath.sqrt(2)) / 2
        exact = mpmath.npdf(low) / tail
        variance = float(1 + low * exact - exact**2)
    assert out.min() > low
    assert abs(out.mean() - hazard) < 5.0 * np.sqrt(variance / N)
    assert out.var() == pytest.approx(variance, rel=0.05)
