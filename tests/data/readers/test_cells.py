import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy import sparse
from tests.data.readers.helpers import dense

from ssvi.data.readers import cells, cells_process, read_corpus

h5py = pytest.importorskip("h5py")
COUNTS = np.array([[0, 2, 0, 1], [0, 0, 0, 0], [3, 0, 0, 0], [1, 1, 1, 1]])


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csc_matrix])
def test_as_anndata_writes_it(tmp_path, form):
    anndata = pytest.importorskip("anndata")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        written = anndata.AnnData(form(COUNTS.astype(np.float32)))
        written.var_names, written.obs_names = ["a", "b\n", "\u00e9", "d"], list("wxyz")
        written.write_h5ad(tmp_path / "a.h5ad", compression="gzip")
    calls = []
    corpus = read_corpus(tmp_path / "a.h5ad", progress=lambda *call: calls.append(call))
    np.testing.assert_array_equal(dense(corpus), COUNTS)
    assert corpus.vocabulary == ("a", "b\n", "\u00e9", "d")
    assert corpus.names == tuple("wxyz")
    assert calls
    words = tmp_path / "words.txt"
    words.write_text("k\nl\nm\nn\n")
    assert read_corpus(tmp_path / "a.h5ad", vocabulary=words).vocabulary == tuple("klmn")


def _write(path, **changes):
    """Write a file as old versions of anndata did; `changes` replace its members."""
    rows = sparse.csr_array(COUNTS)
    index = np.array([(name,) for name in (b"w", b"x", b"y", b"z")], dtype=[("index", "S1")])
    members = {"X/data": rows.data, "X/indices": rows.indices, "X/indptr": rows.indptr, "obs": index, "var": index}
    with h5py.File(path, "w") as file:
        for name, value in {**members, **changes}.items():
            if value is not None:
                file[name] = value
        if isinstance(file.get("X"), h5py.Group):
            file["X"].attrs.update(h5sparse_format=changes.get("kind", "csr"), h5sparse_shape=(4, 4))
    return path


def test_old_files(tmp_path):
    corpus = read_corpus(_write(tmp_path / "a.h5ad"))
    np.testing.assert_array_equal(dense(corpus), COUNTS)
    assert corpus.vocabulary == corpus.names == tuple("wxyz")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"X/data": None}, "there is no data in /X"),
        ({"var": None}, "there is no var in /"),
        ({"X/data": np.full(7, -1)}, r"document 1 and word 2 is -1"),
        ({"X/data": np.full(7, b"x")}, "data has entries of type"),
        ({"X/indices": np.full(7, 4)}, "indices must be < 4"),
        ({"X/indptr": np.array([0, 99, 3, 3, 0])}, "'indptr' that does not go from 0 up"),
        ({"obs": np.zeros(3, dtype=[("index", "S1")])}, "has names for 3 rows and 4 columns"),
        ({"kind": "lil"}, "X is stored as 'lil'"),
    ],
)
def test_damage_is_named(tmp_path, changes, message):
    with pytest.raises(ValueError, match=rf"a\.h5ad.*{message}"):
        read_corpus(_write(tmp_path / "a.h5ad", **changes))


def test_claims_of_size(tmp_path):
    path = tmp_path / "a.h5ad"
    with h5py.File(path, "w") as file:
        file.create_dataset("X", (10**6, 10**6), "f4", chunks=(100, 100))  # none of it is there
    with pytest.raises(ValueError, match=r"X says it has 1,000,000,000,000 entries, more than the file holds"):
        read_corpus(path)


def test_cut_short_or_foreign(tmp_path, monkeypatch):
    path = _write(tmp_path / "a.h5ad")
    content = path.read_bytes()
    for length in (1, 100, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:length])
        with pytest.raises(ValueError, match=r"a\.h5ad is not an h5ad file that can be read \(.*\): get it again"):
            read_corpus(path)
    monkeypatch.setitem(sys.modules, "h5py", None)
    with pytest.raises(ValueError, match=r"needs h5py: pip install 'ssvi\[cells\]'"):
        read_corpus(path)


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ("import os; os.abort()", "the HDF5 library crashes on it"),
        ("print('nonsense')", "the HDF5 library crashes on it"),
        ('print(\'{"name": "data", "dtype": "O", "length": 1}\')', "the HDF5 library crashes on it"),
        ('print(\'{"name": "data", "dtype": "f8", "length": 9e15}\')', "the HDF5 library crashes on it"),
        ('print(\'{"name": "data", "dtype": "f8", "length": 10}\\nabc\')', "the HDF5 library crashes on it"),
        ('print(\'{"fault": "so bad."}\')', r"\(so bad\)"),
    ],
)
def test_whatever_the_child_does(tmp_path, monkeypatch, program, message):
    """A crash, or anything that a process may send whose memory is corrupt, becomes one sentence."""
    path = _write(tmp_path / "a.h5ad")
    (tmp_path / "program.py").write_text(program)
    monkeypatch.setattr(cells, "_PROGRAM", tmp_path / "program.py")
    with pytest.raises(ValueError, match=message):
        read_corpus(path)


def test_limits_of_time_and_memory(tmp_path):
    resource = pytest.importorskip("resource")
    lines = ["from ssvi.data.readers import cells_process", "cells_process._limit(0)"]
    program = [sys.executable, "-c"]
    ended = subprocess.run([*program, "\n".join([*lines, "while True: pass"])], timeout=60)
    assert cells._ending(ended.returncode) == "the HDF5 library does not get to an end"
    full = f"bytearray({2 * cells_process.MEMORY})"
    ended = subprocess.run([*program, "\n".join([*lines, full])], timeout=60, capture_output=True, text=True)
    if sys.platform == "linux":
        assert "MemoryError" in ended.stderr
    assert resource.getrlimit(resource.RLIMIT_CPU)[0] == resource.RLIM_INFINITY
