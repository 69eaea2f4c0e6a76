"""`ssvi documents`: looking documents up, topics over time and by group."""

import csv
import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from tests.cli.helpers import WORDS, run

import ssvi
from ssvi.cli.listing import show_blocks
from ssvi.cli.naming import document_named
from ssvi.cli.trends import _notes, _trend_line, course
from ssvi.lookup import Trends

THEMES = np.arange(90) % 3


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A model of three themes and 90 documents of them; the law is from 1993 on, and has a desk of its own."""
    folder = tmp_path_factory.mktemp("documents")
    rng = np.random.default_rng(0)
    counts = np.zeros((90, 24), dtype=int)
    lines = []
    for row, theme in enumerate(THEMES):
        counts[row, 8 * theme : 8 * theme + 8] = rng.integers(1, 4, size=8)
        words = [WORDS[v] for v in np.flatnonzero(counts[row]) for _ in range(counts[row, v])]
        date = "" if row == 0 else f"{1993 + row % 2 if theme == 2 else 1990 + row % 4}-05-01"
        lines.append({"id": f"n{row}", "title": f"Story\t{row}", "date": date,
                      "group": "courts" if theme == 2 else "other", "text": " ".join(words)})  # fmt: skip
    (folder / "a.jsonl").write_text("\n".join(map(json.dumps, lines)))
    model = ssvi.LatentDirichletAllocation(3, max_iter=20, random_state=0, n_jobs=1).fit(counts)
    model.save(folder / "m.ssvi", WORDS)
    topics = [int(model.transform(counts[theme : theme + 1]).argmax()) for theme in range(3)]
    assert sorted(topics) == [0, 1, 2]
    return folder / "m.ssvi", folder / "a.jsonl", topics


def _asked(files, *options):
    return json.loads(run("documents", *files[:2], "--jobs", 1, "--json", *options).stdout)


def test_documents_of_a_topic_are_counted_from_one(files, tmp_path):
    lines = _asked(files, "--topic", files[2][1], "-n", 30)
    assert {THEMES[line["document"] - 1] for line in lines} == {1}
    assert len(lines) == 30
    assert all(line["id"] == f"n{line['document'] - 1}" for line in lines)
    assert [line["share"] for line in lines] == sorted((line["share"] for line in lines), reverse=True)
    assert lines[0]["text"].startswith("music")
    assert lines[0]["topics"].startswith(f"{files[2][1]} music")
    table = tmp_path / "t.csv"
    said = run("documents", *files[:2], "--topic", files[2][1], "-n", 4, "-o", table)
    assert said.stdout == f"{table}: 4 documents\n"
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["document", "id", "title", "date", "group", "share", "topics", "text"]
    assert [int(row["document"]) for row in rows] == [line["document"] for line in lines[:4]]
    header, *shown = run("documents", *files[:2], "--topic", files[2][1], "-n", 4).stdout.splitlines()
    assert header.split("\t") == list(rows[0])
    assert [int(line.split("\t")[0]) for line in shown] == [line["document"] for line in lines[:4]]
    assert all(line.count("\t") == 7 for line in shown)


def test_documents_like_one_by_number_and_by_id(files):
    by_number, by_id, by_title = (_asked(files, "--like", name, "-n", 29) for name in ("3", "n2", "story\t2"))
    assert by_title == by_number
    assert by_number == by_id
    assert {THEMES[line["document"] - 1] for line in by_number} == {2}
    assert 3 not in {line["document"] for line in by_number}
    assert len(by_number) == 29


def test_topics_are_named_by_numbers_with_commas_and_by_labels(files):
    several = _asked(files, "--topic", "0", "--topic", "2")
    assert _asked(files, "--topic", "0,2") == several
    assert _asked(files, "--topic", "0, 2") == several
    label = _asked(files, "--by", "group", "--topic", files[2][2])["components"][0]["label"]
    whole, word = (_asked(files, "--topic", name) for name in (label.upper(), label.split(", ")[0]))
    assert whole == word == _asked(files, "--topic", files[2][2])
    assert _asked(files, "--topic", f"sport,{files[2][2]}") == _asked(files, "--topic", f"{files[2][0]},{files[2][2]}")


class _Many:
    """Four thousand documents of a word each."""

    def __len__(self):
        return 4000

    def lengths(self):
        return np.ones(4000)


def test_a_document_is_named_as_a_table_prints_its_number():
    corpus = SimpleNamespace(info=SimpleNamespace(ids=None, titles=None), documents=_Many())
    assert document_named("3,660", corpus) == document_named("3660", corpus) == 3659


def test_search_finds_documents_with_the_words(files):
    lines = _asked(files, "--search", "the Lawa musicb", "-n", 90)
    assert {THEMES[line["document"] - 1] for line in lines} == {1, 2}
    assert len(lines) == 60
    result = run("documents", *files[:2], "--search", "lawa musick", "-n", 1)
    assert "the model does not have 'musick'; it has 'music" in result.stderr


def test_a_terminal_of_eighty_columns_has_a_few_lines_for_each_document(monkeypatch, capsys):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "80")
    line = {"document": 3660, "title": "On\x1b[2J oil", "date": "", "share": 0.5, "topics": "0 oil, price 50%",
            "text": "Oil " + "prices have risen " * 6}  # fmt: skip
    show_blocks("documents with oil", [line, {"document": 1, "share": 0.25}])
    title, _, head, *block, _, last = capsys.readouterr().out.splitlines()
    assert (title, head, last) == ("documents with oil", "document 3,660  share 0.500", "document 1  share 0.250")
    assert block[:2] == ["  On [2J oil", "  0 oil, price 50%"]
    assert block[2:] == ["  Oil" + " prices have risen" * 4 + "…"]
    show_blocks("documents with gas", [])
    assert capsys.readouterr().out == "documents with gas: nothing\n"


def test_beginnings_end_with_a_word(files):
    (line,) = _asked(files, "--topic", files[2][1], "-n", 1)
    assert len(line["text"]) <= 120
    words = line["text"].removesuffix("…").split()
    assert set(words) <= set(WORDS)


def test_topics_over_time_and_by_group(files, tmp_path):
    topic = files[2][2]
    over = _asked(files, "--by", "date", "--topic", topic)
    assert (over["by"], over["names"][0], over["names"][-1], over["unknown"]) == ("month", "1990-05", "1994-05", 1)
    over = _asked(files, "--by", "year", "--topic", topic)
    assert over["names"] == ["1990", "1991", "1992", "1993", "1994"]
    (line,) = over["components"]
    assert line["component"] == topic
    # Of 1993 are 15 documents of the theme and 15 others, of 1994 are 15 of the theme alone.
    assert max(line["shares"][:3]) < 0.1 < 0.4 < line["shares"][3] < 0.6 < 0.9 < line["shares"][4]
    by = _asked(files, "--by", "group")
    assert (by["names"], by["documents"]) == (["other", "courts"], [60, 30])
    assert len(by["components"]) == 3
    shares = {line["component"]: line["shares"] for line in by["components"]}
    assert shares[topic][1] > 0.9 > 0.1 > shares[topic][0]
    table = tmp_path / "t.csv"
    run("documents", *files[:2], "--by", "date", "-o", table)
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert rows[0].keys() == {"month", "documents", "topic_0", "topic_1", "topic_2"}
    assert (rows[1]["month"], rows[1]["documents"], rows[1]["topic_0"]) == ("1990-06", "0", "")
    for by_what in ("date", "group"):
        picture = tmp_path / f"{by_what}.png"
        assert run("documents", *files[:2], "--by", by_what, "-o", picture).exit_code == 0
        assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_course_has_a_sign_for_each_time():
    assert course(np.array([0.0, 0.1, 0.0, 0.4]), np.array([3, 5, 0, 2])) == "▁▃·█"
    long = course(np.repeat([0.1, 0.2], 60), np.ones(120))
    assert (len(long), long[0], long[-1]) == (40, "▅", "█")
    assert len(course(np.repeat([0.1, 0.2], 60), np.ones(120), 12)) == 12


def test_a_course_is_highest_where_a_topic_is_most():
    counts = np.array([2, 0, 0, 40, 1, 300, 500, 200, 1])
    shares = np.array([0.9, 0.0, 0.0, 0.05, 0.9, 0.02, 0.12, 0.01, 0.9])
    assert course(shares, counts) == "▄·▂█▂"
    assert course(shares, counts, 3) == "▄█▂"


def test_trends_say_what_a_period_is_and_how_many_documents_it_has(files):
    said = run("documents", *files[:2], "--by", "date").stderr
    assert "89 documents by month: 49 months from 1990-05 to 1994-05, 44 of them without documents" in said
    assert "left out: 1 document has no date." in said


def test_periods_with_too_few_documents_are_named(files, tmp_path):
    lines = [json.loads(line) for line in files[1].read_text().splitlines()]
    for line in lines:
        line["date"] = "2001" if line["date"] else "1999"
    table = tmp_path / "b.jsonl"
    table.write_text("\n".join(map(json.dumps, lines)))
    piped = run("documents", files[0], table, "--by", "year")
    assert "passed over" not in piped.stderr
    assert [line.split("\t")[0] for line in piped.stdout.splitlines()] == ["year", "1999", "2000", "2001"]
    picture = run("documents", files[0], table, "--by", "year", "-o", tmp_path / "b.svg").stderr
    assert "passed over, as too few to tell: 1 year with fewer than 89 documents (-o FILE.csv has them)." in picture


def test_a_terminal_says_that_its_shares_of_few_documents_are_not_those_of_tables():
    few = Trends("year", ("1990", "1991"), np.array([20, 60]), np.array([[0.5], [0.1]]), np.array([0.2]), 0)
    assert any("1990" not in note and "nearer to those of all documents" in note for note in _notes(few, steady=True))
    assert not any("nearer" in note for note in _notes(few, steady=False))
    many = Trends("year", ("1990", "1991"), np.array([60, 60]), np.array([[0.5], [0.1]]), np.array([0.3]), 0)
    assert not any("nearer" in note for note in _notes(many, steady=True))
    assert _trend_line(few, 0, "oil").keys() == {
        "label",
        "share",
        "most in",
        "documents",
        "share there",
        "1990 to 1991",
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "say which documents"),
        (["--like", "3", "--search", "law"], "--like and --search are questions of their own"),
        (["--topic", "9"], "there is no topic 9 in use"),
        (
            ["--like", "91"],
            "there is no document 91: --like names one of 1 to 90 by its number or by its id or its title",
        ),
        (["--topic", "opera"], "no topic has 'opera' in its label: name it by a number that `ssvi topics "),
        (["--topic", "s"], "2 topics have 's' in their labels: name one by its number, of "),
        (["--topic", "0,9"], "there is no topic 9 in use"),
        (
            ["--like", "story"],
            "'story', but it is part of some: name one by its number, 1 (Story 0); 2 (Story 1); ",
        ),
        (["--search", "the"], "'the' is a stop word, which the model leaves out: search for"),
        (["--search", "The and musicaa"], "'the', 'and' are stop words, which the model leaves out, and it does not"),
        (["--like", "0"], "there is no document 0"),
        (["--search", "xylophone"], "the model has none of the words of 'xylophone'."),
        (["--search", "musicaa"], "'musicaa'; it has 'musica'"),
        (["--by", "hour"], "--by is date, group, day, week, month, year or decade, not 'hour'"),
        (["--topic", "0", "-o", "x.png"], "--output must end in .csv"),
        (["--by", "date", "-o", "x.doc"], "--output must end in .csv, .png, .svg or .pdf"),
    ],
)
def test_mistakes_are_one_line(files, refused, options, message):
    assert message in refused("documents", *files[:2], *options)


def test_without_dates_there_is_a_sentence(files, texts, refused):
    texts.write_text("\n".join(" ".join(WORDS) for _ in range(5)))
    assert "has no dates that can be read: --date-column names" in refused("documents", files[0], texts, "--by", "date")
    assert "has no groups: --group-column names" in refused("documents", files[0], texts, "--by", "group")
    texts.write_text("nothing\n" + " ".join(WORDS))
    assert "document 1 has no words" in refused("documents", files[0], texts, "--like", "1")
