import gzip
import io
import zipfile

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse
from tests.data.readers.helpers import dense

from ssvi.data.readers import matrices, read_corpus

COUNTS = np.array([[0, 2, 0, 1], [0, 0, 0, 0], [3, 0, 0, 0], [1, 1, 1, 1]])
MTX = "%%MatrixMarket matrix coordinate integer general\n% made here\n2 3 3\n1 1 4\n2 3 1\n1 1 2\n"


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("wrap", ["matrix", "array"])
@pytest.mark.parametrize("dtype", [bool, np.int8, np.int32, np.uint64, np.float32, np.float64])
def test_npz(tmp_path, kind, wrap, dtype):
    matrix = getattr(sparse, f"{kind}_{wrap}")(COUNTS.astype(dtype))
    sparse.save_npz(tmp_path / "a.npz", matrix)
    corpus = read_corpus(tmp_path / "a.npz")
    np.testing.assert_array_equal(dense(corpus), COUNTS.astype(dtype))
    assert corpus.documents.counts.dtype in (np.int32, np.int64, np.float32, np.float64)
    assert corpus.documents.counts.flags.writeable
    assert corpus.vocabulary is None


def test_small_types_do_not_overflow(tmp_path):
    place = np.zeros(3, np.int32)
    sparse.save_npz(tmp_path / "a.npz", sparse.coo_array((np.full(3, 100, np.int8), (place, place)), shape=(1, 1)))
    np.testing.assert_array_equal(dense(read_corpus(tmp_path / "a.npz")), [[300]])


def test_npz_vocabulary(tmp_path):
    path, words = tmp_path / "a.npz", tmp_path / "a.vocab.txt"
    sparse.save_npz(path, sparse.csr_array(COUNTS))
    words.write_text("a\nb\nc\nd\n")
    assert read_corpus(path).vocabulary == ("a", "b", "c", "d")
    words.write_text("a\nb\nc\n")
    assert read_corpus(path).vocabulary is None
    with pytest.raises(ValueError, match=r"a\.vocab\.txt has 3 words but .*a\.npz has 4"):
        read_corpus(path, vocabulary=words)


def test_folder_of_a_wikipedia_dump(tmp_path):
    sparse.save_npz(tmp_path / "bow.npz", sparse.csr_array(COUNTS))
    (tmp_path / "vocab.txt").write_text("a\nb\nc\nd\n")
    corpus = read_corpus(tmp_path)
    assert corpus.vocabulary == ("a", "b", "c", "d")
    np.testing.assert_array_equal(dense(corpus), COUNTS)


def _npz(path, **changes):
    rows = sparse.csr_array(COUNTS)
    arrays = {"indices": rows.indices, "indptr": rows.indptr, "format": b"csr", "shape": rows.shape, "data": rows.data}
    np.savez(path, **{name: value for name, value in {**arrays, **changes}.items() if value is not None})
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"data": None}, "no sparse matrix"),
        ({"indices": None}, "has no whole numbers 'indices'"),
        ({"format": b"lil"}, "format 'lil'"),
        ({"shape": (4,)}, "array of 1 dimensions"),
        ({"shape": (4, 2**40)}, "at most 2,147,483,647 can be read"),
        ({"shape": (5, 4)}, "is not a sparse matrix"),
        ({"shape": (4, 3)}, "is not a sparse matrix"),
        ({"shape": (2**31 - 1, 4), "format": b"coo", "row": [0], "col": [0], "data": [1]}, "but has only 1 entries"),
        ({"indptr": np.array([0, 5, 2, 3, 7])}, "'indptr' that does not go from 0 up"),
        ({"indptr": np.array([0, 2, 2, 3, 8])}, "'indptr' that does not go from 0 up"),
        ({"indptr": np.array([1, 2, 2, 3, 7])}, "'indptr' that does not go from 0 up"),
        ({"indices": np.array([1, 3, 0, 0, 1, 2, -3])}, "is not a sparse matrix"),
        ({"indices": np.full(7, 0.5)}, "has no whole numbers 'indices'"),
        ({"data": np.array([1, 1, -3, 1, 1, 1, 1])}, r"document 3 and word 1 is -3"),
        ({"data": np.array([1, 1, np.nan, 1, 1, 1, 1])}, r"document 3 and word 1 is nan"),
        ({"data": np.array([1, 1, 1, 1, 1, 1, np.inf])}, r"document 4 and word 4 is inf"),
        ({"data": np.ones(7, complex)}, "entries of type complex128"),
        ({"data": np.full(7, "x")}, "entries of type|not a sparse matrix"),
        ({"data": np.full(7, 2**60)}, "add up to more than"),
    ],
)
def test_npz_damage_is_named(tmp_path, changes, message):
    with pytest.raises(ValueError, match=message):
        read_corpus(_npz(tmp_path / "a.npz", **changes))


class _Bomb:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def test_pickles_are_refused_and_not_loaded(tmp_path):
    with pytest.raises(ValueError, match="holds pickled Python objects"):
        read_corpus(_npz(tmp_path / "a.npz", data=np.array([_Bomb()], dtype=object)))


def test_npz_headers_take_no_memory(tmp_path):
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)})
    path = tmp_path / "a.npz"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("data", "format", "shape"):
            archive.writestr(f"{name}.npy", buffer.getvalue())
    with pytest.raises(ValueError, match=r"data\.npy says it has 8,000,000,000,000,000 bytes"):
        read_corpus(path)


