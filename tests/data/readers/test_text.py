import csv
import dataclasses
import gzip
import io
import itertools
import json
import tracemalloc
import zlib

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from tests.data.readers.helpers import dense, write

from ssvi.data.readers import TextOptions, delimited, json_records, lines, read_corpus, text
from ssvi.data.readers.columns import Columns

TEXTS = ["the cat sat on the mat", "Dogs bark; cats purr, cats sleep", "", "the dog barks at the cat's mat"]


def table(rows, delimiter=","):
    buffer = io.StringIO()
    csv.writer(buffer, delimiter=delimiter).writerows(rows)
    return buffer.getvalue()


CONTENTS = {
    "a.txt": "\n".join(TEXTS) + "\n",
    "a.csv": table([["id", "text"], *enumerate(TEXTS)]),
    "a.tsv": table([["id", "Text"], *enumerate(TEXTS)], "\t"),
    "a.jsonl": "\n\n".join(json.dumps({"id": i, "text": text}) for i, text in enumerate(TEXTS)),
}


@pytest.mark.parametrize("packed", ["", ".gz"])
@pytest.mark.parametrize("name", CONTENTS)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"stop_words": None, "ngram_range": (1, 2), "lowercase": False},
        {"stop_words": ("cat", "on"), "max_features": 3, "token_pattern": r"\w+"},
        {"stop_words": None, "min_df": 2, "max_df": 0.9},
        {"vocabulary": ("purr", "cat", "unicorn")},
    ],
)
def test_same_as_count_vectorizer(tmp_path, name, packed, options):
    corpus = read_corpus(write(tmp_path / (name + packed), CONTENTS[name]), text=TextOptions(**options))
    expected = {"stop_words": "english", **options}
    if isinstance(expected["stop_words"], tuple):
        expected["stop_words"] = list(expected["stop_words"])
    vectorizer = CountVectorizer(**expected)
    np.testing.assert_array_equal(dense(corpus), vectorizer.fit_transform(TEXTS).toarray())
    assert corpus.vocabulary == tuple(vectorizer.get_feature_names_out())
    assert corpus.names == (None if name == "a.txt" else ("0", "1", "2", "3"))


def test_folder(tmp_path):
    (tmp_path / "b").mkdir()
    write(tmp_path / "b" / "two.txt", "cat dog")
    write(tmp_path / "a.md", "dog\ndog")
    write(tmp_path / "c.gz", "bird")
    write(tmp_path / ".hidden", b"\xff\xff")
    calls = []
    corpus = read_corpus(tmp_path, progress=lambda *call: calls.append(call))
    assert corpus.names == ("a.md", "b/two.txt", "c.gz")
    assert corpus.vocabulary == ("bird", "cat", "dog")
    np.testing.assert_array_equal(dense(corpus), [[0, 0, 2], [0, 1, 1], [1, 0, 0]])
    assert len(calls) == 1
    assert calls[0][0] == calls[0][1]


def test_given_vocabulary_is_honoured_exactly(tmp_path):
    """Its order and length stay, and a stop word in it is counted."""
    path, words = write(tmp_path / "a.txt", "\n".join(TEXTS)), write(tmp_path / "words.txt", "mat\nthe\nxyz\ncat\n\n")
    corpus = read_corpus(path, vocabulary=words)
    assert corpus.vocabulary == ("mat", "the", "xyz", "cat")
    np.testing.assert_array_equal(dense(corpus), [[1, 2, 0, 1], [0, 0, 0, 0], [0, 0, 0, 0], [1, 2, 0, 1]])
    with pytest.raises(ValueError, match="another: give one"):
        read_corpus(path, vocabulary=words, text=TextOptions(vocabulary=("mat",)))
    with pytest.raises(ValueError, match=r"words\.txt cannot be the vocabulary: 'mat' is in the vocabulary twice"):
        read_corpus(path, vocabulary=write(words, "mat\nmat\n"))
    with pytest.raises(ValueError, match=r"words\.txt, line 2: there is no word"):
        read_corpus(path, vocabulary=write(words, "mat\n\nmat\n"))
    with pytest.raises(ValueError, match="has no word of the vocabulary"):
        read_corpus(path, vocabulary=write(words, "unicorn"))


