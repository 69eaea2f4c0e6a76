import sys

import numpy as np
import pytest
from tests.data.readers.helpers import dense

from ssvi.data.readers import read_corpus

pyarrow = pytest.importorskip("pyarrow")
ipc = pytest.importorskip("pyarrow.ipc")
parquet = pytest.importorskip("pyarrow.parquet")

COUNTS = [[0, 2, 0, 1], [0, 0, 0, 0], [3, 0, 0, 0], [1, 1, 1, 1]]
DOC, WORD = (own.tolist() for own in np.nonzero(COUNTS))
COUNT = [COUNTS[doc][word] for doc, word in zip(DOC, WORD, strict=True)]
LISTS = {"words": [[1, 3], [], [0], [0, 1, 2, 3]], "counts": [[2, 1], [], [3], [1, 1, 1, 1]]}


def write(path, columns, kind="parquet"):
    table = pyarrow.table(columns)
    if kind == "parquet":
        parquet.write_table(table, path, row_group_size=2)
        return path
    new = ipc.new_file if kind == "arrow" else ipc.new_stream
    with pyarrow.OSFile(str(path), "wb") as file, new(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=3)
    return path


@pytest.mark.parametrize("kind", ["parquet", "arrow", "stream"])
class TestForms:
    def path(self, tmp_path, columns, kind):
        return write(tmp_path / ("a.parquet" if kind == "parquet" else "a.arrow"), columns, kind)

    def test_text(self, tmp_path, kind):
        columns = {"id": [7, 8, 9], "text": ["cat dog", None, "dog dog"], "other": ["x", "y", "z"]}
        calls = []
        corpus = read_corpus(self.path(tmp_path, columns, kind), progress=lambda *call: calls.append(call))
        assert corpus.vocabulary == ("cat", "dog")
        assert corpus.names == ("7", "8", "9")
        np.testing.assert_array_equal(dense(corpus), [[1, 1], [0, 0], [0, 2]])
        assert calls
        assert all(done <= total for done, total in calls)

    def test_triples(self, tmp_path, kind):
        corpus = read_corpus(self.path(tmp_path, {"doc": DOC, "word": WORD, "count": COUNT}, kind))
        np.testing.assert_array_equal(dense(corpus), COUNTS)
        assert corpus.vocabulary is None

    def test_triples_of_strings(self, tmp_path, kind):
        columns = {"doc": ["b", "a", "b", "a"], "word": ["y", "x", "x", "x"], "count": [1.5, 1.0, 2.0, 3.0]}
        corpus = read_corpus(self.path(tmp_path, columns, kind))
        assert corpus.names == ("b", "a")
        assert corpus.vocabulary == ("y", "x")
        np.testing.assert_array_equal(dense(corpus), [[1.5, 2], [0, 4]])

    def test_lists(self, tmp_path, kind):
        np.testing.assert_array_equal(dense(read_corpus(self.path(tmp_path, LISTS, kind))), COUNTS)


def test_strings_as_views(tmp_path):
    """As polars writes them."""
    if not hasattr(pyarrow, "string_view"):
        pytest.skip("this pyarrow has no views")
    words = pyarrow.array(["y", "x"], pyarrow.string_view())
    corpus = read_corpus(write(tmp_path / "a.arrow", {"doc": [0, 1], "word": words, "count": [1, 2]}, "arrow"))
    assert corpus.vocabulary == ("y", "x")
    np.testing.assert_array_equal(dense(corpus), [[1, 0], [0, 2]])


def test_missing_names_are_empty(tmp_path):
    path = write(tmp_path / "a.parquet", {"id": ["x", None], "text": ["cat", "dog"]})
    assert read_corpus(path).names == ("x", "")


@pytest.mark.parametrize(("kind", "suffix"), [("parquet", "parquet"), ("arrow", "arrow"), ("stream", "arrow")])
def test_damage_in_the_middle_names_the_file(tmp_path, kind, suffix):
    """Not only when it is opened: pyarrow looks at most of a file when its rows are read, and raises OSError too."""
    texts = {"text": [f"word{i} other" for i in range(2000)]}
    path = write(tmp_path / f"a.{suffix}", texts, kind)
    content = path.read_bytes()
    path.write_bytes(content[:200] + b"\xff" * 3000 + content[3200:])
    with pytest.raises(
        ValueError, match=rf"a\.{suffix} is not a file that pyarrow can read as {suffix} \(.*get it again"
    ):
        read_corpus(path)


def test_strings_over_a_given_vocabulary(tmp_path):
    path = write(tmp_path / "a.parquet", {"words": [["b", "a"], ["b"]], "counts": [[1, 2], [3]]})
    words = tmp_path / "words.txt"
    words.write_text("a\nb\nc\n")
    corpus = read_corpus(path, vocabulary=words)
    assert corpus.vocabulary == ("a", "b", "c")
    np.testing.assert_array_equal(dense(corpus), [[2, 1, 0], [0, 3, 0]])
    words.write_text("a\n")
    with pytest.raises(ValueError, match=r"has the word 'b', which is not in .*words\.txt"):
        read_corpus(path, vocabulary=words)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": ["x"], "b": ["y"]}, r"give one of its columns \('a', 'b'\)"),
        ({"text": [1, 2]}, "column 'text' is no text"),
        ({"doc": [0, -1], "word": [0, 0], "count": [1, 1]}, "doc -1 is not a whole number between 0"),
        ({"doc": [0, 2**40], "word": [0, 0], "count": [1, 1]}, "doc 1099511627776 is not a whole number between 0"),
        ({"doc": [0, 2**30], "word": [0, 0], "count": [1, 1]}, "documents but has only 2 entries"),
        ({"doc": [0, 1], "word": [0, 0.5], "count": [1, 1]}, r"word 0\.5 is not a whole number"),
        ({"doc": [0, 1], "word": [0, None], "count": [1, 1]}, "every word must be a number, none missing"),
        ({"doc": ["a", None], "word": [0, 1], "count": [1, 1]}, "a doc is missing"),
        ({"doc": [0, 1], "word": [0, 1], "count": [1, -1]}, r"the count of entry 2 is -1"),
        ({"doc": [0, 1], "word": [0, 1], "count": [1, float("nan")]}, "is nan and must be finite"),
        ({"doc": [0, 1], "word": [0, 1], "count": ["1", "2"]}, "every count must be a number"),
        ({**LISTS, "counts": [[1], [], [1], [1]]}, r"row 1 has 2 words but 1 counts"),
        ({"words": ["x"], "counts": ["y"]}, "column 'words' has no lists"),
    ],
)
def test_damage_is_named(tmp_path, columns, message):
    with pytest.raises(ValueError, match=message):
        read_corpus(write(tmp_path / "a.parquet", columns))


@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_other_files(tmp_path, monkeypatch, suffix):
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(b"nothing of the kind")
    with pytest.raises(ValueError, match=f"is not a file that pyarrow can read as {suffix}"):
        read_corpus(path)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ValueError, match=r"needs pyarrow: pip install 'ssvi\[arrow\]'"):
        read_corpus(path)
