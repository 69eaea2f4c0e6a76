"""Files as lines and as chunks of lines, plain or in gzip, never whole in memory."""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from ssvi.data.readers.base import CorpusError, Progress, refuse_foreign
from ssvi.file_kinds import head_of, kind_of, kind_of_bytes

_BUFFER = 1 << 18  # bytes read from disk at a time
_REPORT = 1 << 20  # bytes between two calls of progress
_CHUNK = 1 << 22  # bytes of a chunk of lines; temporary arrays are a few times as large
_LONGEST = 1 << 24  # bytes of the longest line of numbers: a document of a million different words
LONGEST_TEXT = 1 << 25  # characters of the longest document; its words take up to twenty times as many bytes
MOST_PACKED = 1032  # deflate makes nothing smaller than by this factor
_FREE_BYTES = 1 << 24  # a gzip file may hold so many bytes, however small it is,
_BYTES_PER_BYTE = 50  # and so many times its size; text is seldom packed by more than 10
_LINE_END = re.compile("\r\n|\r|\n")


class _BombError(Exception):
    """A small file unpacks to so much that it would fill the memory."""


_GZIP_FAULTS = (EOFError, zlib.error, gzip.BadGzipFile, _BombError)


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


class _Unpacked(io.RawIOBase):
    """What is in a gzip file, unless it is out of all proportion to the file."""

    def __init__(self, file: Any, size: int) -> None:
        self._gzip = gzip.GzipFile(fileobj=file)
        self._left = max(_FREE_BYTES, _BYTES_PER_BYTE * size)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        # Whatever comes before damage is handed on first, so that lines are counted up to there.
        piece = self._gzip.read1(len(buffer))
        self._left -= len(piece)
        if self._left < 0:
            raise _BombError
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        self._gzip.close()
        super().close()


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
            self._stream = io.BufferedReader(_Unpacked(file, path.stat().st_size), _BUFFER)
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

    def refuse_foreign(self, format: str) -> None:
        """Refuse the file if its first bytes say that it is something else than text."""
        try:
            kind = kind_of_bytes(head_of(self._stream))
        except _GZIP_FAULTS:
            return  # which will be told with its line
        if kind is not None:
            refuse_foreign(self.path, kind_of(self.path) or kind, format)

    def first_character(self, encoding: str) -> str:
        """Return the first character that is no space, without reading it: the file may be a pipe."""
        try:
            head = bytes(self._stream.peek(_BUFFER))
        except _GZIP_FAULTS:
            return ""  # which will be told with its line
        return head.decode(text_encoding(encoding), "ignore").lstrip("\ufeff").lstrip()[:1]

    def largest_size(self) -> int:
        """Return how many bytes the file can have at the most once it is unpacked."""
        packed = self._stream is not self._file
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
        while chunk := self._chunk():
            self.number += 1
            yield self.number, chunk
            self.number += chunk.count(b"\n") - 1

    def _chunk(self) -> bytes:
        pieces: list[bytes] = []
        size = 0
        try:
            while size < _CHUNK and (piece := self._stream.read1(_CHUNK - size)):
                pieces.append(piece)
                size += len(piece)
            if pieces and not pieces[-1].endswith(b"\n"):
                pieces.append(self._stream.readline(_LONGEST))
        except _GZIP_FAULTS as error:
            self.number += 1 + sum(piece.count(b"\n") for piece in pieces)
            raise self._gzip_fault(error) from error
        if pieces and len(pieces[-1]) >= _LONGEST and not pieces[-1].endswith(b"\n"):
            number = self.number + 1 + sum(piece.count(b"\n") for piece in pieces)
            raise self.fault("the line does not end: this is no file of numbers, check its format.", number)
        return b"".join(pieces)

    def text(self, encoding: str, newline: str | None = None, *, may_be_empty: bool = False) -> Iterator[str]:
        """Yield the lines as text; `newline` as for `open`."""
        try:
            # Not the reader itself, which would take a line of any length.
            for line in iter(partial(self._decoded(encoding, newline).readline, LONGEST_TEXT), ""):
                self.number += 1
                if len(line) == LONGEST_TEXT:
                    raise self.too_long("line", self.number)
                yield line
        except UnicodeError as error:
            raise self.fault(*_unreadable(error, encoding, self.number + 1)) from error
        except _GZIP_FAULTS as error:
            self.number += 1
            raise self._gzip_fault(error) from error
        if self.number == 0 and not may_be_empty:
            raise CorpusError(f"{self.path} is empty: give a file with documents.")

    def pieces(self, encoding: str, size: int) -> Iterator[str]:
        """Yield the text in pieces of so many characters, whatever its lines are; `number` is left to the caller."""
        try:
            yield from iter(partial(self._decoded(encoding, None).read, size), "")
        except UnicodeError as error:
            raise self.fault(*_unreadable(error, encoding, self.number)) from error
        except _GZIP_FAULTS as error:
            raise self._gzip_fault(error) from error

    def whole_text(self, encoding: str) -> str:
        """Return everything as one text."""
        lines, size = [], 0
        for line in self.text(encoding, may_be_empty=True):
            size += len(line)
            if size >= LONGEST_TEXT:
                raise self.too_long("file", 1)
            lines.append(line)
        return "".join(lines)

    def too_long(self, what: str, number: int) -> CorpusError:
        """Return an error about a document that has no end."""
        return self.fault(f"the {what} has {LONGEST_TEXT:,} characters or more: split it into documents.", number)

    def _decoded(self, encoding: str, newline: str | None) -> io.TextIOWrapper:
        # Kept, because its end would close the stream and warn that nobody else had.
        self._reader = io.TextIOWrapper(self._stream, encoding=text_encoding(encoding), newline=newline)
        return self._reader

    def _gzip_fault(self, error: Exception) -> CorpusError:
        return self.fault(f"the file {_gzip_trouble(error)}.")


def _gzip_trouble(error: Exception) -> str:
    if isinstance(error, _BombError):
        return f"unpacks to over {_BYTES_PER_BYTE} times its size: unpack it first if that is right"
    what = "ends in the middle of its" if isinstance(error, EOFError) else "has corrupt"
    return f"{what} gzip data: get it again"


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
    what, likely = "", "latin-1"
    if isinstance(error, UnicodeDecodeError):
        before = error.object[: error.start].decode(error.encoding, "replace")
        line += len(_LINE_END.findall(before))
        what = f"byte 0x{error.object[error.start]:02x} "
        if line == 1 and error.object.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            likely = "utf-16"
    return f"{what or 'the text '}is not valid in {encoding}: give the file's `encoding`, such as {likely!r}.", line
