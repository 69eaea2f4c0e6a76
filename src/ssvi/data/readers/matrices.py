"""Matrices in binary files: SciPy's .npz and AnnData's .h5ad."""

from __future__ import annotations

import math
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ssvi.data.readers.assemble import check_dimension, check_shape, checked
from ssvi.data.readers.base import Corpus, CorpusError, Progress, clause, optional_module
from ssvi.data.readers.lines import MOST_PACKED
from ssvi.data.readers.vocabulary import words_of_columns

_BLOCK = 1 << 22  # entries of a dense matrix looked at together
_PARTS = {
    "csr": ("indices", "indptr"),
    "csc": ("indices", "indptr"),
    "bsr": ("indices", "indptr"),
    "dia": ("offsets",),
    "coo": ("row", "col"),
}


def read_npz(path: Path, vocabulary: Path | None, encoding: str, progress: Progress | None) -> Corpus:
    """Read a sparse matrix as `scipy.sparse.save_npz` writes it; pickled objects are refused and never loaded."""
    try:
        with zipfile.ZipFile(path) as archive:
            matrix = _sparse_matrix(path, {name: _array(path, archive, name) for name in archive.namelist()})
    except CorpusError:
        raise
    except Exception as error:  # what zipfile, zlib and NumPy raise for damaged files is no closed list
        raise CorpusError(
            f"{path} is not a sparse matrix as scipy.sparse.save_npz writes it ({clause(error)}): get it again."
        ) from error
    documents = checked(path, matrix)
    _finish(path, progress)
    return Corpus(documents, words_of_columns(path, vocabulary, encoding, documents.n_words), None)


def read_h5ad(path: Path, vocabulary: Path | None, encoding: str, progress: Progress | None) -> Corpus:
    """Read the matrix X of an AnnData file, with the names of its observations and variables."""
    anndata = optional_module("anndata", "cells", path)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about files of older versions, which are read all the same
            cells = anndata.read_h5ad(path, backed="r")
            try:
                matrix = _matrix_of_cells(path, cells.X)
                words, names = (tuple(map(str, own)) for own in (cells.var_names, cells.obs_names))
            finally:
                cells.file.close()
    except CorpusError:
        raise
    except Exception as error:  # h5py and anndata raise whatever the damage leads to
        raise CorpusError(
            f"{path} is not an h5ad file that anndata can read ({clause(error)}): get it again."
        ) from error
    if (len(names), len(words)) != matrix.shape:
        raise CorpusError(f"{path} has names for {len(names)} rows and {len(words)} columns, and others in X: mend it.")
    documents = checked(path, matrix)
    _finish(path, progress)
    given = None if vocabulary is None else words_of_columns(path, vocabulary, encoding, documents.n_words)
    return Corpus(documents, given or words, names)


def _array(path: Path, archive: zipfile.ZipFile, name: str) -> npt.NDArray[Any]:
    """Read an array of an .npz file once its header is found to fit the file."""
    info = archive.getinfo(name)
    with archive.open(info) as member:
        version = np.lib.format.read_magic(member)
        header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = header(member)
    if dtype.hasobject:
        raise CorpusError(
            f"{path}: {name} holds pickled Python objects, which could run any program: save the matrix with "
            "scipy.sparse.save_npz."
        )
    size = math.prod(shape) * dtype.itemsize
    if size > min(info.file_size, MOST_PACKED * path.stat().st_size):
        raise CorpusError(f"{path}: {name} says it has {size:,} bytes, more than there are: get the file again.")
    with archive.open(info) as member:
        array: npt.NDArray[Any] = np.lib.format.read_array(member, allow_pickle=False)
    return array


def _sparse_matrix(path: Path, members: dict[str, npt.NDArray[Any]]) -> Any:
    arrays = {name.removesuffix(".npy"): array for name, array in members.items()}
    if not {"format", "shape", "data"} <= arrays.keys():
        have = ", ".join(arrays) or "nothing"
        raise CorpusError(f"{path} holds {have} and no sparse matrix: save it with scipy.sparse.save_npz.")
    kind = arrays["format"].item()
    kind = kind.decode("ascii") if isinstance(kind, bytes) else str(kind)
    if kind not in _PARTS:
        raise CorpusError(f"{path} has a sparse matrix of format {kind!r}: save it as one of {', '.join(_PARTS)}.")
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
    matrix: Any = getattr(sparse, f"{kind}_array")((data, *places), shape=tuple(shape))
    if kind == "dia":
        return matrix.tocoo()
    matrix.check_format(full_check=True)
    return matrix.tocsr() if kind == "bsr" else matrix


def _whole_numbers(path: Path, part: str, array: npt.NDArray[Any] | None) -> npt.NDArray[np.int64]:
    if array is None or array.ndim != 1 or array.dtype.kind not in "iu":
        raise CorpusError(f"{path} has no whole numbers {part!r}: save the matrix with scipy.sparse.save_npz.")
    # Smaller and unsigned types would overflow in what SciPy does with them; int32 is kept as it is.
    return array if array.dtype == np.int32 else array.astype(np.int64)


def _matrix_of_cells(path: Path, stored: Any) -> Any:
    """Return X as a sparse matrix; a dense one is never whole in memory."""
    if stored is None:
        raise CorpusError(f"{path} has no matrix X: save the counts there.")
    if hasattr(stored, "to_memory"):
        matrix = stored.to_memory()
        matrix.check_format(full_check=True)
        return matrix
    n_rows, n_words = stored.shape
    if n_rows * n_words * stored.dtype.itemsize > MOST_PACKED * path.stat().st_size:
        raise CorpusError(f"{path} says X is {n_rows:,} x {n_words:,}, more than the file holds: get it again.")
    rows = max(1, _BLOCK // max(1, n_words))
    blocks = [sparse.csr_array(stored[start : start + rows]) for start in range(0, n_rows, rows)]
    return sparse.vstack(blocks or [sparse.csr_array((n_rows, n_words))], format="csr")


def _finish(path: Path, progress: Progress | None) -> None:
    if progress is not None:
        size = path.stat().st_size
        progress(size, size)
