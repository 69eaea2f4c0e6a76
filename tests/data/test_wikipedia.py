import bz2
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from ssvi.data.wikipedia import articles, bags_of_words, count_words, plain_text, save_dump

VOCABULARY = ["dog", "cat", "dont", "well", "known", "tail"]
TEXTS = [
    "The '''dog''' is a [[Pet|well-known]] dog.&lt;ref&gt;A cat.&lt;/ref&gt;",  # dog dog well known
    "Nothing here {{but|dog}}.",
    "Cat, cat; CAT's [[tail]]s, dog",  # cat cat dog; cats and tails are other words
    "Don't!",
]
COUNTS = [[2, 0, 0, 1, 1, 0], [0, 0, 0, 0, 0, 0], [1, 2, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0]]


def dump(texts):
    pages = (f"<page><title>T</title><ns>0</ns><revision><text>{text}</text></revision></page>\n" for text in texts)
    talk = "<page><title>Talk:T</title><ns>1</ns><revision><text>dog</text></revision></page>"
    return f"<mediawiki>{talk}{''.join(pages)}</mediawiki>".encode()


def dense(documents):
    rows = (documents.counts, documents.words, documents.indptr)
    return sparse.csr_array(rows, shape=(len(documents), documents.n_words)).toarray().tolist()


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "dump.xml.bz2"
    path.write_bytes(bz2.compress(dump(TEXTS)[:300]) + bz2.compress(dump(TEXTS)[300:]))
    return path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", {}),
        ("Dog DOG dog_cat dog2cat dogs", {"dog": 4, "cat": 2}),
        ("don't don\N{RIGHT SINGLE QUOTATION MARK}t dont 'dog'", {"dont": 3, "dog": 1}),
        ("well-known well\N{EN DASH}known, well/known", {"well": 3, "known": 3}),
        ("cat\N{LATIN SMALL LETTER E WITH ACUTE} \N{LATIN SMALL LETTER E WITH ACUTE}tail", {}),  # not their parts
    ],
)
def test_count_words(text, expected):
    numbers = {word: number for number, word in enumerate(VOCABULARY)}
    assert count_words(text, numbers) == {numbers[word]: count for word, count in expected.items()}


@pytest.mark.parametrize("batch_size", [1, 3, 4, 1000])
def test_bags_of_words(path, batch_size):
    batches = list(bags_of_words(path, VOCABULARY, batch_size=batch_size))
    assert [len(batch) for batch in batches[:-1]] == [batch_size] * (len(batches) - 1)
    assert [row for batch in batches for row in dense(batch)] == COUNTS
    for batch in batches:
        assert batch.indptr.dtype == np.int64
        assert batch.words.dtype == batch.counts.dtype == np.int32
        assert batch.words.flags.c_contiguous
        assert batch.counts.flags.c_contiguous


def test_short_articles_are_left_out_and_reading_stops(path, tmp_path):
    [documents] = bags_of_words(path, VOCABULARY, shortest=3)
    assert dense(documents) == [COUNTS[0], COUNTS[2]]
    [documents] = bags_of_words(path, VOCABULARY, shortest=1, most=2)
    assert dense(documents) == [COUNTS[0], COUNTS[2]]
    assert list(bags_of_words(path, VOCABULARY, shortest=10)) == []
    unended = tmp_path / "unended.xml"
    unended.write_bytes(dump(TEXTS)[:-3])
    [documents] = bags_of_words(unended, VOCABULARY, most=1)
    assert dense(documents) == COUNTS[:1]


def test_save_dump(path, tmp_path):
    output = tmp_path / "corpus"
    seen = []
    assert save_dump(path, VOCABULARY, output, report=seen.append) == 4
    assert seen[-1] == path.stat().st_size
    assert sorted(file.name for file in output.iterdir()) == ["bow.npz", "vocab.txt"]
    assert (output / "vocab.txt").read_bytes() == b"dog\ncat\ndont\nwell\nknown\ntail\n"
    matrix = sparse.load_npz(output / "bow.npz")
    assert matrix.format == "csr"
    assert matrix.dtype == matrix.indices.dtype == matrix.indptr.dtype == np.int32
    assert matrix.toarray().tolist() == COUNTS
    # Again, over the older files, and beside a file of another's.
    (output / "notes").write_text("mine")
    assert save_dump(str(path), VOCABULARY[::-1], str(output), shortest=1, most=2) == 2
    assert sparse.load_npz(output / "bow.npz").toarray().tolist() == [COUNTS[0][::-1], COUNTS[2][::-1]]
    assert (output / "vocab.txt").read_text().split() == VOCABULARY[::-1]
    assert sorted(file.name for file in output.iterdir()) == ["bow.npz", "notes", "vocab.txt"]


