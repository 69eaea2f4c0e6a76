import gzip
import zlib

import numpy as np
import pytest
from sklearn.datasets import dump_svmlight_file, load_svmlight_file
from tests.data.readers.helpers import dense, write

from ssvi.data.readers import lines, read_corpus

COUNTS = np.array([[0, 2, 0, 1], [0, 0, 0, 0], [3, 0, 0, 0], [1, 1, 1, 1]])
UCI = "4\n4\n7\n1 2 2\n1 4 1\n3 1 3\n4 1 1\n4 2 1\n4 3 1\n4 4 1\n"
LDAC = "2 1:2 3:1\n0\n1 0:3\n4 0:1 1:1 2:1 3:1\n"
SVMLIGHT = "1 2:2 4:1\n-1\n1 1:3\n0.5 1:1 2:1 3:1 4:1\n"
NAMES = {"docword.a.txt": UCI, "a.ldac": LDAC, "a.svmlight": SVMLIGHT}


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("chunk", [1, 20, 1 << 22])
@pytest.mark.parametrize("change", [str, lambda text: text.replace("\n", "\r\n"), lambda text: text.removesuffix("\n")])
def test_counts(tmp_path, monkeypatch, name, packed, chunk, change):
    """Whatever the line ends, and wherever chunks part."""
    monkeypatch.setattr(lines, "_CHUNK", chunk)
    corpus = read_corpus(write(tmp_path / (name + packed), change(NAMES[name])))
    np.testing.assert_array_equal(dense(corpus), COUNTS)
    assert corpus.vocabulary is None
    assert corpus.names is None


@pytest.mark.parametrize("name", NAMES)
def test_vocabulary_beside_or_given(tmp_path, name):
    path = write(tmp_path / name, NAMES[name])
    beside = tmp_path / ("vocab.a.txt" if name.startswith("docword") else "a.vocab.txt")
    write(beside, "w0\nw1\nw2\nw3\n")
    assert read_corpus(path).vocabulary == ("w0", "w1", "w2", "w3")
    given = write(tmp_path / "given.txt", "a\nb\nc d\ne\n")
    assert read_corpus(path, vocabulary=given).vocabulary == ("a", "b", "c d", "e")
    with pytest.raises(ValueError, match="there is no vocabulary file"):
        read_corpus(path, vocabulary=tmp_path / "none.txt")
    write(given, "a\nb\n")
    with pytest.raises(ValueError, match=r"given\.txt"):
        read_corpus(path, vocabulary=given)


def test_vocabulary_may_be_longer_where_the_format_has_no_size(tmp_path):
    path = write(tmp_path / "a.ldac", LDAC)
    write(tmp_path / "a.vocab.txt", "a\nb\nc\nd\ne\nf\n")
    assert read_corpus(path).documents.n_words == 6
    write(tmp_path / "a.vocab.txt", "a\nb\n")
    assert read_corpus(path).vocabulary is None


def test_repeated_entries_are_added_up(tmp_path):
    corpus = read_corpus(write(tmp_path / "docword.a.txt", "1\n2\n3\n1 2 2147483646\n1 1 1\n1 2 5\n"))
    np.testing.assert_array_equal(dense(corpus), [[1, 2147483651]])
    corpus = read_corpus(write(tmp_path / "a.ldac", "3 1:2 0:1 1:5\n"))
    np.testing.assert_array_equal(dense(corpus), [[1, 7]])


@pytest.mark.parametrize("zero_based", [True, False])
def test_svmlight_as_scikit_learn(tmp_path, zero_based):
    rng = np.random.default_rng(0)
    matrix = rng.poisson(0.3, (30, 12)) * 0.7
    matrix[0] = 1
    path = tmp_path / "a.svm"
    dump_svmlight_file(matrix, rng.integers(0, 2, 30), str(path), zero_based=zero_based, comment="made here")
    np.testing.assert_array_equal(dense(read_corpus(path)), load_svmlight_file(str(path))[0].toarray())


