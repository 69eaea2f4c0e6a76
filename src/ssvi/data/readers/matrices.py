"""Sparse matrices in SciPy's .npz files."""

from __future__ import annotations

import math
import zipfile
from pathlib import Path
from typing import IO, Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ssvi.data.readers.assemble import check_dimension, check_shape, checked, plain
from ssvi.data.readers.base import Corpus, CorpusError, Progress, clause
from ssvi.data.readers.lines import MOST_PACKED
from ssvi.data.readers.put_down import are_put_down, new_entries
from ssvi.data.readers.vocabulary import words_of_columns

_FREE_BYTES = 1 << 28  # arrays may take so many bytes, whatever the size of the file
_BYTES_PER_BYTE = 100  # or so many times that size; counts are seldom packed by more than 20
_ENTRIES = 1 << 20  # of a matrix that is read piece by piece
_PARTS = {
    "csr": ("indices", "indptr"),
    "csc": ("indices", "indptr"),
    "bsr": ("indices", "indptr"),
    "dia": ("offsets",),
    "coo": ("row", "col"),
}
_MEMBERS = ("format", "shape", "data", "indices", "indptr", "offsets", "row", "col", "coords")


def read_npz(path: Path, vocabulary: Path | None, encoding: str, progress: Progress | None) -> Corpus:
    """Read a sparse matrix as `scipy.sparse.save_npz` writes it; pickled objects are refused and never loaded."""
    try:
        with zipfile.ZipFile(path) as archive:
            documents = _streamed(path, archive) if are_put_down() and _is_csr(archive) else None
            matrix = sparse_matrix(path, _arrays(path, archive)) if documents is None else None
    except CorpusError:
        raise
    except Exception as error:  # what zipfile, zlib and NumPy raise for damaged files is no closed list
        raise CorpusError(
            f"{path} is not a sparse matrix as scipy.sparse.save_npz writes it ({clause(error)}): get it again."
        ) from error
    documents = documents or checked(path, matrix)
    finish(path, progress)
    return Corpus(documents, words_of_columns(path, vocabulary, encoding, documents.n_words))


def _is_csr(archive: zipfile.ZipFile) -> bool:
    """Tell whether a file has the rows of a matrix one after the other, so that it can be read piece by piece."""
    if not {"format.npy", "shape.npy", "data.npy", "indices.npy", "indptr.npy"} <= set(archive.namelist()):
        return False
    with archive.open("format.npy") as member:
        return str(np.lib.format.read_array(member, allow_pickle=False).astype(str).item()) == "csr"


def _streamed(path: Path, archive: zipfile.ZipFile) -> Any:
    """Put the entries of a csr matrix down on disk, some at a time."""
    check_unpacked(path, sum(info.file_size for info in archive.infolist()))
    shape, indptr = (_whole_numbers(path, name, _array(path, archive, f"{name}.npy")) for name in ("shape", "indptr"))
    with archive.open("data.npy") as data_member, archive.open("indices.npy") as words_member:
        data, words = _Column(path, data_member), _Column(path, words_member)
        _whole_numbers(path, "indices", words.read(0))
        _check_pointers(path, indptr, words.size)
        if len(shape) != 2 or len(indptr) != shape[0] + 1 or data.size < indptr[-1]:
            raise ValueError("its arrays do not fit together")
        check_dimension(path, "words", int(shape[1]))
        entries = new_entries()
        for start in range(0, int(indptr[-1]), _ENTRIES):
            stop = min(start + _ENTRIES, int(indptr[-1]))
            rows = np.searchsorted(indptr, np.arange(start, stop), side="right") - 1
            own = words.read(stop - start)
            if own.min() < 0 or own.max() >= shape[1]:
                raise ValueError("an index is out of range")
            entries.add(rows, own, plain(path, data.read(stop - start)))
    return entries.documents(path, int(shape[0]), int(shape[1]))


class _Column:
    """An array of one dimension in a file, read from its beginning to its end."""

    def __init__(self, path: Path, member: IO[bytes]) -> None:
        shape, _, self._dtype = _header(member)
        if self._dtype.hasobject or len(shape) != 1:
            raise CorpusError(f"{path} has no plain numbers in it: save the matrix with scipy.sparse.save_npz.")
        self._member, self.size = member, int(shape[0])

    def read(self, count: int) -> npt.NDArray[Any]:
        """Return the next numbers."""
        return np.frombuffer(self._member.read(count * self._dtype.itemsize), self._dtype, count)