def test_npz_that_unpacks_to_too_much(tmp_path, monkeypatch):
    monkeypatch.setattr(matrices, "_FREE_BYTES", 1 << 20)
    np.savez_compressed(tmp_path / "a.npz", data=np.zeros(1 << 21, np.int8), format=b"csr", shape=(1, 1))
    with pytest.raises(ValueError, match=r"a\.npz unpacks to 2,09.* bytes or more, over 100 times its size"):
        read_corpus(tmp_path / "a.npz")


@pytest.mark.parametrize("kind", ["csr", "csc", "bsr"])
def test_pointers_that_scipy_does_not_check(tmp_path, kind):
    """Its check looks at no pointers if the last is zero, and what it does with them then corrupts memory."""
    data = np.ones((7, 1, 1)) if kind == "bsr" else np.ones(7)
    path = _npz(tmp_path / "a.npz", format=kind.encode(), data=data, indptr=np.array([0, 2, 4_000_000_000, 3, 0]))
    with pytest.raises(ValueError, match="'indptr' that does not go from 0 up"):
        read_corpus(path)


def test_arrays_that_are_no_part_of_a_matrix_are_not_read(tmp_path):
    path = _npz(tmp_path / "a.npz", other=np.array([_Bomb()], dtype=object))
    np.testing.assert_array_equal(dense(read_corpus(path)), COUNTS)


def test_not_a_zip(tmp_path):
    (tmp_path / "a.npz").write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match="is not a sparse matrix as scipy"):
        read_corpus(tmp_path / "a.npz")


@pytest.mark.parametrize("name", ["a.mtx", "a.mtx.gz"])
@pytest.mark.parametrize("field", ["integer", "real", "pattern"])
def test_mtx_as_scipy_writes_it(tmp_path, name, field):
    matrix = sparse.coo_array(COUNTS * (0.1 if field == "real" else 1))
    scipy_io.mmwrite(str(tmp_path / "a.mtx"), matrix, field=field, precision=17, symmetry="general")
    if name.endswith(".gz"):
        (tmp_path / name).write_bytes(gzip.compress((tmp_path / "a.mtx").read_bytes()))
    (tmp_path / "a.vocab.txt").write_text("a\nb\nc\nd\n")
    corpus = read_corpus(tmp_path / name)
    np.testing.assert_array_equal(dense(corpus), (COUNTS > 0) if field == "pattern" else matrix.toarray())
    assert corpus.vocabulary == ("a", "b", "c", "d")


def test_mtx_dense_symmetric_and_repeated(tmp_path):
    path = tmp_path / "a.mtx"
    scipy_io.mmwrite(str(path), COUNTS, symmetry="general")
    np.testing.assert_array_equal(dense(read_corpus(path)), COUNTS)
    symmetric = COUNTS + COUNTS.T
    scipy_io.mmwrite(str(path), sparse.coo_array(symmetric), symmetry="symmetric")
    np.testing.assert_array_equal(dense(read_corpus(path)), symmetric)
    path.write_text(MTX)
    np.testing.assert_array_equal(dense(read_corpus(path)), [[6, 0, 0], [0, 0, 1]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (MTX.replace("%%", "%"), "line 1: .*is not a line such as"),
        (MTX.replace("integer", "complex"), "line 1: .*'complex' cannot be read"),
        (MTX.replace("general", "skew-symmetric"), "line 1: .*'skew-symmetric' cannot be read"),
        (MTX.replace("general", "symmetric"), "line 3: a symmetric matrix cannot be 2 x 3"),
        (MTX.replace("2 3 3", "2 3"), "line 3: '2 3' is not the matrix's size"),
        (MTX.replace("2 3 3", "2 1000000000000 3"), "at most 2,147,483,647"),
        (MTX.replace("2 3 3", "2147483647 3 3"), "but has only 3 entries"),
        (MTX.replace("2 3 3", "2 3 4"), "line 3: the header says 4 entries but 3 follow"),
        (MTX.replace("2 3 1", "3 3 1"), "line 5: row 3, column 3 is not in 2 x 3"),
        (MTX.replace("2 3 1", "2 0 1"), "line 5: row 2, column 0 is not in 2 x 3"),
        (MTX.replace("2 3 1", "2 3 -1"), "line 5: the entry -1 must be finite"),
        (MTX.replace("2 3 1", "2 3 x"), "line 5: '2 3 x' is not `row column value`, whole numbers"),
        (MTX.replace("2 3 1", "2 3"), "line 5: '2 3' is not"),
        (MTX.replace("2 3 1", "2 3 nan").replace("integer", "real"), "line 5: the entry nan must be finite"),
        (MTX.replace("2 3 1", "2 3 1e999").replace("integer", "real"), "line 5: the entry inf must be finite"),
        (MTX.replace("2 3 1", "2 2.5 1").replace("integer", "real"), "line 5: row 2.0, column 2.5 is not in"),
        ("%%MatrixMarket matrix array real general\n1000000 1000000\n1\n", "more than the file can hold"),
        ("%%MatrixMarket matrix array real general\n1 2\n1\n2\n3\n", "line 5: there are more numbers than"),
        ("%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n", "says 4 entries but 3 follow"),
    ],
)
def test_mtx_damage_is_named(tmp_path, content, message):
    (tmp_path / "a.mtx").write_text(content)
    with pytest.raises(ValueError, match=message):
        read_corpus(tmp_path / "a.mtx")


def test_mtx_with_a_fault_far_behind(tmp_path):
    """Found by halving: a line at a time takes long."""
    lines = ["1 1 1\n"] * 50_000
    lines[45_678] = "1 1 x\n"
    (tmp_path / "a.mtx").write_text("%%MatrixMarket matrix coordinate integer general\n2 2 50000\n" + "".join(lines))
    with pytest.raises(ValueError, match="line 45681: '1 1 x' is not"):
        read_corpus(tmp_path / "a.mtx")
