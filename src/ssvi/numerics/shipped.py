"""Kernels that come with the installation: compiled when it was made, so that a first fit need not.

They lie in the package's own folder and are run from there, like the .so files of other packages: whoever can write to
that folder can change the sources as well. They are never taken from a cache or a folder for temporary files.

A shipped kernel is used only where it is what this process would compile itself. All of what that depends on is in the
name of a folder (`stamp`), and a file has a checksum: where anything differs or is damaged, nothing is found, and the
kernel is looked for in numba's cache and compiled, as if none had been shipped.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.machinery
import os
import pickle
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.compiler import CompileResult
from numba.core.registry import cpu_target
from numba.core.serialize import dumps

PACKAGE = Path(__file__).parents[1]
FOLDER_NAME = "_kernels"
# What numba can be told by its environment that changes machine code.
_SETTINGS = ("OPT", "LOOP_VECTORIZE", "SLP_VECTORIZE", "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "USING_SVML")
_CHECKSUM_BYTES = 32


class Shelf:
    """A folder of compiled kernels of one package.

    Parameters
    ----------
    folder
        Where they lie; it need not exist.
    package
        The folder of the sources that they are compiled from.
    adding
        Whether kernels that are compiled are added; only while an installation is made.

    """

    def __init__(self, folder: Path, package: Path = PACKAGE, *, adding: bool = False) -> None:
        self._folder, self._package, self._adding = folder, package, adding

    @functools.cached_property
    def fitting(self) -> Path | None:
        """Where kernels lie that fit this process; None if there are none and none are added."""
        try:
            if not self._adding and not self._folder.is_dir():
                return None  # without reading the sources
            own = self._folder / stamp(self._package)
            return own if self._adding or own.is_dir() else None
        except OSError:
            return None

    def holds(self, function: Callable[..., Any]) -> bool:
        """Tell whether a kernel is here, for arguments of whichever types."""
        return self.fitting is not None and any(self.fitting.glob(f"{_name(function)}-*"))

    def load(self, function: Callable[..., Any], signature: Any, context: Any) -> Any:
        """Return a kernel for arguments of these types, ready to be called; None if there is none that can be used."""
        path = self._path(function, signature)
        try:
            content = b"" if path is None else path.read_bytes()
            checksum, code = content[:_CHECKSUM_BYTES], content[_CHECKSUM_BYTES:]
            if not code or _checksum(code) != checksum:
                return None
            context.refresh()
            return CompileResult._rebuild(context, *pickle.loads(code))  # type: ignore[no-untyped-call]
        except Exception:  # whatever it is, the compiler can do without this file
            return None

    def add(self, function: Callable[..., Any], signature: Any, compiled: Any) -> None:
        """Keep a kernel that was compiled, if kernels are added here."""
        path = self._path(function, signature) if self._adding else None
        if path is None or compiled.library.has_dynamic_globals:
            return
        code: bytes = dumps(compiled._reduce())  # type: ignore[no-untyped-call]
        path.parent.mkdir(parents=True, exist_ok=True)
        number, unfinished = tempfile.mkstemp(dir=path.parent, prefix=".")
        with os.fdopen(number, "wb") as file:
            file.write(_checksum(code) + code)
        os.chmod(unfinished, 0o644)
        os.replace(unfinished, path)  # so that nobody finds a half

    def _path(self, function: Callable[..., Any], signature: Any) -> Path | None:
        """Return the file of a kernel; None for functions that others have written, or that see variables of others."""
        code = function.__code__
        foreign = not Path(code.co_filename).is_relative_to(self._package)
        if foreign or function.__closure__ is not None or self.fitting is None:
            return None
        own = hashlib.sha256(repr((code.co_firstlineno, signature)).encode()).hexdigest()
        return self.fitting / f"{_name(function)}-{own[:24]}"


class ShippedFirst:
    """What a kernel takes for numba's cache: the shelf, then `cache`.

    Parameters
    ----------
    function
        The kernel in Python.
    cache
        numba's own cache of it.
    keeps
        Whether anything is kept that had to be compiled.

    """

    def __init__(self, function: Callable[..., Any], cache: Any, *, keeps: bool = True) -> None:
        self._function, self.cache, self._keeps = function, cache, keeps

    @property
    def cache_path(self) -> Any:
        """The folder of numba's own cache."""
        return self.cache.cache_path

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return the kernel for arguments of these types, or None."""
        found = shelf().load(self._function, sig, target_context)
        return self.cache.load_overload(sig, target_context) if found is None else found

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a kernel that was compiled."""
        if self._keeps:
            self.cache.save_overload(sig, data)
            shelf().add(self._function, sig, data)

    def flush(self) -> None:
        """Empty numba's own cache of this kernel."""
        self.cache.flush()


_shelf: Shelf | None = None


def shelf() -> Shelf:
    """Return the shelf of this process: the package's own, unless SSVI_SHIPPED_KERNELS=0 wants it left alone."""
    global _shelf
    if _shelf is None:
        wanted = os.environ.get("SSVI_SHIPPED_KERNELS") != "0"
        _shelf = Shelf(PACKAGE / (FOLDER_NAME if wanted else ".nothing"))
    return _shelf


def add_to(folder: Path) -> None:
    """Keep every kernel that this process compiles from now on, to be shipped."""
    global _shelf
    _shelf = Shelf(folder, adding=True)


def stamp(package: Path) -> str:
    """Return a name for all that machine code depends on but the kernel itself.

    These are the compiler and what it was told, Python and its binary interface, the processor, and all sources, since
    kernels call kernels of other files: their content, as an installation keeps no times.
    """
    numpy = np.__version__.split(".")[:2]  # whose functions numba writes anew for each
    settings = [str(getattr(numba.config, name, None)) for name in _SETTINGS]
    python = importlib.machinery.EXTENSION_SUFFIXES[0]
    processor = cpu_target.target_context.codegen().magic_tuple()
    digest = hashlib.blake2b(digest_size=16)
    digest.update(repr((numba.__version__, llvmlite.__version__, numpy, settings, python, processor)).encode())
    for folder, folders, names in os.walk(package):
        folders[:] = sorted(set(folders) - {"__pycache__", FOLDER_NAME})
        for name in sorted(name for name in names if name.endswith(".py")):
            path = os.path.join(folder, name)
            with open(path, "rb", buffering=0) as file:
                content = file.read()
            digest.update(f"{path[len(str(package)) :]} {len(content)} ".encode())
            digest.update(content)
    return digest.hexdigest()


def _checksum(code: bytes) -> bytes:
    return hashlib.sha256(code).digest()


def _name(function: Callable[..., Any]) -> str:
    return f"{function.__module__}.{function.__qualname__}"