def check_unpacked(path: Path, size: int) -> None:
    """Refuse arrays of so many bytes if the file is too small for that: it would be made to fill the memory."""
    if size > max(_FREE_BYTES, _BYTES_PER_BYTE * path.stat().st_size):
        raise CorpusError(
            f"{path} unpacks to {size:,} bytes or more, over {_BYTES_PER_BYTE} times its size: save it uncompressed."
        )


def _arrays(path: Path, archive: zipfile.ZipFile) -> dict[str, npt.NDArray[Any]]:
    """Read the arrays that a sparse matrix can have, and no others."""
    names = sorted({name.removesuffix(".npy") for name in archive.namelist() if name.endswith(".npy")})
    wanted = [name for name in names if name in _MEMBERS]
    if not {"format", "shape", "data"} <= set(wanted):
        have = ", ".join(names[:10]) or "nothing"
        raise CorpusError(f"{path} holds {have} and no sparse matrix: save it with scipy.sparse.save_npz.")
    check_unpacked(path, sum(archive.getinfo(f"{name}.npy").file_size for name in wanted))
    return {name: _array(path, archive, f"{name}.npy") for name in wanted}


def _header(member: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read the header of an array: its shape, whether it lies in Fortran's order, and its type."""
    version = np.lib.format.read_magic(member)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    return read(member)


def _array(path: Path, archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    """Read an array of an .npz file once its header is found to fit the file."""
    info = archive.getinfo(name)
    with archive.open(info) as member:
        shape, _, dtype = _header(member)
    if dtype.hasobject:
        raise CorpusError(
            f"{path}: {name} holds pickled Python objects, which could run any program: save the matrix with "
            "scipy.sparse.save_npz."
        )
    size = math.prod(shape) * dtype.itemsize
    if not 0 <= size <= min(info.file_size, MOST_PACKED * path.stat().st_size):
        raise CorpusError(f"{path}: {name} says it has {size:,} bytes, more than there are: get the file again.")
    with archive.open(info) as member:
        array: npt.NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
    return array


def sparse_matrix(path: Path, arrays: dict[str, npt.NDArray[Any]]) -> Any:
    """Return the matrix of some arrays, named as `scipy.sparse.save_npz` names them, once they are found to fit."""
    kind = arrays["format"].item()
    kind = kind.decode("ascii") if isinstance(kind, bytes) else str(kind)
    if kind not in _PARTS:
        raise CorpusError(f"{path} has a sparse matrix of format {kind[:40]!r}: save it as one of {', '.join(_PARTS)}.")
    if kind == "coo" and "coords" in arrays:
        arrays["row"], arrays["col"] = arrays["coords"]
    places = [_whole_numbers(path, part, arrays.get(part)) for part in _PARTS[kind]]
    shape = _whole_numbers(path, "shape", arrays["shape"]).tolist()
    if len(shape) != 2:
        raise CorpusError(f"{path} has an array of {len(shape)} dimensions: give documents x words.")
    data = arrays["data"]
    if kind == "csr":  # its rows are there, however many
        check_dimension(path, "words", shape[1])
    else:
        check_shape(path, shape[0], shape[1], data.size)
    if kind == "coo":
        return sparse.coo_array((data, (places[0], places[1])), shape=(shape[0], shape[1]))
    if kind != "dia":
        _check_pointers(path, places[1], len(places[0]))
    matrix: Any = getattr(sparse, f"{kind}_array")((data, *places), shape=tuple(shape))
    if kind == "dia":
        return matrix.tocoo()
    matrix.check_format(full_check=True)
    return matrix.tocsr() if kind == "bsr" else matrix


def _check_pointers(path: Path, indptr: npt.NDArray[Any], n_indices: int) -> None:
    """Refuse pointers that lead out of the indices: SciPy does not look at those whose last is zero, and crashes."""
    if not len(indptr) or indptr[0] != 0 or indptr[-1] > n_indices or np.any(indptr[1:] < indptr[:-1]):
        raise CorpusError(f"{path} has an 'indptr' that does not go from 0 up to the number of entries: get it again.")


def _whole_numbers(path: Path, part: str, array: npt.NDArray[Any] | None) -> npt.NDArray[np.int64]:
    if array is None or array.ndim != 1 or array.dtype.kind not in "iu":
        raise CorpusError(f"{path} has no whole numbers {part!r}: save the matrix with scipy.sparse.save_npz.")
    # Smaller and unsigned types would overflow in what SciPy does with them; int32 is kept as it is.
    return array if array.dtype == np.int32 else array.astype(np.int64)


def finish(path: Path, progress: Progress | None) -> None:
    """Report that all of a file was read."""
    if progress is not None:
        size = path.stat().st_size
        progress(size, size)
