"""The one form of file: a safetensors file whose metadata is a JSON text.

safetensors holds plain arrays behind a JSON header that says where each begins and ends; its reader checks the header
against the file before it touches anything. There is nothing in it that could run.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.files.atomic import write_atomically

_KEY = "ssvi"
_LONGEST_HEADER = 64_000_000  # bytes; a vocabulary of a million words takes twenty

Arrays = Mapping[str, npt.NDArray[Any]]


def write(path: str | os.PathLike[str], text: Mapping[str, Any], arrays: Arrays) -> None:
    """Write a JSON text and arrays; an existing file is replaced only by a whole one."""
    from safetensors.numpy import save

    metadata = {_KEY: json.dumps(text, ensure_ascii=False, allow_nan=False)}
    content = save({name: np.ascontiguousarray(array) for name, array in arrays.items()}, metadata)
    write_atomically(Path(path), lambda file: file.write(content), "wb")


def read(path: str | os.PathLike[str], what: str) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Read what `write` wrote, or raise a `ValueError` that names the file and says that it is not `what`."""
    from safetensors import safe_open

    try:
        _check_header(Path(path))
        with safe_open(os.fspath(path), framework="numpy") as file:
            text = json.loads((file.metadata() or {})[_KEY])
            if not isinstance(text, dict):
                raise ValueError("its text is not an object")
            return text, {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except OSError:
        raise
    except KeyError as error:
        raise ValueError(f"{os.fspath(path)} is not {what}: it has no entry {error}.") from error
    except Exception as error:
        raise ValueError(f"{os.fspath(path)} is not {what}: {error}.") from error


def _check_header(path: Path) -> None:
    """Raise unless the header's length, which is the file's first eight bytes, fits the file and is sensible."""
    with path.open("rb") as file:
        start = file.read(8)
        size = os.fstat(file.fileno()).st_size
    if len(start) < 8:
        raise ValueError("it is too short")
    (length,) = struct.unpack("<Q", start)
    if length > min(_LONGEST_HEADER, size - 8):
        raise ValueError(f"it does not begin as one (its header claims {length:,} bytes, and the file has {size:,})")
