"""Memory that was freed: kept for the next step, and given back to the system when a fit ends or has gone on for long.

Steps take and free arrays of many sizes, in several threads. If these were given back at once, the system would have to
make pages of zeros for the next ones, which took an eighth of the time of steps on small minibatches. But what is freed
between two arrays in use stays with the process, so that one which runs for long grows, though it never holds more.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

Item = TypeVar("Item")


_EVERY = 16  # steps of a long fit
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3  # glibc's numbers for them
_KEPT, _LARGE = 128 << 20, 32 << 20  # bytes: what may stay free, and arrays from which on each is given back by itself


@functools.cache
def _from_c(name: str) -> Callable[..., Any] | None:
    """Return a function of glibc's; other systems do without."""
    try:
        function: Callable[..., Any] = getattr(ctypes.CDLL(None), name)
    except (AttributeError, OSError, TypeError):
        return None
    return function


@functools.cache
def keep_freed() -> None:
    """Keep what is freed for what is needed next, up to some size, from now on."""
    option = _from_c("mallopt")
    if option is not None:
        option(_TRIM_THRESHOLD, _KEPT)
        option(_MMAP_THRESHOLD, _LARGE)


def give_back() -> None:
    """Give back what was freed, where the system can do so."""
    trim = _from_c("malloc_trim")
    if trim is not None:
        trim(0)


def tidied(items: Iterable[Item]) -> Iterator[Item]:
    """Yield some items, and give memory back now and then."""
    for number, item in enumerate(items):
        if number % _EVERY == 0:
            give_back()
        yield item
