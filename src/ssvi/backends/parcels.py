"""Anything that can be pickled, as one small string and the memory of its arrays, to be sent elsewhere.

What arrives has arrays that can be written to, as those that were sent. An array that only looks into shared memory
would be of another kind to numba, which would compile every kernel anew for it, and not to the same instructions.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Parcel:
    """Something to be sent: `text` is its pickle, and `arrays` are the bytes of its arrays, which are not copied."""

    text: bytes
    arrays: tuple[npt.NDArray[np.uint8], ...]

    @property
    def size(self) -> int:
        """The number of bytes."""
        return len(self.text) + sum(array.nbytes for array in self.arrays)

    def open(self) -> Any:
        """Return a copy of what was sent."""
        return pickle.loads(self.text, buffers=[array.copy() for array in self.arrays])


def wrap(value: Any, dumps: Callable[..., bytes] = pickle.dumps) -> Parcel:
    """Make a parcel; `dumps` may be that of cloudpickle, which takes classes of a script or a notebook along.

    >>> wrap({"ones": np.ones(3)}).open()
    {'ones': array([1., 1., 1.])}
    """
    buffers: list[pickle.PickleBuffer] = []
    text = dumps(value, protocol=5, buffer_callback=buffers.append)
    return Parcel(text, tuple(np.frombuffer(buffer.raw(), dtype=np.uint8) for buffer in buffers))
