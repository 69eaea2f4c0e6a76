"""The one way this library compiles a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
from numba import extending

Function = TypeVar("Function", bound=Callable[..., Any])

# Sums may be reassociated, so that they vectorise. NaN and infinity keep their meaning: the engine looks for them.
_REASSOCIATE = {"reassoc", "contract", "nsz"}


def kernel(function: Function) -> Function:
    """Compile `function` to serial machine code that holds no interpreter lock and is cached on disk."""
    compiled: Any = numba.njit(nogil=True, cache=True, error_model="numpy")(function)
    return cast(Function, compiled)


def vector_kernel(function: Function) -> Function:
    """Compile `function` as `kernel` does, and let its sums be reordered for SIMD; for loops that store nothing."""
    compiled: Any = numba.njit(nogil=True, cache=True, error_model="numpy", fastmath=_REASSOCIATE)(function)
    return cast(Function, compiled)


def intrinsic(function: Callable[..., Any]) -> Any:
    """Turn `function`, which writes LLVM instructions, into something that kernels can call."""
    return extending.intrinsic(function)
