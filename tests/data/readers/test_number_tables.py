"""Tables of numbers."""

import gzip

import numpy as np
import pytest
from tests.data.readers.helpers import dense

from ssvi.data.readers import CorpusError, TextOptions, numbers_format, read_corpus
from ssvi.data.readers.number_columns import counts_rows, to_number

ROWS = [[1.5, -2.0], [0.0, 30.0], [4.0, 5e-3]]
PLAIN = "x,y\n1.5,-2\n0,30\n4,5e-3\n"


def read(tmp_path, content, name="table.csv", **options):
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    return read_corpus(path, format="table", **options)


def refused(tmp_path, content, **options):
    with pytest.raises(CorpusError) as error:
        read(tmp_path, content, **options)
    return str(error.value).removeprefix(str(tmp_path / "table.csv")).lstrip(" :,")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (PLAIN, ("x", "y")),
        (PLAIN.replace(",", "\t"), ("x", "y")),
        (PLAIN.replace(",", " ; "), ("x", "y")),
        (PLAIN.replace(",", "|"), ("x", "y")),
        (PLAIN.replace(",", "   "), ("x", "y")),
        (PLAIN.replace(",", ";").replace(".", ","), ("x", "y")),
        ("sep=;\n" + PLAIN.replace(",", ";"), ("x", "y")),
        (PLAIN.removeprefix("x,y\n"), None),
        (PLAIN.replace("x,y", "0,1"), ("0", "1")),
        ("\n" + PLAIN.replace("0,30", "\n0,30"), ("x", "y")),
    ],
    ids=["comma", "tab", "semicolon", "bar", "spaces", "decimal comma", "sep", "no header", "of pandas", "blank lines"],
)
def test_numbers_are_read_however_they_are_written(tmp_path, text, names):
    corpus = read(tmp_path, text)
    np.testing.assert_array_equal(dense(corpus), ROWS)
    assert corpus.vocabulary == names
    assert corpus.is_table
    assert corpus.notes == ()


def test_a_table_may_be_packed(tmp_path):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(PLAIN.encode()))
    np.testing.assert_array_equal(dense(read_corpus(path, format="table")), ROWS)


