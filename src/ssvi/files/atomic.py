"""Files that are either whole or not there."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

_UNFINISHED = re.compile(r"\.unfinished-[0-9a-f]{32}")  # names that nobody else gives, while files are being written


def write_atomically(path: Path, write: Callable[[Any], Any], mode: str = "w") -> None:
    """Write a file under another name and give it its own when it is whole and on the disk.

    If that fails, what was there before is left as it was, and nothing else is left behind.
    """
    path = _destination(path)
    partial = _unfinished(path.parent)
    try:
        as_text: dict[str, Any] = (
            {} if "b" in mode else {"newline": "", "encoding": "utf-8", "errors": "backslashreplace"}
        )
        with partial.open(mode.replace("w", "x"), **as_text) as file:  # never one that is there already
            write(file)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            partial.unlink()
        if isinstance(error, OSError) and error.filename is not None and Path(error.filename) == partial:
            error.filename, error.filename2 = str(path), None  # the one that somebody knows
        raise
    _sync_folder(path.parent)


def check_place(path: Path) -> None:
    """Raise an `OSError` now if `write_atomically` could not write to a path later; nothing is left behind.

    The permissions of a folder do not tell all (a file system may be read-only, a name too long): this one tries.
    """
    path = _destination(path)
    path.exists()  # says so if the name is too long
    try_folder(path.parent)


def try_folder(folder: Path) -> None:
    """Raise an `OSError` if no file can be made in a folder."""
    trial = _unfinished(folder)
    try:
        trial.open("xb").close()
    except OSError as error:
        error.filename = str(folder)
        raise
    trial.unlink()


def remove_unfinished(folder: Path) -> None:
    """Remove what processes that were killed while they wrote to a folder have left behind there."""
    for path in folder.iterdir():
        if _UNFINISHED.fullmatch(path.name):
            with contextlib.suppress(OSError):
                path.unlink()


def _destination(path: Path) -> Path:
    """Return where a link leads to, so that the link stays."""
    try:
        return path.resolve()
    except RuntimeError as error:  # of older versions of Python, where a link leads back to itself
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from error


def _unfinished(folder: Path) -> Path:
    """Return a name in a folder that nobody else has."""
    return folder / f".unfinished-{secrets.token_hex(16)}"


def _sync_folder(folder: Path) -> None:
    """Let the new name reach the disk as well, where the system has a way to ask for it."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