def test_quoted_fields_and_long_ones(tmp_path):
    limit = csv.field_size_limit()
    rows = [["x", "body"], ["1", 'cat, "dog"\nbird'], ["2", "cat " * 50_000]]
    corpus = read_corpus(write(tmp_path / "a.csv", table(rows)))
    assert corpus.vocabulary == ("bird", "cat", "dog")
    np.testing.assert_array_equal(dense(corpus), [[1, 1, 1], [0, 50_000, 0]])
    assert csv.field_size_limit() == limit


def test_byte_order_mark_and_encodings(tmp_path):
    path = write(tmp_path / "a.csv", "\ufefftext\ncaf\u00e9\n".encode())
    assert read_corpus(path).vocabulary == ("caf\u00e9",)
    write(path, "text\ncaf\u00e9\n".encode("latin-1"))
    assert read_corpus(path, encoding="latin-1").vocabulary == ("caf\u00e9",)
    write(path, "text\r\ncaf\u00e9\r\n".encode("utf-16"))
    assert read_corpus(path, encoding="utf-16").vocabulary == ("caf\u00e9",)
    for encoding in ("klingon", "hex"):
        with pytest.raises(ValueError, match="there is no encoding of text"):
            read_corpus(path, encoding=encoding)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_blank_lines_are_empty_documents(tmp_path, end):
    corpus = read_corpus(write(tmp_path / "a.txt", end.join(["cat", "", "dog", "", ""])))
    np.testing.assert_array_equal(dense(corpus), [[1, 0], [0, 0], [0, 1], [0, 0]])


def test_missing_texts_and_names(tmp_path):
    corpus = read_corpus(
        write(tmp_path / "a.jsonl", '{"id": 1, "text": "cat"}\n{"id": null, "text": null}\n{"text": ""}')
    )
    assert corpus.names == ("1", "", "")
    np.testing.assert_array_equal(dense(corpus), [[1], [0], [0]])


def test_documents_without_end(tmp_path, monkeypatch):
    for module in (lines, delimited, json_records):
        monkeypatch.setattr(module, "LONGEST_TEXT", 1000)
    long = "word " * 400
    with pytest.raises(ValueError, match=r"a\.txt, line 2: the line has 1,000 characters or more"):
        read_corpus(write(tmp_path / "a.txt", f"cat\n{long}\n"))
    with pytest.raises(ValueError, match=r"a\.csv, line 3: the row has 1,000 characters or more"):
        read_corpus(write(tmp_path / "a.csv", 'text\ncat\n"' + "dog\n" * 500))
    (tmp_path / "folder").mkdir()
    with pytest.raises(ValueError, match=r"a\.md, line 1: the file has 1,000 characters or more"):
        read_corpus(write(tmp_path / "folder" / "a.md", "dog\n" * 500).parent)


@pytest.mark.parametrize("name", ["a.txt.gz", "a.jsonl.gz", "docword.a.txt.gz", "a.ldac.gz", "a.mtx.gz"])
def test_gzip_that_unpacks_to_too_much(tmp_path, monkeypatch, name):
    monkeypatch.setattr(lines, "_FREE_BYTES", 1 << 16)
    with pytest.raises(ValueError, match=r"line \d+: the file unpacks to over 50 times its size: unpack it first"):
        read_corpus(write(tmp_path / name, "0" * (1 << 20)))


def test_many_columns_are_not_all_named(tmp_path):
    header = ",".join(f"column{i}" * 20 for i in range(1000))
    with pytest.raises(ValueError, match="which column holds the text") as caught:
        read_corpus(write(tmp_path / "a.csv", header + "\n"))
    assert len(str(caught.value)) < 1000


