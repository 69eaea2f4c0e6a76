"""The one way this library compiles a kernel."""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba import extending, types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.registry import CPUDispatcher

from ssvi.numerics.shipped import ShippedFirst

Function = TypeVar("Function", bound=Callable[..., Any])

# Sums may be reassociated, so that they vectorise. NaN and infinity keep their meaning: the engine looks for them.
_REASSOCIATE = {"reassoc", "contract", "nsz"}


def kernel(function: Function) -> Function:
    """Compile `function` to serial machine code that holds no interpreter lock and is cached on disk."""
    return _compile(function, fastmath=False)


def vector_kernel(function: Function) -> Function:
    """Compile `function` as `kernel` does, and let its sums be reordered for SIMD; for loops that store nothing."""
    return _compile(function, fastmath=_REASSOCIATE)


def fused_kernel(function: Function) -> Function:
    """Compile `function` as `kernel` does, and let a product and a sum be one instruction with one rounding."""
    return _compile(function, fastmath={"contract"})


def intrinsic(in_python: Callable[..., Any]) -> Callable[[Callable[..., Any]], Any]:
    """Turn a function that writes LLVM instructions into something that kernels can call.

    `in_python` does the same in plain Python, for when numba compiles nothing (NUMBA_DISABLE_JIT, for debuggers).
    """

    def decorate(function: Callable[..., Any]) -> Any:
        return in_python if numba.config.DISABLE_JIT else extending.intrinsic(function)  # type: ignore[attr-defined]

    return decorate


def do_nothing(*_: Any) -> None:
    """Stand in for an intrinsic that only makes things faster."""


@intrinsic(in_python=do_nothing)
def widest_vectors(_typing: Any) -> Any:
    """Let the compiler use the widest registers of the processor in the kernel that calls this.

    By default it keeps to half of them where there are 512 bits, for fear of a lower clock. In long loops of plain
    arithmetic the width wins, by a third.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        # The attribute's name is not among those that llvmlite knows, and so its own check is passed by.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.void(), codegen


class _Part(JITCodeLibrary):
    """Code that kernels take in, and that is never run by itself.

    It is optimised where it is taken in, and becomes no machine code of its own.
    """

    class _Nowhere:
        def set_env(self, *_: Any) -> None:
            """Tell no running code of its surroundings, as there is none."""

    codegen: Any = _Nowhere()

    def get_pointer_to_function(self, name: str) -> int:
        """Return 0, for no function."""
        self._ensure_finalized()  # type: ignore[no-untyped-call]
        return 0

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True


class _PartCompiler(Compiler):
    """Compiles what becomes a part of kernels."""

    def define_pipelines(self) -> Any:
        """Let the usual steps fill a `_Part`."""
        library: Any = _Part
        self.state.library = library(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super().define_pipelines()  # type: ignore[no-untyped-call]


class _Kernel(CPUDispatcher):
    """A kernel as Python calls it, which is kept on disk; other kernels call a twin of it.

    What other kernels call becomes a part of them. Without a way in from Python, machine code and a file of its own, it
    takes a fifth less of the compiler's time. Where the kernel itself is on disk, its twin is what is there.
    """

    _cache: Any

    @functools.cached_property
    def twin(self) -> Any:
        """The same function for other kernels. Python must not call it."""
        options = {**self.targetoptions, "no_cpython_wrapper": True}
        twin: Any = CPUDispatcher(self.py_func, self.locals, options, pipeline_class=_PartCompiler)
        twin._cache = ShippedFirst(self.py_func, self._cache.cache, keeps=False)
        return twin

    @property
    def _numba_type_(self) -> types.Dispatcher:
        """What the compiler takes this for where another kernel names it."""
        return types.Dispatcher(self.twin)


def _compile(function: Function, *, fastmath: Any) -> Function:
    """Compile what did not come with the installation, and keep the machine code on disk, if there is a place for it.

    numba looks beside the source, then in the user's own cache folder, and gives up if it may write to neither (a
    read-only installation run by a user without a home). A private folder for temporary files is the last resort.
    """
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return np.errstate(all="ignore")(function)  # compiled code wraps around and divides by zero without a word
    # Nobody calls kernels by a pointer from C: without what that takes they compile faster.
    options = {"nopython": True, "nogil": True, "error_model": "numpy", "fastmath": fastmath, "no_cfunc_wrapper": True}
    compiled = _Kernel(function, {}, options)
    try:
        compiled.enable_caching()
    except RuntimeError:  # "no locator available"
        folder = private_folder(Path(tempfile.gettempdir()))
        if folder is not None:
            numba.config.CACHE_DIR = str(folder)  # type: ignore[attr-defined]
            compiled.enable_caching()
    compiled._cache = ShippedFirst(function, compiled._cache)
    return cast(Function, compiled)


def private_folder(parent: Path) -> Path | None:
    """Return a folder that nobody else can write to, since what lies in it is run; None if there is none to be had."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = parent / f"ssvi-kernels-{user}"
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        status = folder.lstat()
    except OSError:
        return None
    own = folder.is_dir() and not folder.is_symlink() and status.st_uid == user and not status.st_mode & 0o077
    return folder if own else None
