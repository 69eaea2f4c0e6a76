"""The program that reads .h5ad files, in a process of its own; `ssvi.data.readers.cells` starts it.

HDF5 trusts the sizes and addresses in its files: changed bytes can crash it, make it loop, or make it ask for all
memory. Here that ends only this process, which limits its memory and its time (of computing, so that a busy machine or
a slow disk makes no difference). It imports h5py and NumPy and nothing else: anndata and pandas would take longer to
start and look at more of the file.

What it finds goes to standard output: before each array a line of JSON with its name, type and length, then its bytes.
The last line is {"end": true}, or {"fault": ...} with what is wrong.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

MEMORY = 768 << 20  # bytes beyond what the libraries take
BLOCK = 1 << 21  # entries handed on together
_SECONDS = 1  # of computing for any file, and one more for each of these bytes of it
_BYTES_A_SECOND = 1 << 20
_MOST_PACKED = 1032  # deflate makes nothing smaller than by this factor


class _FaultError(Exception):
    """What is wrong with the file."""


def main() -> None:
    """Read the file named in the first argument."""
    path = Path(sys.argv[1])
    h5py = importlib.import_module("h5py")
    with contextlib.suppress(ImportError):
        importlib.import_module("hdf5plugin")  # further ways to pack, for those who have it
    _limit(path.stat().st_size)
    try:
        with h5py.File(path, "r") as file:
            _send_matrix(file, path.stat().st_size)
            for part, name in (("var", "words"), ("obs", "names")):
                _send_strings(name, file, part)
        last: dict[str, Any] = {"end": True}
    except Exception as error:  # h5py raises whatever the damage leads to
        last = {"fault": " ".join(str(error).split()) or type(error).__name__}
    sys.stdout.buffer.write(json.dumps(last).encode() + b"\n")


def _limit(size: int) -> None:
    """Limit time and memory, where the system has such limits."""
    try:
        import resource
    except ImportError:  # Windows has none
        return
    with contextlib.suppress(OSError, ValueError):
        usage = resource.getrusage(resource.RUSAGE_SELF)
        seconds = 1 + int(usage.ru_utime + usage.ru_stime) + _SECONDS + size // _BYTES_A_SECOND
        # The first limit ends it by a signal of its own.
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))


def _send(name: str, array: Any) -> None:
    flat = np.ascontiguousarray(array).reshape(-1)
    if flat.dtype.kind not in "biuf":
        raise _FaultError(f"{name} has entries of type {flat.dtype}, which are no numbers")
    head = {"name": name, "dtype": flat.dtype.str, "length": len(flat)}
    sys.stdout.buffer.write(json.dumps(head).encode() + b"\n")
    sys.stdout.buffer.write(flat.tobytes())


def _member(group: Any, name: str) -> Any:
    if name not in group:
        raise _FaultError(f"there is no {name} in {group.name}")
    return group[name]


def _blocks(dataset: Any, width: int = 1) -> Iterator[Any]:
    """Yield the first dimension of a dataset in pieces, so that it is never whole in memory."""
    rows = max(1, BLOCK // max(1, width))
    for start in range(0, dataset.shape[0], rows):
        yield dataset[start : start + rows]


def _check_size(dataset: Any, size: int) -> None:
    if dataset.size is None or dataset.size * dataset.dtype.itemsize > _MOST_PACKED * size:
        raise _FaultError(f"{dataset.name} says it has {dataset.size or 0:,} entries, more than the file holds")


def _send_matrix(file: Any, size: int) -> None:
    stored = _member(file, "X")
    if hasattr(stored, "shape"):
        _send_dense(stored, size)
        return
    kind = stored.attrs.get("encoding-type", stored.attrs.get("h5sparse_format"))
    kind = str(kind.decode() if isinstance(kind, bytes) else kind).removesuffix("_matrix")
    if kind not in ("csr", "csc"):
        raise _FaultError(f"X is stored as {kind[:40]!r}, and neither dense nor as csr_matrix or csc_matrix")
    shape = stored.attrs.get("shape", stored.attrs.get("h5sparse_shape"))  # the latter before anndata 0.7
    _send("csc" if kind == "csc" else "csr", np.asarray(shape))
    for name in ("indptr", "indices", "data"):
        dataset = _member(stored, name)
        if len(dataset.shape) != 1:
            raise _FaultError(f"{dataset.name} has {len(dataset.shape)} dimensions and not one")
        _check_size(dataset, size)
        for block in _blocks(dataset):
            _send(name, block)


def _send_dense(stored: Any, size: int) -> None:
    """Send the entries of a dense matrix that are not zero."""
    if len(stored.shape) != 2:
        raise _FaultError(f"X has {len(stored.shape)} dimensions and not two")
    _check_size(stored, size)
    _send("csr", np.array(stored.shape))
    _send("indptr", np.zeros(1, np.int64))
    found = 0
    for block in _blocks(stored, stored.shape[1]):
        rows, columns = np.nonzero(block)
        _send("indptr", found + np.cumsum(np.bincount(rows, minlength=len(block))))
        _send("indices", columns)
        _send("data", block[rows, columns])
        found += len(rows)


def _send_strings(name: str, file: Any, part: str) -> None:
    """Send the index of a data frame, JSON lists as bytes."""
    frame = _member(file, part)
    index = frame.attrs.get("_index", "_index")
    if getattr(frame.dtype if hasattr(frame, "shape") else None, "names", None):  # a table, before anndata 0.7
        fields = frame.dtype.names
        strings = frame.fields(next((own for own in ("index", "_index") if own in fields), fields[0]))
        length = frame.shape[0]
    else:
        strings = _member(frame, index.decode() if isinstance(index, bytes) else str(index))
        if not hasattr(strings, "shape"):  # strings of which some may be missing
            strings = _member(strings, "values")
        length = strings.shape[0]
    for start in range(0, length, 1 << 14):
        piece = [one.decode() if isinstance(one, bytes) else str(one) for one in strings[start : start + (1 << 14)]]
        _send(name, np.frombuffer(json.dumps(piece).encode(), np.uint8))


if __name__ == "__main__":
    main()
