"""What runs on Ray's workers. Tasks are pure: whoever repeats one finds the same bits, since its keys go with it."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

from threadpoolctl import threadpool_limits

import ssvi
from ssvi.backends.blocks import Found, Given, merge_packed, run_block
from ssvi.backends.parcels import Parcel

TRIES = 20  # of one task whose worker or node dies under it: more often than that, the task is what kills them
_unpacked: list[Given] = []  # of the last step, by this worker


def _block(token: str, version: str, given: Parcel, groups: Parcel, keys: Parcel, shards: Sequence[slice]) -> Found:
    """Handle a block of a minibatch."""
    if version != ssvi.__version__:
        raise RuntimeError(
            f"a worker of the Ray cluster has ssvi {ssvi.__version__} and this process has {version}: install the same "
            "version everywhere."
        )
    if not _unpacked:
        threadpool_limits(1)  # a task has one processor
    if not _unpacked or _unpacked[0].token != token:
        _unpacked[:] = [given.open()]
    return run_block(_unpacked[0], groups.open(), keys.open(), shards)


def _merge(*found: Found) -> Found:
    """Add up what was found on consecutive blocks."""
    return merge_packed(found)


@functools.cache
def _remote(name: str) -> Any:
    import ray

    function: Any = {"block": _block, "merge": _merge}[name]
    return ray.remote(num_cpus=1, max_retries=TRIES, retry_exceptions=False)(function)


def run_remotely(*arguments: Any) -> Any:
    """Start `_block` on a worker; return a reference to what it will find."""
    return _remote("block").remote(*arguments)


def merge_remotely(*references: Any) -> Any:
    """Start `_merge` on a worker; return a reference to the sum."""
    return _remote("merge").remote(*references)