def test_svmlight_comments_and_queries(tmp_path):
    corpus = read_corpus(write(tmp_path / "a.svm", "# first\n1,2 qid:3 1:0.5 3:2e1 # c:1\n\n0 2:1\n"))
    np.testing.assert_array_equal(dense(corpus), [[0.5, 0, 20], [0, 1, 0]])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("x\n4\n7\n", "line 1: the number of documents should stand here, alone, and not 'x'"),
        ("4\n", "line 2: the number of words"),
        (UCI.replace("7", "8", 1), "line 3: the header says 8 entries but 7 follow"),
        (UCI.replace("7", "9" * 5000, 1), "line 3: the header says"),
        (UCI.replace("3 1 3", "5 1 3"), "line 6: document 5 is not between 1 and 4"),
        (UCI.replace("3 1 3", "0 1 3"), "line 6: document 0 is not between 1 and 4"),
        (UCI.replace("3 1 3", "\n\n3 5 3"), "line 8: word 5 is not between 1 and 4"),
        (UCI.replace("3 1 3", "3 1 -3"), "line 6: the count -3 is not a whole number"),
        (UCI.replace("3 1 3", "3 1 1.5"), "line 6: the count '1.5' is not a whole number"),
        (UCI.replace("3 1 3", "3 1 1e3"), "line 6: the count '1e3' is not a whole number"),
        (UCI.replace("3 1 3", "3 1 " + "9" * 30), "line 6: the count 9"),
        (UCI.replace("3 1 3", "3 1"), "line 6: '3 1' is not `document word count`"),
        (UCI.replace("3 1 3\n", "3 1 3 "), "line 6: '3 1 3 4 1 1' is not"),
        (UCI.replace("3 1 3", "3 \0 3"), "line 6: the word "),
        ("4\n1" + "0" * 15 + "\n1\n1 1 1\n", "at most 2,147,483,647 can be read"),
        ("2000000000\n4\n1\n1 1 1\n", "2,000,000,000 documents but has only 1 entries"),
        ("1\n1\n2\n1 1 9007199254740992\n1 1 9007199254740992\n", "add up to more than"),
        ("1\n1\n0\n", "has no entries"),
    ],
)
def test_uci_damage_is_named(tmp_path, content, message):
    with pytest.raises(ValueError, match=message):
        read_corpus(write(tmp_path / "docword.a.txt", content))


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (LDAC.replace("1 0:3", "2 0:3"), "line 3: the line says '2' words but has 1"),
        (LDAC.replace("1 0:3", "1 0"), "line 3: '0' is not `word:count`"),
        (LDAC.replace("1 0:3", "1 0:"), "line 3: the count '' is not"),
        (LDAC.replace("1 0:3", "1 :3"), "line 3: word '' is not"),
        (LDAC.replace("1 0:3", "2 0:3:1 4"), "line 3: the count '3:1' is not a whole number"),
        (LDAC.replace("1 0:3", "1 -1:3"), "line 3: word '-1' is not a whole number between"),
        (LDAC.replace("1 0:3", "1 0:0.5"), "line 3: the count '0.5' is not a whole number"),
        (LDAC.replace("1 0:3", "1 0:1" + "0" * 30), "line 3: the count '10+' is not a whole number between 0"),
        (LDAC.replace("1 0:3", "1 " + "9" * 5000 + ":3"), r"line 3: word '9+'\.\.\. is not"),
        (LDAC.replace("1 0:3", "1 4294967296:3"), "line 3: word '4294967296' is not"),
        (LDAC.replace("1 0:3", "x 0:3"), "line 3: the number of words 'x' is not"),
        (LDAC.replace("1 0:3", "" * 3), "line 3: the line is blank: write 0"),
        ("0\n0\n", "has no entries"),
    ],
)
def test_ldac_damage_is_named(tmp_path, content, message):
    with pytest.raises(ValueError, match=message):
        read_corpus(write(tmp_path / "a.ldac", content))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("1:3", "line 3: the line begins with '1:3' and not with a label"),
        ("1 1:nan", "line 3: the value 'nan' is not a number, finite"),
        ("1 1:1e999", "line 3: the value '1e999' is not a number, finite"),
        ("1 1:-1", "line 3: the value '-1' is not a number, finite"),
        ("1 1.5:1", "line 3: word '1.5' is not a whole number"),
        ("1 1_0:1", "line 3: word '1_0' is not a whole number"),
        ("1 1 :1", "line 3: '1' is not `word:value`"),
    ],
)
def test_svmlight_damage_is_named(tmp_path, line, message):
    with pytest.raises(ValueError, match=message):
        read_corpus(write(tmp_path / "a.svm", SVMLIGHT.replace("1 1:3", line)))


@pytest.mark.parametrize("chunk", [1, 6, 7, 12, 1 << 22])
@pytest.mark.parametrize("blank", ["\n", " \r\n", "\n" * 50])
def test_blank_line_of_ldac_wherever_chunks_part(tmp_path, monkeypatch, chunk, blank):
    monkeypatch.setattr(lines, "_CHUNK", chunk)
    with pytest.raises(ValueError, match="line 2: the line is blank"):
        read_corpus(write(tmp_path / "a.ldac", "1 1:2\n" + blank + "1 0:3\n"))
    with pytest.raises(ValueError, match="line 1: the line is blank"):
        read_corpus(write(tmp_path / "a.ldac", blank + "1 0:3\n"))
    corpus = read_corpus(write(tmp_path / "a.ldac", "1 1:2\n1 0:3\n" + blank))
    np.testing.assert_array_equal(dense(corpus), [[0, 2], [3, 0]])


def test_many_blank_lines_take_no_time(tmp_path):
    with pytest.raises(ValueError, match="line 2: the line is blank"):
        read_corpus(write(tmp_path / "a.ldac", "1 1:2\n" + "\n" * 1_000_000 + "1 1:2\n"))


def test_line_without_end(tmp_path, monkeypatch):
    monkeypatch.setattr(lines, "_LONGEST", 1000)
    monkeypatch.setattr(lines, "_CHUNK", 10)
    with pytest.raises(ValueError, match="line 3: the line does not end"):
        read_corpus(write(tmp_path / "a.ldac", "0\n1 1:2\n" + "1 " * 600))


def test_truncated_gzip(tmp_path):
    content = "9000\n4\n9000\n" + "".join(f"{i} {i % 4 + 1} {i * 7919 % 1009}\n" for i in range(1, 9001))
    packed = gzip.compress(content.encode())
    path = tmp_path / "docword.a.txt.gz"
    path.write_bytes(packed[: len(packed) // 2])
    there = zlib.decompressobj(31).decompress(packed[: len(packed) // 2])
    line = there.count(b"\n") + 1
    with pytest.raises(ValueError, match=rf"line {line}: the file ends in the middle of its gzip data"):
        read_corpus(path)


def test_progress(tmp_path):
    path, calls = write(tmp_path / "docword.a.txt", UCI), []
    read_corpus(path, progress=lambda *call: calls.append(call))
    assert calls[-1] == (len(UCI), len(UCI))
