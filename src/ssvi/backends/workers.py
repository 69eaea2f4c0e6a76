"""Threads of this process: one, or a pool. Kernels hold no interpreter lock, so threads are enough.

Functions that run here share the caller's memory, and may write into its arrays.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from numbers import Integral
from types import TracebackType
from typing import Any, Self, TypeVar

Task = TypeVar("Task")
Result = TypeVar("Result")


class Workers:
    """Tasks on `n_jobs` threads: None is 1, and -1 is one for each processor, as scikit-learn has it."""

    def __init__(self, n_jobs: int | None = None) -> None:
        self.n_threads = _count(n_jobs)
        self._pool = ThreadPoolExecutor(self.n_threads) if self.n_threads > 1 else None

    def map(self, function: Callable[[Task], Result], tasks: Sequence[Task]) -> Iterator[Result]:
        """Yield results in the order of the tasks; few more are held than there are threads."""
        if self._pool is None or len(tasks) < 2:
            yield from map(function, tasks)
            return
        pending: deque[Future[Result]] = deque()
        for task in tasks:
            pending.append(self._pool.submit(function, task))
            if len(pending) > self.n_threads + 1:
                yield pending.popleft().result()
        while pending:
            yield pending.popleft().result()

    def each(self, function: Callable[[Task], Result], tasks: Sequence[Task]) -> list[Result]:
        """Return all results, in the order of the tasks.

        The calling thread works as well: handing every task over and waiting for it would cost as much as a short one.
        """
        if self._pool is None or len(tasks) < 2:
            return list(map(function, tasks))
        results: list[Any] = [None] * len(tasks)
        left = deque(enumerate(tasks))

        def work() -> None:
            while left:
                try:
                    number, task = left.popleft()
                except IndexError:  # another thread has taken the last one
                    return
                results[number] = function(task)

        helpers = [self._pool.submit(work) for _ in range(min(self.n_threads, len(tasks)) - 1)]
        try:
            work()
        finally:
            left.clear()  # after an error nobody begins anything new
            for helper in helpers:
                helper.result()
        return results

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown()


def _count(n_jobs: Any) -> int:
    """Turn scikit-learn's n_jobs into a number of threads."""
    if n_jobs is None:
        return 1
    if isinstance(n_jobs, bool) or not isinstance(n_jobs, Integral) or n_jobs == 0:
        raise ValueError(f"n_jobs must be an integer but 0 (1 is one thread, -1 all processors), not {n_jobs!r}.")
    # The processors this process may use, which in a container can be fewer than there are.
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    count = int(n_jobs)
    return count if count > 0 else max(1, processors + 1 + count)
