"""Files as lines and as chunks of lines, plain or in gzip, never whole in memory."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ssvi.data.readers.base import CorpusError, Progress

_BUFFER = 1 << 18  # bytes read from disk at a time
_REPORT = 1 << 20  # bytes between two calls of progress
_CHUNK = 1 << 22  # bytes of a chunk of lines; temporary arrays are a few times as large
_LONGEST = 1 << 28  # bytes of the longest line of numbers
MOST_PACKED = 1032  # deflate makes nothing smaller than by this factor
_LINE_END = re.compile("\r\n|\r|\n")
_GZIP_FAULTS = (EOFError, zlib.error, gzip.BadGzipFile)


class _ReportedFile(io.FileIO):
    """A file that tells how much of it was read."""

    def __init__(self, path: Path, progress: Progress | None) -> None:
        super().__init__(path, "rb")
        self._progress = progress
        self._total = path.stat().st_size
        self._done = self._reported = 0

    def readinto(self, buffer: Any) -> int | None:
        size = super().readinto(buffer)
        self._done += size or 0
        if self._progress is not None and (self._done - self._reported >= _REPORT or not size):
            self._reported = self._done
            self._progress(self._done, max(self._done, self._total))
        return size


class Source:
    """An open file and how far it has been read; use it in a `with` statement.

    Attributes
    ----------
    path : Path
        Where it is.
    number : int
        How many lines were handed out; while one is looked at, its number, from 1.

    """

    def __init__(self, path: Path, progress: Progress | None = None) -> None:
        self.path = path
        self.number = 0
        file = io.BufferedReader(_ReportedFile(path, progress), _BUFFER)
        self._stream: Any = file
        if file.peek(2)[:2] == b"\x1f\x8b":
            self._stream = gzip.GzipFile(fileobj=file)
        elif path.suffix.lower() == ".gz":
            file.close()
            raise CorpusError(f"{path} is not a gzip file though it is named one: rename it or get it again.")
        self._file = file
        self._reader: io.TextIOWrapper | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for stream in (self._reader, self._stream, self._file):
            if stream is not None:
                stream.close()

    def fault(self, what: str, number: int | None = None) -> CorpusError:
        """Return an error about a line, the current one unless its number is given."""
        return CorpusError(f"{self.path}, line {self.number if number is None else number}: {what}")

    def largest_size(self) -> int:
        """Return how many bytes the file can have at the most once it is unpacked."""
        packed = isinstance(self._stream, gzip.GzipFile)
        return self.path.stat().st_size * (MOST_PACKED if packed else 1)

    def line(self) -> bytes:
        """Return the next line, b"" at the end."""
        self.number += 1
        try:
            return bytes(self._stream.readline(_LONGEST))
        except _GZIP_FAULTS as error:
            raise self._gzip_fault(error) from error

    def chunks(self) -> Iterator[tuple[int, bytes]]:
        """Yield the rest in chunks of whole lines, each with the number of its first line."""
        while True:
            self.number += 1
            try:
                chunk = self._stream.read(_CHUNK)
                if chunk and not chunk.endswith(b"\n"):
                    chunk += self._stream.readline(_LONGEST)
            except _GZIP_FAULTS as error:
                raise self._gzip_fault(error) from error
            if not chunk:
                return
            if len(chunk) >= _LONGEST and not chunk.endswith(b"\n"):
                raise self.fault("the line does not end: this is no file of numbers, check its format.")
            yield self.number, chunk
            self.number += chunk.count(b"\n") - 1

    def text(self, encoding: str, newline: str | None = None) -> Iterator[str]:
        """Yield the lines as text; `newline` as for `open`."""
        try:
            for line in self._decoded(encoding, newline):
                self.number += 1
                yield line
        except UnicodeError as error:
            raise self.fault(*_unreadable(error, encoding, self.number + 1)) from error
        except _GZIP_FAULTS as error:
            self.number += 1
            raise self._gzip_fault(error) from error
        if self.number == 0:
            raise CorpusError(f"{self.path} is empty: give a file with documents.")

    def whole_text(self, encoding: str) -> str:
        """Return everything as one text."""
        try:
            return self._decoded(encoding, None).read()
        except UnicodeError as error:
            raise self.fault(*_unreadable(error, encoding, 1)) from error
        except _GZIP_FAULTS as error:
            raise self._gzip_fault(error) from error

    def _decoded(self, encoding: str, newline: str | None) -> io.TextIOWrapper:
        # Kept, because its end would close the stream and warn that nobody else had.
        self._reader = io.TextIOWrapper(self._stream, encoding=text_encoding(encoding), newline=newline)
        return self._reader

    def _gzip_fault(self, error: Exception) -> CorpusError:
        what = "ends in the middle of its" if isinstance(error, EOFError) else "has corrupt"
        return self.fault(f"the file {what} gzip data: get it again.")


def text_encoding(encoding: str) -> str:
    """Return the encoding to open a file with; of UTF-8, the one that leaves out the mark some programs begin with."""
    try:
        name = codecs.lookup(encoding).name
        io.TextIOWrapper(io.BytesIO(), encoding=encoding)  # refuses those that are no encodings of text
    except (LookupError, UnicodeError, ValueError) as error:
        raise CorpusError(
            f"there is no encoding of text {encoding!r}: give one such as 'utf-8' or 'latin-1'."
        ) from error
    return "utf-8-sig" if name == "utf-8" else encoding


def _unreadable(error: UnicodeError, encoding: str, line: int) -> tuple[str, int]:
    """Say what does not decode and on which line; the error holds the bytes since the last line handed out."""
    what = ""
    if isinstance(error, UnicodeDecodeError):
        before = error.object[: error.start].decode(error.encoding, "replace")
        line += len(_LINE_END.findall(before))
        what = f"byte 0x{error.object[error.start]:02x} "
    return f"{what or 'the text '}is not valid in {encoding}: give the file's `encoding`, such as 'latin-1'.", line
