"""Tables and JSON: delimiters, arrays, and what else is known of documents."""

import csv
import io
import json
import os
import threading

import pytest
from tests.data.readers.helpers import dense, write

from ssvi.data.readers import DocumentInfo, json_records, lines, read_corpus
from ssvi.data.readers.delimited import guess_delimiter

RECORDS = [
    {"key": 1, "headline": "On cats", "day": "2020-01-01", "topic": "pets", "text": "cat, \"cat\"; dog"},
    {"key": 2, "headline": None, "day": "2020-01-02", "topic": "sky", "text": "bird | sun\nsea"},
]  # fmt: skip
COLUMNS = {"id_column": "key", "date_column": "day", "group_column": "topic"}
INFO = DocumentInfo(("1", "2"), ("On cats", ""), ("2020-01-01", "2020-01-02"), ("pets", "sky"))
COUNTS = [[0, 2, 1, 0, 0], [1, 0, 0, 1, 1]]


def _table(delimiter):
    buffer = io.StringIO()
    writer = csv.writer(buffer, delimiter=delimiter)
    writer.writerow(RECORDS[0])
    writer.writerows(record.values() for record in RECORDS)
    return buffer.getvalue()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", _table(",")),
        ("b.csv", _table(";")),
        ("c.csv", _table("\t")),
        ("d.csv", _table("|")),
        ("e.csv", "sep=;\r\n" + _table(";")),
        ("a.jsonl", "\n".join(map(json.dumps, RECORDS))),
        ("b.jsonl", json.dumps(RECORDS)),
        ("a.json", json.dumps(RECORDS, indent=2)),
        ("b.json", "\n".join(map(json.dumps, RECORDS))),
        ("c.json.gz", "\n  " + json.dumps(RECORDS)),
    ],
)
def test_ids_titles_dates_and_groups_are_kept(tmp_path, name, content):
    corpus = read_corpus(write(tmp_path / name, content), **COLUMNS)
    assert dense(corpus).tolist() == COUNTS
    assert corpus.info == INFO
    assert corpus.info.called(0) == "On cats"
    assert corpus.info.called(1) == "2"
    with pytest.raises(ValueError, match=r"has no column 'size': give one of its columns \('key', .*as `date_column`"):
        read_corpus(tmp_path / name, date_column="size")


def test_the_same_from_parquet(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.Table.from_pylist(RECORDS), tmp_path / "a.parquet")
    corpus = read_corpus(tmp_path / "a.parquet", **COLUMNS)
    assert dense(corpus).tolist() == COUNTS
    assert corpus.info == INFO


def test_usual_names_are_found_and_others_have_none(tmp_path):
    corpus = read_corpus(write(tmp_path / "a.csv", "Title,year,name,group,text\nT,1999,n,g,cat\n"))
    assert corpus.info == DocumentInfo(("n",), ("T",), ("1999",), ("g",))
    assert read_corpus(write(tmp_path / "b.csv", "size,text\n1,cat\n")).info == DocumentInfo()
    for name in ("publish_date", "dateCreated", "Date of Issue", "published-at", "timestamp"):
        corpus = read_corpus(write(tmp_path / "c.csv", f"updates,{name},text\nx,1999-02-01,cat\n"))
        assert corpus.info.dates == ("1999-02-01",), name
    assert DocumentInfo().called(4) == "document 5"


def test_columns_are_for_tables(tmp_path):
    path = write(tmp_path / "a.txt", "cat")
    for option in ("column", "id_column", "date_column"):
        with pytest.raises(ValueError, match=f"is read as text, which has no columns: leave out `{option}`"):
            read_corpus(path, **{option: "x"})


@pytest.mark.parametrize(
    ("lines", "column", "delimiter"),
    [
        (["id,text", "1,a;b;c"], None, ","),
        (["id;text", "1;a,b,c"], None, ";"),
        (["id;note;text", "1;;a, b", "2;;c"], None, ";"),
        (["a|b", "1|2"], None, "|"),
        (["a\tb", "1\t2, 3"], None, "\t"),
        (["text", "a;b", "c"], None, ","),  # one column
        (["text", "a, b; c", "c"], None, "\t"),  # one column, with commas that nobody quoted
        (['"a;b",c', '"1;2",3'], None, ","),
        (["name;value, all", "1;2, 3"], "name", ";"),
        ([], None, ","),
    ],
)
def test_guesses_of_what_stands_between_columns(lines, column, delimiter):
    assert guess_delimiter([line + "\n" for line in lines], column) == delimiter


