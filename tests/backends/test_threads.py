import os

import numpy as np
import pytest

from ssvi.backends.base import shards
from ssvi.backends.threads import Threads


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 5])
def test_results_come_in_the_order_of_the_tasks(n_jobs):
    with Threads(n_jobs) as backend:
        assert list(backend.map(lambda task: task * task, range(50))) == [task * task for task in range(50)]
        assert list(backend.map(str, [])) == []
        assert backend.each(lambda task: task * task, range(50)) == [task * task for task in range(50)]
        assert backend.each(str, []) == []


def test_errors_reach_the_caller():
    def fail(task):
        raise KeyError(task)

    with Threads(2) as backend, pytest.raises(KeyError):
        list(backend.map(fail, [1, 2, 3]))
    with Threads(2) as backend, pytest.raises(KeyError):
        backend.each(fail, [1, 2, 3])


def test_n_jobs_counts_as_in_scikit_learn():
    assert Threads(None).n_threads == 1
    assert Threads(-1).n_threads == len(os.sched_getaffinity(0))
    for bad in (0, 2.5, "2", True):
        with pytest.raises(ValueError, match="n_jobs must be an integer but 0"):
            Threads(bad)


@pytest.mark.parametrize("n", [1, 63, 64, 128, 1000, 5000])
def test_shards_cover_everything_once_in_order(n):
    costs = np.random.default_rng(n).integers(0, 1000, n)
    cut = shards(costs)
    assert [piece.start for piece in cut[1:]] == [piece.stop for piece in cut[:-1]]
    assert (cut[0].start, cut[-1].stop) == (0, n)
    assert len(cut) <= 16


def test_shards_have_about_equal_cost():
    costs = np.random.default_rng(0).integers(1, 100, 2000)
    totals = [costs[piece].sum() for piece in shards(costs)]
    assert max(totals) < 1.1 * np.mean(totals)
    assert len(totals) == 15


def test_one_giant_document_is_a_shard_like_any_other():
    costs = np.ones(300, dtype=int)
    costs[150] = 10**9
    assert sum(piece.stop - piece.start for piece in shards(costs)) == 300
