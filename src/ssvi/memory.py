"""Memory that was freed, given back to the system.

Steps take and free arrays of many sizes, in several threads. What is freed between two arrays in use stays with
the process, so that one which runs for long grows, though it never holds more.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

Item = TypeVar("Item")

_EVERY = 16


@functools.cache
def _trim() -> Callable[[int], Any] | None:
    """Return glibc's function for it; other systems do so by themselves, or not at all."""
    try:
        function: Callable[[int], Any] = ctypes.CDLL(None).malloc_trim
    except (AttributeError, OSError, TypeError):
        return None
    return function


def give_back() -> None:
    """Give back what was freed, where the system can do so."""
    trim = _trim()
    if trim is not None:
        trim(0)


def tidied(items: Iterable[Item]) -> Iterator[Item]:
    """Yield some items, and give memory back now and then."""
    for number, item in enumerate(items):
        if number % _EVERY == 0:
            give_back()
        yield item