def test_columns(tmp_path):
    path = write(tmp_path / "a.csv", "first,second\ncat,dog\n")
    with pytest.raises(ValueError, match=r"which column holds the text: .*\('first', 'second'\)"):
        read_corpus(path)
    with pytest.raises(ValueError, match=r"has no column 'third': .*\('first', 'second'\)"):
        read_corpus(path, column="third")
    assert read_corpus(path, column="second").vocabulary == ("dog",)
    assert read_corpus(write(tmp_path / "b.csv", "only\ncat\n")).vocabulary == ("cat",)
    lines = write(tmp_path / "c.jsonl", '{"first": "cat", "second": "dog"}')
    assert read_corpus(lines, column="first").vocabulary == ("cat",)
    with pytest.raises(ValueError, match="give one of its columns"):
        read_corpus(lines)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.txt", b"", r"a\.txt is empty"),
        ("a.txt.gz", b"", r"a\.txt\.gz is empty"),
        ("a.txt", b"the\nof and\n", "gives no counts of words"),
        ("a.txt", b"good line\nbad \xff line\n", r"a\.txt, line 2: byte 0xff is not valid in utf-8: .*`encoding`"),
        ("a.txt", "cat\ndog".encode("utf-16"), r"a\.txt, line 1: byte 0xff is not valid in utf-8: .* such as 'utf-16'"),
        ("a.txt", b"x\n" * 20_000 + b"caf\xe9", r"a\.txt, line 20001: byte 0xe9"),
        ("a.csv", b"text\r\n" + b"ok then\r\n" * 9_000 + b"\xff\r\n", r"a\.csv, line 9002: byte 0xff"),
        ("a.csv", b"id,text\n1,ok\n2,too,many\n", r"a\.csv, line 3: there are 3 fields and not 2"),
        ("a.csv", b'id,text\n1,"ok\nthen"\n2\n', r"a\.csv, line 4: there are 1 fields and not 2"),
        ("a.csv", b'id,text\n1,ok\n2,"never closed\n3,x\n', r"a\.csv, line 3: the quotes of a field do not match"),
        ("a.csv", b"\n\n", r"a\.csv does not tell which column"),
        ("a.jsonl", b'{"text": "ok"}\n{"text": \n', r"a\.jsonl, line 2: this is not JSON"),
        ("a.jsonl", b"[" * 100_000, r"a\.jsonl, line 1: this is not JSON"),
        ("a.jsonl", b'{"text": "ok"}\n[1]\n', r"a\.jsonl, line 2: this is no JSON object"),
        ("a.jsonl", b'{"text": "ok"}\n{"body": "x"}\n', r"a\.jsonl, line 2: there is no key 'text'"),
        ("a.jsonl", b'{"text": "ok"}\n{"text": 1}\n', r"a\.jsonl, line 2: the value of 'text' is no text"),
    ],
)
def test_damage_is_named(tmp_path, name, content, message):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_corpus(path)