def test_a_dump_with_no_word_of_the_vocabulary(path, tmp_path):
    assert save_dump(path, ["zebra"], tmp_path / "corpus") == 4
    assert sparse.load_npz(tmp_path / "corpus" / "bow.npz").shape == (4, 1)


def stop(done):
    raise KeyboardInterrupt("stopped")


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"path": "missing.xml"}, FileNotFoundError, "missing.xml"),
        ({"content": dump(TEXTS)[:-3]}, ValueError, "ends at line"),
        ({"content": bz2.compress(dump(TEXTS))[:-3]}, ValueError, "ends in the middle of its bz2 data"),
        ({"vocabulary": ["dog", "cat", "dog"]}, ValueError, "'dog' is in the vocabulary twice, as words 0 and 2"),
        ({"vocabulary": ["Dog"]}, ValueError, "word 0 of the vocabulary, 'Dog', must be lower-case"),
        ({"vocabulary": ["dog", ""]}, ValueError, "word 1 of the vocabulary, '', must be"),
        ({"vocabulary": ["don't"]}, ValueError, "must be lower-case letters and nothing else"),
        ({"vocabulary": []}, ValueError, "the vocabulary is empty"),
        ({"most": 0}, ValueError, "most must be 1 or more"),
        ({"shortest": 100}, ValueError, "has no article of 100 or more words"),
        ({"report": stop}, KeyboardInterrupt, "stopped"),
    ],
)
@pytest.mark.parametrize("is_new", [True, False])
def test_errors_leave_the_folder_as_it_was(path, tmp_path, change, error, message, is_new):
    arguments = {"path": path, "vocabulary": VOCABULARY, "output": tmp_path / "corpus", **change}
    if "content" in arguments:
        path.write_bytes(arguments.pop("content"))
        path = arguments["path"] = path.rename(tmp_path / "dump.xml")
    if not is_new:
        (tmp_path / "corpus").mkdir()
        (tmp_path / "corpus" / "bow.npz").write_text("older")
    with pytest.raises(error, match=message):
        save_dump(**arguments)
    if is_new:
        assert list(tmp_path.iterdir()) == [path]
    else:
        assert [file.read_text() for file in (tmp_path / "corpus").iterdir()] == ["older"]


def test_a_full_disk_leaves_nothing(path, tmp_path, monkeypatch):
    def fail(file, matrix):
        file.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(sparse, "save_npz", fail)
    with pytest.raises(OSError, match="No space left"):
        save_dump(path, VOCABULARY, tmp_path / "corpus")
    assert list(tmp_path.iterdir()) == [path]


def test_arguments_are_checked_before_reading(tmp_path):
    with pytest.raises(ValueError, match="batch_size must be 1 or more, not 0"):
        bags_of_words(tmp_path / "missing.xml", VOCABULARY, batch_size=0)
    with pytest.raises(ValueError, match="twice"):
        bags_of_words(tmp_path / "missing.xml", ["dog", "dog"])
    with pytest.raises(FileNotFoundError):
        save_dump(tmp_path / "dump.xml", VOCABULARY, tmp_path / "missing" / "corpus")


@pytest.mark.parametrize("form", [bytes, bz2.compress])
def test_memory_does_not_grow_with_the_dump(tmp_path, form):
    peaks = []
    for pages in (500, 4000):
        path = tmp_path / f"{pages}.xml"
        path.write_bytes(form(dump(["dog cat {{tail}}" + "0" * 1000] * pages)))
        tracemalloc.start()
        assert sum(len(batch) for batch in bags_of_words(path, VOCABULARY, batch_size=100)) == pages
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0]


def test_the_steps_one_by_one(path):
    texts = [plain_text(article.text) for article in articles(path)]
    assert texts == ["The dog is a well-known dog.", "Nothing here .", "Cat, cat; CAT's tails, dog", "Don't!"]
