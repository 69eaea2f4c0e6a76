"""Threads of this process: one, or a pool. Kernels hold no interpreter lock, so threads are enough."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Self

from ssvi.backends.base import Backend, Result, Task


class Threads(Backend):
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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown()


def _count(n_jobs: int | None) -> int:
    """Turn scikit-learn's n_jobs into a number of threads."""
    if n_jobs is None:
        return 1
    if n_jobs == 0:
        raise ValueError("n_jobs must not be 0: use 1 for one thread, -1 for all processors.")
    processors = os.cpu_count() or 1
    return n_jobs if n_jobs > 0 else max(1, processors + 1 + n_jobs)
