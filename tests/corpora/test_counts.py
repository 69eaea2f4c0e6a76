"""Corpora on disk of counts that are never in memory as a whole: the same documents in any format and order."""

import numpy as np
import pytest
from scipy import io, sparse
from sklearn.datasets import dump_svmlight_file

from ssvi.corpora import DiskCorpus
from ssvi.corpora.building import build_corpus
from ssvi.data.readers import put_down, read_corpus
from ssvi.data.readers.base import CorpusError

RNG = np.random.default_rng(0)
COUNTS = sparse.csr_array(RNG.poisson(np.where(np.arange(300) % 20, 0.3, 0.0)[:, None], (300, 40)))


def write_lines(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines))


def write_npz(path):
    sparse.save_npz(path, COUNTS)


def write_coo(path):
    sparse.save_npz(path, COUNTS.tocoo())


def write_mtx(path):
    """Entries in no order, each in two parts."""
    entries = COUNTS.tocoo()
    rows, words, counts = (np.concatenate([own, own]) for own in (entries.row, entries.col, entries.data))
    order = RNG.permutation(len(rows))
    head = ["%%MatrixMarket matrix coordinate integer general", f"300 40 {len(rows)}"]
    write_lines(path, [*head, *(f"{rows[i] + 1} {words[i] + 1} {counts[i]}" for i in order)])


def write_halves(path):
    io.mmwrite(path, COUNTS / 2)


def write_ldac(path):
    rows = [COUNTS[[row]].tocoo() for row in range(300)]
    write_lines(
        path, [" ".join([str(row.nnz), *(f"{w}:{c}" for w, c in zip(row.col, row.data, strict=True))]) for row in rows]
    )


def write_svmlight(path):
    dump_svmlight_file(COUNTS, np.zeros(300), str(path), zero_based=False)


WRITERS = {
    "a.npz": write_npz, "b.npz": write_coo, "a.mtx": write_mtx, "b.mtx": write_halves, "a.ldac": write_ldac,
    "a.svmlight": write_svmlight,
}  # fmt: skip


@pytest.fixture
def short_ranges(monkeypatch):
    """Pieces of a few entries, so that a small file has many."""
    monkeypatch.setattr(put_down, "_AT_ONCE", 100)
    monkeypatch.setattr("ssvi.data.readers.matrices._ENTRIES", 70)


@pytest.mark.parametrize("name", WRITERS)
def test_counts_are_those_that_are_read_into_memory(name, tmp_path, short_ranges):
    path = tmp_path / name
    WRITERS[name](path)
    build_corpus([path], tmp_path / "corpus")
    expected, found = read_corpus(path).documents, DiskCorpus(tmp_path / "corpus")
    assert found.sizes == type(found.sizes).of(expected)
    assert (found.to_matrix() != expected.to_matrix()).nnz == 0
    assert sorted(own.name for own in tmp_path.iterdir()) == sorted([name, "corpus"])


def test_several_files_are_one_corpus(tmp_path, short_ranges):
    for name in ("a.npz", "b.mtx"):
        WRITERS[name](tmp_path / name)
    build_corpus([tmp_path / "a.npz", tmp_path / "b.mtx"], tmp_path / "corpus")
    found = DiskCorpus(tmp_path / "corpus")
    np.testing.assert_array_equal(found.to_matrix().toarray(), np.vstack([COUNTS.toarray(), COUNTS.toarray() / 2]))
    assert set(found.info(0, 300).groups) == {"a.npz"}


def test_an_entry_that_cannot_be_is_named_by_its_place_in_the_whole(tmp_path, short_ranges):
    faulty = COUNTS.toarray().astype(float)
    faulty[250, 3] = -2.0
    sparse.save_npz(tmp_path / "a.npz", sparse.csr_array(faulty))
    with pytest.raises(CorpusError, match=r"document 251 and word 4 is -2\.0"):
        build_corpus([tmp_path / "a.npz"], tmp_path / "corpus")
    assert [own.name for own in tmp_path.iterdir()] == ["a.npz"]


def test_indices_that_lead_out_of_the_matrix(tmp_path, short_ranges):
    own = {"format": "csr", "shape": np.array([2, 3]), "data": np.ones(2), "indptr": np.array([0, 1, 2])}
    np.savez(tmp_path / "a.npz", indices=np.array([0, 3]), **own)
    with pytest.raises(CorpusError, match="out of range"):
        build_corpus([tmp_path / "a.npz"], tmp_path / "corpus")
