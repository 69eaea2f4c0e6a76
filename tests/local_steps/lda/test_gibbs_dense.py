"""One draw of the vector kernel against plain sums over topics."""

import numpy as np
import pytest

from ssvi.local_steps.lda.gibbs_dense import _ROWS, TOGETHER, _resample
from ssvi.local_steps.lda.gibbs_in_python import resample_dense
from ssvi.numerics.compile import kernel
from ssvi.numerics.simd import WIDTH, aligned_zeros


@kernel
def _draw(tally, places, weights, rows, alpha, running, blocks, old, removed, uniforms, last, new):
    _resample(tally, places, weights, rows, alpha, running, blocks, old, removed, uniforms, last, new)


def _plain_draw(mass, uniform):
    """Return the topic at a level of the running sum over topics k in the order of (k mod 16, k div 16)."""
    order = np.lexsort((np.arange(len(mass)) // WIDTH, np.arange(len(mass)) % WIDTH))
    sums = np.cumsum(mass[order])
    return order[np.searchsorted(sums, uniform * sums[-1], side="right")]


@pytest.mark.parametrize("n_topics", [1, 5, 16, 17, 100, 128, 130, 300])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_draw_falls_where_plain_sums_say(n_topics, dtype):
    """500 draws of eight documents each; single precision may tip a draw that lies within 1e-5 of a boundary."""
    rng = np.random.default_rng(n_topics)
    width = -(-n_topics // WIDTH) * WIDTH
    blocks = width // WIDTH
    tipped = differ = 0
    for _ in range(500):
        tally = aligned_zeros((TOGETHER * width,), dtype)
        weights = aligned_zeros((TOGETHER * width,), dtype)
        alpha = aligned_zeros((width,), dtype)
        alpha[:n_topics] = rng.gamma(1.0, 0.2, n_topics) + 1e-3
        places = np.arange(TOGETHER, dtype=np.uint64) * np.uint64(width)
        old = rng.integers(n_topics, size=TOGETHER).astype(np.uint64)
        uniforms, new = rng.random(TOGETHER).astype(dtype), np.zeros(TOGETHER, dtype=np.uint64)
        for d in range(TOGETHER):
            own = slice(d * width, d * width + n_topics)
            tally[own] = rng.poisson(0.5, n_topics)
            tally[d * width + int(old[d])] += 1
            weights[own] = rng.gamma(0.3, 1.0, n_topics) + 1e-20
        before = tally.copy()
        rows = -(-blocks // _ROWS) * _ROWS
        running = np.full(TOGETHER * rows * WIDTH, np.inf, dtype=dtype)
        last, removed = np.uint64(n_topics - 1), np.ones(TOGETHER, dtype)
        given = (places, weights, places, alpha, running, np.uint64(blocks), old, removed, uniforms, last)
        twin, plainly = tally.copy(), np.zeros_like(new)
        resample_dense(twin, *given, plainly)
        _draw(tally, *given, new)
        differ += int((plainly != new).sum())
        for d in range(TOGETHER):
            before[d * width + int(old[d])] -= 1
            own = slice(d * width, d * width + n_topics)
            mass = (before[own].astype(float) + alpha[:n_topics]) * weights[own]
            if new[d] != _plain_draw(mass, float(uniforms[d])):
                near = [_plain_draw(mass, float(uniforms[d]) + shift) for shift in (-1e-5, 1e-5)]
                assert new[d] in near
                tipped += 1
            before[d * width + int(new[d])] += 1
        np.testing.assert_array_equal(tally, before)
    assert tipped <= (40 if dtype == np.float32 else 1)
    assert differ <= (40 if dtype == np.float32 else 1)  # plain Python draws the same
