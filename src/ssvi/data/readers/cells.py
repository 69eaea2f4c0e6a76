"""AnnData's .h5ad files, read by a child process that may crash."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
from collections import defaultdict
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from ssvi.data.readers.assemble import checked
from ssvi.data.readers.base import Corpus, CorpusError, DocumentInfo, Progress
from ssvi.data.readers.matrices import check_unpacked, finish, sparse_matrix
from ssvi.data.readers.vocabulary import words_of_columns

_PROGRAM = Path(__file__).with_name("cells_process.py")
_LONGEST_LINE = 1 << 16
_LARGEST_PIECE = 1 << 30
_Piece = tuple[str, npt.NDArray[Any]]


def read_h5ad(path: Path, vocabulary: Path | None, encoding: str, progress: Progress | None) -> Corpus:
    """Read the matrix X of an AnnData file, with the names of its observations and variables.

    HDF5 itself runs in a process of its own, with limits on time and memory: see `cells_process`.
    """
    if importlib.util.find_spec("h5py") is None:
        raise CorpusError(f"reading {path} needs h5py: pip install 'ssvi[cells]'.")
    pieces: dict[str, list[npt.NDArray[Any]]] = defaultdict(list)
    total = 0
    for name, piece in _pieces(path):
        pieces[name].append(piece)
        total += piece.nbytes
        check_unpacked(path, total)
    try:
        words, names = (_strings(pieces.pop(name, [])) for name in ("words", "names"))
        arrays = {name: np.concatenate(pieces.pop(name)) for name in list(pieces)}
        arrays["format"], arrays["shape"] = next(
            (np.array(kind), arrays[kind]) for kind in ("csr", "csc") if kind in arrays
        )
        arrays.setdefault("indices", np.zeros(0, np.int64))
        arrays.setdefault("data", np.zeros(0))
        matrix = sparse_matrix(path, arrays)
    except CorpusError:
        raise
    except Exception as error:  # what SciPy and NumPy raise is no closed list
        raise _fault(path, str(error)) from error
    if (len(names), len(words)) != matrix.shape:
        raise CorpusError(f"{path} has names for {len(names)} rows and {len(words)} columns, and others in X: mend it.")
    documents = checked(path, matrix)
    finish(path, progress)
    given = None if vocabulary is None else words_of_columns(path, vocabulary, encoding, documents.n_words)
    return Corpus(documents, given or words, DocumentInfo(ids=names))


def _fault(path: Path, what: str) -> CorpusError:
    return CorpusError(f"{path} is not an h5ad file that can be read ({what.rstrip('.')}): get it again.")


def _strings(pieces: list[npt.NDArray[Any]]) -> tuple[str, ...]:
    return tuple(string for piece in pieces for string in json.loads(piece.tobytes()))


def _pieces(path: Path) -> Iterator[_Piece]:
    """Yield what the child process sends."""
    # As this process finds modules: it may know more places than the environment says.
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(place for place in sys.path if place)}
    # -P: the program's own folder has modules named like those of Python.
    command = [sys.executable, "-P", str(_PROGRAM), str(path.absolute())]
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment
    ) as child:
        try:
            assert child.stdout is not None
            last = yield from _received(child.stdout)
            if last is None:
                raise _fault(path, _ending(child.wait()))
            if "fault" in last:
                raise _fault(path, str(last["fault"]))
        finally:
            child.kill()


def _received(stream: IO[bytes]) -> Generator[_Piece, None, dict[str, Any] | None]:
    """Yield arrays; return the last line, None if it does not come. A process that went wrong may send anything."""
    while True:
        try:
            head = json.loads(stream.readline(_LONGEST_LINE))
            if "name" not in head:
                return dict(head)
            name, dtype, length = str(head["name"]), np.dtype(str(head["dtype"])), int(head["length"])
        except (ValueError, TypeError, KeyError):
            return None
        if dtype.kind not in "biuf" or not 0 <= length * dtype.itemsize <= _LARGEST_PIECE:
            return None
        content = stream.read(length * dtype.itemsize)
        if len(content) != length * dtype.itemsize:
            return None
        yield name, np.frombuffer(content, dtype)


def _ending(code: int) -> str:
    """Say how the child ended."""
    if code == -getattr(signal, "SIGXCPU", 0):
        return "the HDF5 library does not get to an end"
    return "the HDF5 library crashes on it"
