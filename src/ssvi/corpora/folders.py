"""Where a corpus lies: a folder of this machine, or one that fsspec reads (s3://, gs://, memory://, ...)."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ssvi.data.readers.base import CorpusError

_ADDRESS = re.compile(r"^([a-z][a-z0-9+.-]+):/+")
_UNFINISHED = re.compile(r"\.unfinished-.*-([0-9]+)")


def is_url(path: str | os.PathLike[str]) -> bool:
    """Tell whether this is a place for fsspec.

    >>> is_url("s3://bucket/news"), is_url("news")
    (True, False)
    """
    return "://" in whole_address(path)


def whole_address(path: str | os.PathLike[str]) -> str:
    """Return a path or address as text; an address that was taken for a path has lost a slash.

    >>> whole_address(Path("s3://bucket/news")), whole_address(Path("news/s3:/x"))
    ('s3://bucket/news', 'news/s3:/x')
    """
    return _ADDRESS.sub(r"\1://", os.fspath(path))


class Folder:
    """A folder to read from. It can be sent to another process; files are opened there."""

    def __init__(self, where: str | os.PathLike[str]) -> None:
        self.where = whole_address(where)
        self._files: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {"where": self.where, "_files": None}

    def _remote(self) -> Any:
        if self._files is None:
            self._files, self._root = _filesystem(self.where)
        return self._files

    def place(self, name: str) -> str:
        """Return the path or address of a file, for messages."""
        return f"{self.where.rstrip('/')}/{name}" if is_url(self.where) else os.path.join(self.where, name)

    def open(self, name: str) -> Any:
        """Open a file to read its bytes."""
        if not is_url(self.where):
            return open(self.place(name), "rb")
        files = self._remote()
        return files.open(f"{self._root}/{name}", "rb")

    def open_for_arrow(self, name: str) -> Any:
        """Open a file for Arrow to read from, which lets go of files of this machine by itself."""
        if is_url(self.where):
            return self.open(name)
        import pyarrow as pa

        return pa.OSFile(self.place(name), "rb")

    def read(self, name: str) -> bytes:
        """Return all bytes of a file."""
        with self.open(name) as file:
            data: bytes = file.read()
        return data

    def sizes(self) -> dict[str, int]:
        """Return how many bytes each of its files has."""
        if not is_url(self.where):
            with os.scandir(self.where) as entries:
                return {entry.name: entry.stat().st_size for entry in entries if entry.is_file()}
        files = self._remote()
        found = files.ls(self._root, detail=True, refresh=True) if files.exists(self._root) else []
        return {own["name"].rstrip("/").rpartition("/")[2]: int(own["size"] or 0) for own in found}


class NewFolder:
    """A folder that is being written: it is there when `finish` was called, and before that nobody takes it for one.

    On this machine it has another name until then. Elsewhere, where folders have no names to change, the index is
    written last.
    """

    def __init__(self, where: str | os.PathLike[str]) -> None:
        self.where = whole_address(where)
        self._names: list[str] = []
        if is_url(self.where):
            self._files, self._root = _filesystem(self.where)
            if self._files.exists(self._root) and self._files.ls(self._root, detail=False):
                raise CorpusError(f"{self.where} is there already: give another place, or remove it.")
            self._files.makedirs(self._root, exist_ok=True)
            return
        self._final = Path(self.where)
        check_new(self._final)
        _remove_abandoned(self._final)
        self._partial = self._final.with_name(f".unfinished-{self._final.name}-{os.getpid()}")
        self._partial.mkdir()

    def create(self, name: str) -> Any:
        """Open a new file of the folder to write bytes."""
        self._names.append(name)
        if is_url(self.where):
            return self._files.open(f"{self._root}/{name}", "wb")
        return (self._partial / name).open("xb")

    def size(self, name: str) -> int:
        """Return how many bytes a file has that was written and closed."""
        if is_url(self.where):
            return int(self._files.size(f"{self._root}/{name}"))
        return (self._partial / name).stat().st_size

    def finish(self) -> None:
        """Let the folder appear."""
        if is_url(self.where):
            return
        if self._final.is_dir():
            self._final.rmdir()  # it was empty
        self._partial.rename(self._final)

    def abandon(self) -> None:
        """Remove all that was written."""
        if not is_url(self.where):
            shutil.rmtree(self._partial, ignore_errors=True)
            return
        for name in self._names:
            with contextlib.suppress(OSError):
                self._files.rm(f"{self._root}/{name}")


def check_new(folder: Path) -> None:
    """Raise if a new corpus cannot have this name."""
    if folder.exists() and not (folder.is_dir() and not any(folder.iterdir())):
        kind = "a folder with something in it" if folder.is_dir() else "a file"
        raise CorpusError(f"{folder} is there already, {kind}: give another name, or remove it.")
    if not folder.absolute().parent.is_dir():
        raise CorpusError(f"there is no folder {folder.absolute().parent} to write {folder.name} to.")


@contextlib.contextmanager
def named_if_full(output: str | os.PathLike[str]) -> Iterator[None]:
    """Let an error that says there is no more room on a disk name the corpus that was written there."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise
        raise CorpusError(
            f"{output} could not be written, there is no more room ({os.strerror(error.errno)}): nothing is left of "
            "it; make room, or give another place."
        ) from error


def _remove_abandoned(folder: Path) -> None:
    """Remove what processes that were killed while they wrote this folder have left behind."""
    for path in folder.absolute().parent.glob(f".unfinished-{folder.name}-*"):
        owner = _UNFINISHED.fullmatch(path.name)
        if owner is not None and not Path("/proc", owner[1]).exists() and Path("/proc").exists():
            shutil.rmtree(path, ignore_errors=True)


def _filesystem(where: str) -> tuple[Any, str]:
    try:
        from fsspec.core import url_to_fs
    except ImportError as error:
        raise CorpusError(f"reading {where} needs fsspec: pip install 'ssvi[arrow]'.") from error
    try:
        files, root = url_to_fs(where)
    except (ValueError, ImportError) as error:
        raise CorpusError(f"{where} cannot be opened: {error}.") from error
    return files, str(root).rstrip("/")


@contextlib.contextmanager
def spill_folder(output: str | os.PathLike[str]) -> Iterator[Path]:
    """Yield a folder for what is put down: beside the output, where there is room for it, or of the system."""
    if is_url(output):
        with tempfile.TemporaryDirectory(prefix="ssvi-") as folder:
            yield Path(folder)
        return
    final = Path(output).absolute()
    own = final.with_name(f".unfinished-{final.name}-words-{os.getpid()}")
    own.mkdir()
    try:
        yield own
    finally:
        shutil.rmtree(own, ignore_errors=True)