def test_parquet(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    path = tmp_path / "table.parquet"
    parquet.write_table(pyarrow.table({"x": [1.5, None], "kind": ["a", "a"], "y": [1, 2]}), path)
    corpus = read_corpus(path, format="table")
    np.testing.assert_array_equal(dense(corpus), [[1.5, 1.0], [np.nan, 2.0]])
    assert corpus.vocabulary == ("x", "y")


def test_what_is_missing_is_nan(tmp_path):
    corpus = read(tmp_path, "x,y\n1,NA\n,2\nnull,?\n")
    np.testing.assert_array_equal(dense(corpus), [[1, np.nan], [np.nan, 2], [np.nan, np.nan]])


def test_text_and_row_numbers_are_left_out_with_a_note(tmp_path):
    corpus = read(tmp_path, "rownames,x,kind,empty\n1,5,a,\n2,6,a,\n3,7,b,NA\n")
    np.testing.assert_array_equal(dense(corpus), [[5.0], [6.0], [7.0]])
    rows, empty, text = corpus.notes
    assert "'rownames' counts the rows" in rows
    assert "nothing stands in 'empty'" in empty
    assert "'kind' is text" in text
    assert "`group_column` 'kind'" in text


def test_rows_are_called_by_a_column_of_ids_or_of_different_texts(tmp_path):
    assert read(tmp_path, "id,x\n9,5\n4,6\n").names == ("9", "4")
    assert read(tmp_path, "who,kind,x\nann,a,5\nbob,a,6\n").names == ("ann", "bob")
    corpus = read(tmp_path, "code,kind,x\n9,a,5\n4,a,6\n", id_column="code", group_column="kind")
    assert corpus.names == ("9", "4")
    assert corpus.info.groups == ("a", "a")
    assert corpus.vocabulary == ("x",)
    assert corpus.notes == ()


def test_dates_are_kept_and_years_are_numbers(tmp_path):
    corpus = read(tmp_path, "date,year,x\n2024-05-31,1,5\n2024-06-01,2,6\n")
    assert corpus.info.dates == ("2024-05-31", "2024-06-01")
    assert corpus.vocabulary == ("year", "x")


def test_a_model_finds_its_columns_by_their_names(tmp_path):
    corpus = read(tmp_path, "kind,y,more,x\na,1,2,3\nb,4,5,6\n", text=TextOptions(vocabulary=("x", "y")))
    np.testing.assert_array_equal(dense(corpus), [[3.0, 1.0], [6.0, 4.0]])
    assert corpus.notes == ()


def test_several_tables_are_stacked(tmp_path):
    for name, text in (("a.csv", "x,y\n1,2\n"), ("b.csv", "y,x\n4,3\n")):
        (tmp_path / name).write_text(text)
    corpus = read_corpus([tmp_path / "a.csv", tmp_path / "b.csv"], format="table")
    np.testing.assert_array_equal(dense(corpus), [[1.0, 2.0], [3.0, 4.0]])
    assert corpus.info.groups == ("a.csv", "b.csv")
    assert corpus.is_table


def test_many_rows_are_taken_some_at_a_time(tmp_path, monkeypatch):
    monkeypatch.setattr("ssvi.data.readers.number_tables._ROWS", 7)
    lines = [f"name {n},{n},{'u' if n % 2 else 'v'}" for n in range(50)]
    corpus = read(tmp_path, "\n".join(["who,x,kind", *lines]), group_column="kind")
    np.testing.assert_array_equal(dense(corpus)[:, 0], np.arange(50.0))
    assert corpus.names == tuple(f"name {n}" for n in range(50))
    assert corpus.info.groups[:3] == ("v", "u", "v")


@pytest.mark.parametrize(
    ("text", "options", "said"),
    [
        ("kind,word\na,b\na,c\n", {}, "has no column of numbers, only 'kind', 'word': for text there are lda"),
        ("x,y\n1,2\n3,oops\n5,6\n", {}, "row 2, column 'y': 'oops' is no number as the others of the column are"),
        ("x,y\n1,2\n3,inf\n5,6\n", {}, "row 2, column 'y': the number is infinite: mend it."),
        ("x,y\n1,2\n3\n", {}, "line 3: there are 1 fields and not 2 as in the first line"),
        ("x,x\n1,2\n", {}, "has 2 columns 'x': rename all but one."),
        ("x,y\n", {}, "has no rows below its header"),
        ("x,y\n1,2\n", {"column": "x"}, "is read as a table of numbers, which has no text"),
        ("x,y\n1,2\n", {"id_column": "z"}, "has no column 'z'"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path, text, options, said):
    assert refused(tmp_path, text, **options).startswith(said)


def test_a_column_that_a_model_wants_and_that_is_not_there(tmp_path):
    said = refused(tmp_path, "x,z\n1,2\n", text=TextOptions(vocabulary=("x", "y")))
    assert said == "has no column 'y', which the model was fitted to, only 'x', 'z'."
    said = refused(tmp_path, "date,title,x,text\n1990,a,1,b\n", text=TextOptions(vocabulary=("x", "y")))
    assert said == "has no column 'y', which the model was fitted to, only 'date', 'title', 'x', 'text'."


@pytest.mark.parametrize(
    ("name", "text", "always", "sometimes"),
    [
        ("a.csv", PLAIN, "table", "table"),
        ("a.csv", "text,x\nhello,1\n", "table", None),
        ("a.csv", "x,y\nhello,you\n", "table", None),
        ("a.txt", "1 2\n3 4\n", "table", None),
        ("a.txt", "it was 1984\nand then 1985\nit rained\n", None, None),
        ("a.jsonl", '{"text": "a"}\n', None, None),
    ],
)
def test_which_files_a_model_of_numbers_reads_as_tables(tmp_path, name, text, always, sometimes):
    (tmp_path / name).write_text(text)
    assert numbers_format(tmp_path / name, must_be_numbers=True) == always
    assert numbers_format(tmp_path / name, must_be_numbers=False) == sometimes
    assert numbers_format(tmp_path, must_be_numbers=True) is None


def test_cells():
    assert to_number(" 3 ") == 3.0
    assert to_number("1_000") is None
    assert to_number("3,5") is None
    assert to_number(True) == 1.0
    assert counts_rows("rownames", ["1", "2"])
    assert counts_rows("", ["0", "1"])
    assert not counts_rows("x", ["1", "2"])
    assert not counts_rows("rownames", ["2", "1"])
