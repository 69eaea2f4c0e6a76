"""The one form of file: a safetensors file whose metadata is a JSON text that begins with a checksum of the whole file.

safetensors holds plain arrays behind a JSON header that says where each begins and ends; its reader checks the header
against the file before it touches anything. There is nothing in it that could run.

The checksum stands at a fixed place, as the first entry of the text. It is that of every byte of the file, header,
padding and arrays, with zeros in its own place. Files of schema 1 have none, and stay readable.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

import ssvi
from ssvi.file_kinds import HEAD, MODEL, kind_of, looks_like_text
from ssvi.files.atomic import write_atomically

SCHEMA = 2
"""The version of the form of files. Those of every earlier version stay readable."""

_WITHOUT_CHECKSUM = 1  # the schema of files that have none
_KEY = "ssvi"
_LONGEST_HEADER = 64_000_000  # bytes; a vocabulary of a million words takes twenty
_CHUNK = 1 << 20

_BEFORE = b'{"__metadata__":{"ssvi":"{\\"checksum\\": \\"'  # what a header has before its checksum
_DIGEST_BYTES = 32
_BLANK = b"0" * (2 * _DIGEST_BYTES)
_PLACE = slice(8 + len(_BEFORE), 8 + len(_BEFORE) + len(_BLANK))  # behind the header's length and its beginning

Arrays = Mapping[str, npt.NDArray[Any]]


def write(path: str | os.PathLike[str], text: Mapping[str, Any], arrays: Arrays) -> None:
    """Write a JSON text and arrays; an existing file is replaced only by a whole one."""
    from safetensors.numpy import save

    content = {"checksum": _BLANK.decode(), "schema": SCHEMA, **text}
    metadata = {_KEY: json.dumps(content, ensure_ascii=False, allow_nan=False)}
    packed = save({name: np.asarray(array, order="C") for name, array in arrays.items()}, metadata)
    parts = _sealed(packed)
    write_atomically(Path(path), lambda file: file.writelines(parts), "wb")


def read(path: str | os.PathLike[str], what: str) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Read what `write` wrote, or raise a `ValueError` that names the file and says that it is not `what`."""
    with _opened(path, what) as (file, text):
        return text, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118


def read_text(path: str | os.PathLike[str], what: str) -> dict[str, Any]:
    """Read the JSON text of a file alone; its bytes are checked as those of any other."""
    with _opened(path, what) as (_, text):
        return text


@contextmanager
def _opened(path: str | os.PathLike[str], what: str) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Open a file that was checked, and its text; whatever is wrong with it is a `ValueError` that names it."""
    from safetensors import safe_open

    try:
        has_checksum = _check_bytes(Path(path))
        with safe_open(os.fspath(path), framework="numpy") as file:
            text = json.loads((file.metadata() or {})[_KEY])
            if not isinstance(text, dict):
                raise ValueError("its text is not an object")
            _check_schema(text, has_checksum=has_checksum)
            text.pop("checksum", None)
            yield file, text
    except OSError:
        raise
    except KeyError as error:
        raise ValueError(f"{os.fspath(path)} is not {what}: it has no entry {error}.") from error
    except Exception as error:
        raise ValueError(f"{os.fspath(path)} is not {what}: {error}.") from error


def seal(content: bytes) -> bytes:
    """Return the bytes of a file with their checksum in its place."""
    return b"".join(_sealed(content))


def _sealed(content: bytes) -> tuple[memoryview, bytes, memoryview]:
    """Return what stands before the checksum, the checksum, and what stands behind it."""
    before, behind = memoryview(content)[: _PLACE.start], memoryview(content)[_PLACE.stop :]
    return before, _digest(before, _BLANK, behind), behind


def _digest(*parts: bytes | memoryview, rest: BinaryIO | None = None) -> bytes:
    """Return the checksum of some bytes, and of what is left of a file."""
    digest = hashlib.blake2b(digest_size=_DIGEST_BYTES)
    for part in parts:
        digest.update(part)
    while rest is not None and (chunk := rest.read(_CHUNK)):
        digest.update(chunk)
    return digest.hexdigest().encode()


def _check_bytes(path: Path) -> bool:
    """Raise unless the header's length fits the file, and the file its checksum; tell whether it has one."""
    with path.open("rb") as file:
        beginning = file.read(_PLACE.stop)
        size = os.fstat(file.fileno()).st_size
        if len(beginning) < 8:
            raise ValueError("it is too short")
        (length,) = struct.unpack_from("<Q", beginning)
        if length > min(_LONGEST_HEADER, size - 8):
            raise ValueError(_other_kind(path))
        if beginning[8 : _PLACE.start] != _BEFORE:
            return False
        if _digest(beginning[: _PLACE.start], _BLANK, rest=file) != beginning[_PLACE]:
            raise ValueError("it was damaged after it was written (its checksum does not fit): use another copy of it")
    return True


def _other_kind(path: Path) -> str:
    """Return what a file is that does not begin as ours do."""
    kind = kind_of(path)
    if kind is not None and kind is not MODEL:
        hint = "; a model is what `ssvi fit` writes, and corpora come after it" if kind.format else ""
        return f"it is {kind.name}{hint}"
    with path.open("rb") as file:
        if looks_like_text(file.read(HEAD)):
            return "it is text; a model is what `ssvi fit` writes"
    return "it does not begin as one, or is cut short"


def _check_schema(text: Mapping[str, Any], *, has_checksum: bool) -> None:
    """Raise if this version cannot read the file, or if damage has hidden its checksum."""
    schema = text.get("schema")
    # A file that never had a checksum begins with its kind; one whose checksum was made unreadable does not.
    if not has_checksum and (schema == SCHEMA or "checksum" in text or next(iter(text), None) != "kind"):
        raise ValueError("it was damaged after it was written (it has lost its checksum): use another copy of it")
    if schema not in (_WITHOUT_CHECKSUM, SCHEMA):
        raise ValueError(f"its schema is {schema!r}, and this version of ssvi ({ssvi.__version__}) knows {SCHEMA}")
