"""Reading ahead: a thread gets the next minibatches while steps are taken."""

from __future__ import annotations

import queue
import threading
from collections.abc import Generator, Iterable
from typing import Any, TypeVar

Item = TypeVar("Item")

AHEAD = 2
"""Minibatches that wait, at most."""


def read_ahead(items: Iterable[Item], most: int = AHEAD) -> Generator[Item, None, None]:
    """Yield what an iterable yields, which a thread of its own goes through, a few items ahead.

    What goes wrong there is raised here, after the items before it. The thread ends with this generator, however that
    ends, and has let go of the iterable by then.
    """
    waiting: queue.Queue[tuple[Item | None, BaseException | None, bool]] = queue.Queue(most)
    stop = threading.Event()

    def put(*what: Any) -> bool:
        while not stop.is_set():
            try:
                waiting.put(what, timeout=0.1)
            except queue.Full:
                continue
            return True
        return False

    def work() -> None:
        try:
            for item in items:
                if not put(item, None, False):
                    return
            put(None, None, True)
        except BaseException as error:  # whatever it is, it belongs to whoever waits for the item
            put(None, error, True)

    thread = threading.Thread(target=work, name="ssvi-read-ahead", daemon=True)
    thread.start()
    try:
        while True:
            item, error, is_last = waiting.get()
            if error is not None:
                raise error
            if is_last:
                return
            yield item  # type: ignore[misc]
    finally:
        stop.set()
        thread.join()