def test_a_delimiter_may_be_given(tmp_path):
    path = write(tmp_path / "a.csv", "id:text\n1:cat, dog\n")
    with pytest.raises(
        ValueError, match=r"line 2: there are 2 fields and not 1 .*if ',' is between them: .*`delimiter`"
    ):
        read_corpus(path)
    assert read_corpus(path, delimiter=":").vocabulary == ("cat", "dog")
    assert read_corpus(write(tmp_path / "b.tsv", "id;text\n1;cat\n"), delimiter=";").info.ids == ("1",)
    for wrong in ("", ";;", "\n", '"'):
        with pytest.raises(ValueError, match="a delimiter is one character"):
            read_corpus(path, delimiter=wrong)


@pytest.mark.parametrize("content", [json.dumps(RECORDS), "\n".join(map(json.dumps, RECORDS))])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_json_may_come_through_a_pipe_and_in_any_encoding(tmp_path, content, encoding):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(content.encode(encoding)))
    writer.start()
    corpus = read_corpus(pipe, format="json", encoding=encoding, **COLUMNS)
    writer.join()
    assert dense(corpus).tolist() == COUNTS


def test_arrays_of_texts_and_empty_ones(tmp_path):
    path = write(tmp_path / "a.json", json.dumps(["cat", "dog dog", ""]))
    assert dense(read_corpus(path)).tolist() == [[1, 0], [0, 2], [0, 0]]
    with pytest.raises(ValueError, match="has no rows, and so no documents"):
        read_corpus(write(tmp_path / "b.json", "[]"))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64])
def test_arrays_are_read_in_pieces_of_any_size(tmp_path, monkeypatch, size):
    monkeypatch.setattr(json_records, "_MORE", size)
    records = [{"n": [1.5e10, -2, True, None, {"a": "]"}], "text": f'word{i} \u00e9\\" , ['} for i in range(20)]
    path = write(tmp_path / "a.json", json.dumps(records, indent=1, ensure_ascii=size > 2))
    corpus = read_corpus(path)
    assert len(corpus.documents) == 20
    assert set(corpus.vocabulary) == {f"word{i}" for i in range(20)}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('[\n{"text": "cat"},\n\n{"text": dog}\n]', r"line 4: this is not JSON \(Expecting value\): mend the array"),
        ('[{"text": "cat"}', r"line 1: this is not JSON \(the file ends where '\]' should be\)"),
        ('[{"text": "cat"}\n{"text": "dog"}]', r"line 2: this is not JSON \('\{' stands where '\]' should be\)"),
        ('[{"text": "cat"}] x', "line 1: there is something behind the end of the array"),
        ('[{"text": "cat"},\n 7]', "line 2: this is no JSON object such as .*mend the element"),
        ('[{"text": "cat"},\n{"txt": "cat"}]', "line 2: there is no key 'text': add it or remove the element"),
        ('[{"text": "cat}]', r"line 1: this is not JSON \(Unterminated string"),
        ("[" * 100_000, "line 1: this is not JSON"),
        ('{\n "text": "cat"\n}', "line 1: .*put each object on a line of its own, or all of them into an array"),
    ],
)
def test_damaged_arrays(tmp_path, content, message):
    with pytest.raises(ValueError, match=message):
        read_corpus(write(tmp_path / "a.json", content))


def test_an_element_without_end(tmp_path, monkeypatch):
    for module in (lines, json_records):
        monkeypatch.setattr(module, "LONGEST_TEXT", 1000)
    monkeypatch.setattr(json_records, "_MORE", 100)
    with pytest.raises(ValueError, match="line 2: the element has 1,000 characters or more"):
        read_corpus(write(tmp_path / "a.json", '["cat",\n"' + "dog " * 500 + '"]'))
