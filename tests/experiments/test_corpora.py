import numpy as np
import pytest
from scipy import sparse

from ssvi.experiments import corpora


def _write(path, n=60):
    counts = np.random.default_rng(0).poisson(1.0, (n, 20))
    counts[5] = 0
    sparse.save_npz(path, sparse.csr_array(counts))
    return counts


def test_a_folder_and_its_file_are_the_same_corpus(tmp_path):
    counts = _write(tmp_path / "bow.npz")
    kept = counts[counts.sum(axis=1) >= 10]
    folder, file = corpora.load(tmp_path, held_out=4), corpora.load(tmp_path / "bow.npz", held_out=4)
    assert folder.name == tmp_path.name
    assert file.name == "bow"
    for corpus in (folder, file):
        assert len(corpus.test) == 4
        assert len(corpus.train) == len(kept) - 4
        np.testing.assert_array_equal(corpus.test.lengths(), kept[-4:].sum(axis=1))


def test_training_documents_can_be_fewer_and_never_overlap_the_test(tmp_path):
    counts = _write(tmp_path / "bow.npz")
    n = (counts.sum(axis=1) >= 10).sum()
    few = corpora.load(tmp_path, documents=7)
    assert len(few.train) == 7
    kept = counts[counts.sum(axis=1) >= 10]
    np.testing.assert_array_equal(few.train.lengths(), kept[:7].sum(axis=1))
    np.testing.assert_array_equal(few.test.lengths(), kept[-(len(kept) // 10) :].sum(axis=1))
    assert len(corpora.load(tmp_path, held_out=1_000).test) == n // 10  # a tenth at the most


@pytest.mark.parametrize(
    ("content", "message"),
    [(None, "there is no"), (b"not a zip file", "is not a sparse matrix"), (b"", "is not a sparse matrix")],
)
def test_a_bad_file_is_named(tmp_path, content, message):
    if content is not None:
        (tmp_path / "bow.npz").write_bytes(content)
    with pytest.raises(ValueError, match=message) as caught:
        corpora.load(tmp_path)
    assert "bow.npz" in str(caught.value)


def test_a_dense_array_is_not_a_corpus(tmp_path):
    np.savez(tmp_path / "bow.npz", counts=np.ones((3, 3)))
    with pytest.raises(ValueError, match="is not a sparse matrix"):
        corpora.load(tmp_path)


@pytest.mark.parametrize("bad", [-1.0, np.nan])
def test_counts_are_counts(tmp_path, bad):
    sparse.save_npz(tmp_path / "bow.npz", sparse.csr_array(np.array([[1.0, bad]])))
    with pytest.raises(ValueError, match="negative or not numbers"):
        corpora.load(tmp_path)


def test_too_few_documents(tmp_path):
    sparse.save_npz(tmp_path / "bow.npz", sparse.csr_array(np.full((3, 20), 2)))
    with pytest.raises(ValueError, match="too few to hold any out"):
        corpora.load(tmp_path)


def test_docstrings_are_the_corpus_of_last_resort(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    assert corpora.default_corpus() is None
    counts = sparse.csr_array(np.random.default_rng(0).poisson(2.0, (30, 20)))
    monkeypatch.setattr("ssvi.demo.count_docstrings", lambda: (counts, np.arange(20).astype(str)))
    for path in (None, corpora.DOCSTRINGS):
        corpus = corpora.load(path, held_out=5)
        assert corpus.name == "docstrings"
        assert len(corpus.train) + len(corpus.test) == 30
