import os

import pytest

from ssvi.backends.workers import Workers


@pytest.mark.parametrize("n_jobs", [None, 1, 2, 5])
def test_results_come_in_the_order_of_the_tasks(n_jobs):
    with Workers(n_jobs) as workers:
        assert list(workers.map(lambda task: task * task, range(50))) == [task * task for task in range(50)]
        assert list(workers.map(str, [])) == []
        assert workers.each(lambda task: task * task, range(50)) == [task * task for task in range(50)]
        assert workers.each(str, []) == []


def test_errors_reach_the_caller():
    def fail(task):
        raise KeyError(task)

    with Workers(2) as workers, pytest.raises(KeyError):
        list(workers.map(fail, [1, 2, 3]))
    with Workers(2) as workers, pytest.raises(KeyError):
        workers.each(fail, [1, 2, 3])


def test_n_jobs_counts_as_in_scikit_learn():
    assert Workers(None).n_threads == 1
    assert Workers(-1).n_threads == len(os.sched_getaffinity(0))
    for bad in (0, 2.5, "2", True):
        with pytest.raises(ValueError, match="n_jobs must be an integer but 0"):
            Workers(bad)
