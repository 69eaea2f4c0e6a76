import gzip

import numpy as np
import pytest
from scipy import io as scipy_io
from scipy import sparse
from tests.data.readers.helpers import dense

from ssvi.batches.documents import Documents
from ssvi.data.readers import Corpus, DocumentInfo, TextOptions, read_corpus, write_corpus

COUNTS = np.array([[0, 2, 0, 1, 0], [0, 0, 0, 0, 0], [3, 0, 0, 0, 0], [1, 1, 1, 1, 0], [0, 0, 0, 0, 0]])
WORDS = ("a", "b c", "\u00e9", "d", "e")
FILES = ["a.npz", "a.mtx", "a.mtx.gz", "docword.a.txt", "docword.a.txt.gz", "a.ldac", "a.ldac.gz"]


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("dtype", [np.int32, np.float64])
def test_round_trip(tmp_path, name, dtype):
    corpus = Corpus(Documents.from_matrix(COUNTS.astype(dtype)), WORDS)
    write_corpus(corpus, tmp_path / name)
    again = read_corpus(tmp_path / name)
    np.testing.assert_array_equal(dense(again), COUNTS)
    assert again.vocabulary == WORDS
    assert len(list(tmp_path.iterdir())) == 2


def test_vocabulary_that_was_compressed(tmp_path):
    (tmp_path / "vocab.a.txt.gz").write_bytes(gzip.compress(b"old\n"))
    write_corpus(Corpus(Documents.from_matrix(COUNTS), WORDS), tmp_path / "docword.a.txt.gz")
    assert read_corpus(tmp_path / "docword.a.txt.gz").vocabulary == WORDS


@pytest.mark.parametrize("name", FILES[:4])
def test_without_vocabulary(tmp_path, name):
    write_corpus(Corpus(Documents.from_matrix(COUNTS).slice(2, 5), None), tmp_path / name)
    again = read_corpus(tmp_path / name)
    np.testing.assert_array_equal(dense(again), COUNTS[2:])
    assert again.vocabulary is None


@pytest.mark.parametrize("name", ["a.npz", "docword.a.txt"])
def test_old_vocabulary_is_not_taken_for_that_of_a_corpus_without(tmp_path, name):
    write_corpus(Corpus(Documents.from_matrix(COUNTS), WORDS), tmp_path / name)
    with pytest.raises(ValueError, match=r"vocab.*would be taken for the vocabulary of .*, which has none: remove it"):
        write_corpus(Corpus(Documents.from_matrix(2 * COUNTS), None), tmp_path / name)
    again = read_corpus(tmp_path / name)
    np.testing.assert_array_equal(dense(again), COUNTS)
    assert again.vocabulary == WORDS


@pytest.mark.parametrize("name", ["a.npz", "a.mtx"])
def test_decimals_come_back_exactly(tmp_path, name):
    matrix = np.random.default_rng(0).gamma(0.1, size=(20, 7)) * 1e-5
    write_corpus(Corpus(Documents.from_matrix(matrix), None), tmp_path / name)
    np.testing.assert_array_equal(dense(read_corpus(tmp_path / name)), matrix)


def test_scipy_reads_it(tmp_path):
    corpus = Corpus(Documents.from_matrix(COUNTS), None)
    write_corpus(corpus, tmp_path / "a.mtx")
    write_corpus(corpus, tmp_path / "a.npz")
    np.testing.assert_array_equal(scipy_io.mmread(tmp_path / "a.mtx").toarray(), COUNTS)
    np.testing.assert_array_equal(sparse.load_npz(tmp_path / "a.npz").toarray(), COUNTS)


def test_format_may_be_given(tmp_path):
    write_corpus(Corpus(Documents.from_matrix(COUNTS), WORDS), tmp_path / "counts.dat", "ldac")
    np.testing.assert_array_equal(dense(read_corpus(tmp_path / "counts.dat", format="ldac")), COUNTS)


@pytest.mark.parametrize(
    ("name", "scale", "words", "message"),
    [
        ("a.csv", 1, WORDS, "cannot be written as 'csv'"),
        ("a.ldac", 0.5, WORDS, "has whole counts only"),
        ("docword.a.txt", 0.5, WORDS, "has whole counts only"),
        ("a.npz", 1, WORDS[:2], "has 2 words and the documents have 5"),
        ("a.npz", 1, ("a", "b", "c\nd", "e", "f"), "word 3, .* cannot stand on a line"),
        ("a.npz", 1, ("a", "b", "", "e", "f"), "word 3, '', cannot stand on a line"),
    ],
)
def test_errors_leave_nothing_behind(tmp_path, name, scale, words, message):
    with pytest.raises(ValueError, match=message):
        write_corpus(Corpus(Documents.from_matrix(COUNTS * scale), words), tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_corpora_of_one_stem_have_words_of_their_own(tmp_path):
    counts = np.eye(2, dtype=int)
    for name, words in (("a.npz", ("cat", "dog")), ("a.mtx", ("sun", "sea"))):
        write_corpus(Corpus(Documents.from_matrix(counts), words), tmp_path / name)
    assert read_corpus(tmp_path / "a.npz").vocabulary == ("cat", "dog")
    assert read_corpus(tmp_path / "a.mtx").vocabulary == ("sun", "sea")


@pytest.mark.parametrize("name", FILES)
def test_what_is_known_of_documents_and_their_text_is_kept(tmp_path, name):
    titles = ('A, "b"\nc', "", "d", "=1+1", "e")
    info = DocumentInfo(ids=tuple("12345"), titles=titles, groups=("x", "x", "", "y", "y"))
    text = TextOptions(strip_html=True, numbers=False, more_stop_words=("of",))
    write_corpus(Corpus(Documents.from_matrix(COUNTS), WORDS, info, text), tmp_path / name)
    again = read_corpus(tmp_path / name)
    assert again.info == info
    assert again.text is None
    assert again.text_before == text
    write_corpus(again, tmp_path / "again.npz")  # as `ssvi corpus convert` does
    assert read_corpus(tmp_path / "again.npz").text_before == text
    before = len(list(tmp_path.iterdir()))
    write_corpus(Corpus(Documents.from_matrix(COUNTS), WORDS), tmp_path / name)  # which knows nothing of either
    assert read_corpus(tmp_path / name).info == DocumentInfo()
    assert len(list(tmp_path.iterdir())) == before - 2


def test_what_is_beside_other_counts_is_not_theirs(tmp_path):
    info = DocumentInfo(ids=tuple("12345"))
    write_corpus(Corpus(Documents.from_matrix(COUNTS), None, info), tmp_path / "a.npz")
    sparse.save_npz(tmp_path / "a.npz", sparse.csr_array(COUNTS[:3]))
    assert read_corpus(tmp_path / "a.npz").info == DocumentInfo()
    (tmp_path / "a.npz.text.json").write_text("{}")
    with pytest.raises(ValueError, match=r"a\.npz\.text\.json does not tell how text became words .*: remove it"):
        read_corpus(tmp_path / "a.npz")
