"""Whether a backend finds what threads find, to the last bit."""

import numpy as np

from ssvi.backends.threads import Threads


def same(one, other):
    return all(np.array_equal(one[name], other[name]) for name in one) and one.keys() == other.keys()


def assert_bits_of_threads(backend, setting, monkeypatch):
    """In four tasks, and in thirty whose sums tasks add up."""
    given = (setting.step, setting.model, setting.views, setting.data, setting.keys)
    for want_local in (True, False):
        expected = Threads(2).map_reduce(*given, want_local=want_local)
        for most in (2, 100):
            monkeypatch.setattr("ssvi.backends.on_ray._TASKS_A_PROCESSOR", most)
            found = backend.map_reduce(*given, want_local=want_local)
            assert same(found.eta_hat, expected.eta_hat), setting.step
            assert (found.bound, found.scale) == (expected.bound, expected.scale)
            assert not want_local or same(found.local, expected.local)
    assert same(backend.map_local(*given), Threads().map_local(*given)), setting.step
