import numpy as np
import pytest
from scipy import stats

from ssvi.numerics.compile import kernel
from ssvi.numerics.random import derive_key, derive_keys, normal, scramble, uniform


@kernel
def _uniforms(state, out):
    for i in range(out.size):
        out[i], state = uniform(state)


@kernel
def _normals(state, out):
    for i in range(out.size):
        out[i], state = normal(state)


def _fill(function, size, key=1):
    out = np.empty(size)
    function(np.uint64(key), out)
    return out


# Each p-value is uniform if the sampler is right: p < 1e-4 has a chance of 1e-4, and the seeds are fixed.


def test_uniforms_are_uniform_and_inside_the_open_interval():
    draws = _fill(_uniforms, 200_000)
    assert draws.min() > 0
    assert draws.max() < 1
    assert stats.kstest(draws, "uniform").pvalue > 1e-4
    assert stats.kstest(draws[1:] * 0.5 + draws[:-1] * 0.5, stats.triang(0.5).cdf).pvalue > 1e-4


def test_normals_are_normal_also_in_the_tails():
    draws = _fill(_normals, 1_000_000)
    assert stats.kstest(draws, "norm").pvalue > 1e-4
    beyond = np.abs(draws) > 3.6541528853610088  # where the ziggurat's own tail sampler takes over
    tail = 1 - stats.norm.sf(np.abs(draws[beyond])) / stats.norm.sf(3.6541528853610088)
    assert stats.binomtest(int(beyond.sum()), len(draws), 2 * stats.norm.sf(3.6541528853610088)).pvalue > 1e-4
    assert stats.kstest(tail, "uniform").pvalue > 1e-4


def test_streams_of_neighbouring_keys_are_unrelated():
    keys = derive_keys(derive_key(0, "a"), 2000)
    first = np.array([_fill(_uniforms, 1, key)[0] for key in keys])
    assert stats.kstest(first, "uniform").pvalue > 1e-4
    assert abs(np.corrcoef(first[1:], first[:-1])[0, 1]) < 4 / np.sqrt(2000)


def test_derive_key_tells_paths_apart():
    paths = [
        (),
        (0,),
        (1,),
        (0, 0),
        (0, 1),
        ("a",),
        ("b",),
        ("a", 0),
        ("aaaaaaaaa",),
        ("aaaaaaaab",),
        (-1,),
        (1 << 64,),
        ("0",),
    ]
    keys = {derive_key(seed, *path) for seed in (0, 1, 1 << 63) for path in paths}
    assert len(keys) == 3 * len(paths)


def test_derive_keys_scramble_as_the_kernel_does():
    key, stride = derive_key(3, "x"), 0x9E3779B97F4A7C15
    expected = [scramble(np.uint64((key + i * stride) % 2**64)) for i in (1, 2, 3)]
    assert derive_keys(key, 3).tolist() == expected


@pytest.mark.parametrize("count", [0, 1])
def test_few_keys(count):
    assert derive_keys(7, count).shape == (count,)
