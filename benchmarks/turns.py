"""Fits that stand still on their way and are looked at, and that take turns.

On a machine that others use as well, speed comes and goes: what is compared must be measured side by side.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssvi import LatentDirichletAllocation
from ssvi.engine import Callback, Info, State
from ssvi.typing import Array


@dataclass(frozen=True)
class Stop:
    """Where a fit stands still: passes over the data, seconds spent fitting so far, and its topics there."""

    passes: float
    seconds: float
    topics: Array


def stops_of(points: Iterable[tuple[float, float, Array]]) -> Iterator[Stop]:
    """Return the stops of another library's fit (`benchmarks.peers.Peer.fit`)."""
    return (Stop(*point) for point in points)


def watch(
    fit: Callable[[Callback], Any], n_documents: int, stops: Sequence[float], topics: Callable[[State], Array]
) -> Generator[Stop]:
    """Fit in a thread, and stand still after some numbers of passes while nobody asks for the next.

    Parameters
    ----------
    fit : callable
        Runs the whole fit, with the callback that it is given.
    n_documents : int
        The documents of a pass.
    stops : numbers
        Passes after which to stand still. Where the iterator is closed, the fit is stopped.
    topics : callable
        The point estimate of a state, topics x words.

    """
    reached: queue.Queue[Stop | BaseException] = queue.Queue()
    go_on, left = threading.Semaphore(0), sorted(set(stops))
    count, taken, since, closed = len(left), 0.0, 0.0, False

    def stand_still(state: State, info: Info) -> bool:
        nonlocal taken, since
        if left and info.documents_seen >= left[0] * n_documents:
            found = np.array(topics(state))
            taken += time.perf_counter() - since
            reached.put(Stop(left.pop(0), taken, found))
            go_on.acquire()
            since = time.perf_counter()
        return closed

    def run() -> None:
        nonlocal since
        go_on.acquire()
        since = time.perf_counter()
        try:
            if not closed:
                fit(stand_still)
        except BaseException as error:
            reached.put(error)

    threading.Thread(target=run, daemon=True).start()
    try:
        for _ in range(count):
            go_on.release()
            stop = reached.get()
            if isinstance(stop, BaseException):
                raise stop
            yield stop
    finally:
        closed = True
        go_on.release()


def watch_estimator(model: LatentDirichletAllocation, matrix: Any, stops: Sequence[float]) -> Generator[Stop]:
    """Fit an estimator, and stand still after some numbers of passes."""

    def topics(state: State) -> Array:
        lam = state.estimate["topics"]
        found: Array = lam / lam.sum(axis=1, keepdims=True)
        return found

    return watch(lambda callback: model.set_params(callbacks=[callback]).fit(matrix), matrix.shape[0], stops, topics)


def take_turns(
    fits: Mapping[str, Iterator[Stop]], is_over: Callable[[str, float], bool] = lambda name, seconds: False
) -> Iterator[tuple[str, Stop]]:
    """Yield the name of a fit and its next stop: it is always the one that has had the least time that goes on.

    Before its turn, `is_over` is asked whether a fit that has had so many seconds has had enough.
    """
    taken = dict.fromkeys(fits, 0.0)
    while taken:
        name = min(taken, key=lambda name: taken[name])
        fit = fits[name]
        stop = None if is_over(name, taken[name]) else next(fit, None)
        if stop is None:
            del taken[name]
            if isinstance(fit, Generator):
                fit.close()
        else:
            taken[name] = stop.seconds
            yield name, stop
