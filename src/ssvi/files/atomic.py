"""Files that are either whole or not there."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


def write_atomically(path: Path, write: Callable[[Any], Any], mode: str = "w") -> None:
    """Write a file under another name and give it its own when it is whole and on the disk.

    If that fails, what was there before is left as it was, and nothing else is left behind.
    """
    path = path.resolve()  # where a link leads to, so that the link stays
    partial = path.with_name(path.name + ".partial")
    try:
        as_text: dict[str, Any] = (
            {} if "b" in mode else {"newline": "", "encoding": "utf-8", "errors": "backslashreplace"}
        )
        with partial.open(mode, **as_text) as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        with contextlib.suppress(OSError):
            partial.unlink()
        raise
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    """Let the new name reach the disk as well, where the system has a way to ask for it."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