def test_damaged_gzip(tmp_path):
    lines = [f"word{i * 7919 % 10007} number{i}\n" for i in range(20_000)]
    packed = gzip.compress("".join(lines).encode())
    path = tmp_path / "a.txt.gz"
    path.write_bytes(packed[: len(packed) // 2])
    line = zlib.decompressobj(31).decompress(packed[: len(packed) // 2]).count(b"\n") + 1
    with pytest.raises(ValueError, match=rf"a\.txt\.gz, line {line}: the file ends in the middle of its gzip data"):
        read_corpus(path)
    path.write_bytes(packed[:1000] + b"\0" * 100 + packed[1100:])
    with pytest.raises(ValueError, match=r"a\.txt\.gz, line \d+: the file has corrupt gzip data"):
        read_corpus(path)
    path.write_bytes(b"plain")
    with pytest.raises(ValueError, match="not a gzip file though it is named one"):
        read_corpus(path)


def test_quotes_in_a_table_by_tabs_are_text_or_around_a_field(tmp_path):
    lines = ["id\ttext", '1\t"cat" dog', '2\t"sun', '3\t"sea ""ski"" sun"', '"4"\t"cat\tski"', "", '5\tdog\'s "sun"']
    corpus = read_corpus(write(tmp_path / "a.tsv", "\r\n".join(lines).encode()))
    assert corpus.names == ("1", "2", "3", "4", "5")
    assert corpus.vocabulary == ("cat", "dog", "sea", "ski", "sun")
    expected = [[1, 1, 0, 0, 0], [0, 0, 0, 0, 1], [0, 0, 1, 1, 1], [1, 0, 0, 1, 0], [0, 1, 0, 0, 1]]
    np.testing.assert_array_equal(dense(corpus), expected)
    path = write(tmp_path / "b.tsv", b'id\ttext\n1\tcat\n\n2\tcat\t"dog\n')
    with pytest.raises(ValueError, match=r"b\.tsv, line 4: there are 3 fields and not 2 as in the header"):
        read_corpus(path)


def test_folder_damage(tmp_path):
    with pytest.raises(ValueError, match="has no files in it"):
        read_corpus(tmp_path)
    write(tmp_path / "a.txt", b"one\ntwo\n\xff")
    with pytest.raises(ValueError, match=r"a\.txt, line 3: byte 0xff"):
        read_corpus(tmp_path)
    write(tmp_path / "a.txt", b"one\n" * 20_000 + b"\xff")
    with pytest.raises(ValueError, match=r"a\.txt, line 20001: byte 0xff"):
        read_corpus(tmp_path)
    write(tmp_path / "a.txt", b"")
    write(tmp_path / "b.txt", b"cat")
    np.testing.assert_array_equal(dense(read_corpus(tmp_path)), [[0], [1]])
    write(tmp_path / "c.bin", b"cat\0\0dog")
    with pytest.raises(ValueError, match=r"c\.bin is no text in utf-8, it has many zero bytes: take it out"):
        read_corpus(tmp_path)
    write(tmp_path / "c.bin", b"cat\0dog" + b" cat" * 200)  # a slip in a text
    np.testing.assert_array_equal(dense(read_corpus(tmp_path)), [[0, 0], [1, 0], [201, 1]])


@pytest.mark.parametrize(
    "options", [TextOptions(), TextOptions(False, None, (1, 3)), TextOptions(stop_words=("the", "of"))]
)
def test_what_a_model_keeps_of_text_options_gives_them_back(options):
    kept = json.loads(json.dumps(options.kept()))
    assert TextOptions.from_kept(kept) == options
    assert TextOptions.for_words(("cat", "dog"), kept) == dataclasses.replace(options, vocabulary=("cat", "dog"))


def test_without_them_runs_are_as_long_as_among_the_words():
    assert TextOptions.for_words(("cat", "the old dog")).ngram_range == (1, 3)
    assert TextOptions.for_words(("cat", "a " * 90)).ngram_range == (1, 20)


@pytest.mark.parametrize(
    ("kept", "message"),
    [
        ([], "not complete"),
        ({"lowercase": True}, "not complete"),
        ({"lowercase": 1, "stop_words": None, "longest_run": 1}, "make no sense"),
        ({"lowercase": True, "stop_words": [1], "longest_run": 1}, "make no sense"),
        ({"lowercase": True, "stop_words": "latin", "longest_run": 1}, "make no sense"),
        ({"lowercase": True, "stop_words": None, "longest_run": 10**9}, "make no sense"),
        ({"lowercase": True, "stop_words": None, "longest_run": "2"}, "make no sense"),
    ],
)
def test_text_options_of_a_strange_file_are_refused(kept, message):
    with pytest.raises(ValueError, match=message):
        TextOptions.from_kept(kept)


def test_paths_and_formats(tmp_path):
    with pytest.raises(ValueError, match=r"there is no .*nothing\.txt"):
        read_corpus(tmp_path / "nothing.txt")
    path = write(tmp_path / "a.xyz", "cat dog")
    with pytest.raises(ValueError, match="does not tell its format: give `format`, one of text, "):
        read_corpus(path)
    pages = [write(tmp_path / name, "a cat, two dogs") for name in ("a.html", "b.MD")]
    assert len(read_corpus(pages, text=TextOptions(min_df=1, max_df=1.0)).documents) == 2  # each is a document
    with pytest.raises(ValueError, match="there is no format 'word'"):
        read_corpus(path, format="word")
    with pytest.raises(ValueError, match="is a file, and the format 'folder' wants a folder"):
        read_corpus(path, format="folder")
    with pytest.raises(ValueError, match="is a folder, and the format 'csv' wants a file"):
        read_corpus(tmp_path, format="csv")
    with pytest.raises(ValueError, match="cannot be read as npz while it is compressed"):
        read_corpus(write(tmp_path / "a.npz.gz", "x"))
    assert read_corpus(str(path), format="text").vocabulary == ("cat", "dog")


def test_bad_text_options(tmp_path):
    for options in ({"stop_words": "klingon"}, {"token_pattern": "("}, {"vocabulary": ()}, {"vocabulary": ("a", "a")}):
        with pytest.raises(ValueError, match=r"stop_words|token_pattern|vocabulary"):
            TextOptions(**options)
    with pytest.raises(ValueError, match="gives no counts of words"):
        read_corpus(write(tmp_path / "a.txt", "cat"), text=TextOptions(min_df=5))


def test_progress_comes_now_and_then(tmp_path):
    path, calls = write(tmp_path / "a.txt", "some words here\n" * 300_000), []
    read_corpus(path, progress=lambda *call: calls.append(call))
    size = path.stat().st_size
    assert 3 <= len(calls) <= 10
    assert calls[-1] == (size, size)
    assert all(before[0] <= after[0] for before, after in itertools.pairwise(calls))


@pytest.mark.parametrize("name", ["a.txt.gz", "a.csv.gz", "a.tsv.gz", "a.jsonl.gz", "a.json.gz"])
def test_text_is_never_whole_in_memory(tmp_path, name):
    document = "cat" + " " * 10_000  # 10 MB of text
    if "json" in name:
        records = [json.dumps({"text": document})] * 1_000
        content = "\n".join(records) if "jsonl" in name else "[" + ",".join(records) + "]"
    else:
        content = ("" if name == "a.txt.gz" else "text\n") + (document + "\n") * 1_000
    path = write(tmp_path / name, content)
    read_corpus(write(tmp_path / "b.txt", "warm up"))
    tracemalloc.start()
    read_corpus(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e6


@pytest.mark.parametrize("name", ["a.txt", "a.tsv", "a.csv", "a.jsonl", "folder"])
def test_beginnings_are_those_of_the_rows_asked_for(name, tmp_path):
    documents = [f"document  {i}\tgoes on " + "and on " * 20 for i in range(6)]
    path = tmp_path / name
    if name == "folder":
        path.mkdir()
        for i, document in enumerate(documents):
            write(path / f"{i}.txt", document)
    elif name == "a.jsonl":
        write(path, "\n".join(json.dumps({"text": document}) for document in documents))
    else:
        header = [] if name == "a.txt" else ["text"]
        plain = [document.replace("\t", " ") for document in documents]
        write(path, "\n".join([*header, *plain]))
    format = {"a.txt": "text", "folder": "folder"}.get(name, name[2:])
    found = text.read_beginnings([(path, format)], {1, 4}, 23, Columns(), "utf-8")
    assert found == {1: "document 1 goes on and ", 4: "document 4 goes on and "}
