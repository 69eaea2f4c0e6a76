"""`ssvi topics` and `ssvi label`: what topics are about and what they are called."""

import csv
import json

import numpy as np
import pytest
from tests.cli.helpers import WORDS, run

import ssvi
from ssvi.cli.labels import _show
from ssvi.labels import MARKS
from ssvi.report.page import asset


@pytest.fixture
def model(tmp_path):
    """A model of three themes, whose words anybody can tell apart."""
    themes = np.random.default_rng(0).integers(3, size=120)
    counts = np.zeros((120, 24), dtype=int)
    for row, theme in enumerate(themes):
        counts[row, 8 * theme : 8 * theme + 8] = np.random.default_rng(row).integers(1, 5, size=8)
    path = tmp_path / "model.ssvi"
    ssvi.LatentDirichletAllocation(3, max_iter=20, random_state=0, n_jobs=1).fit(counts).save(path, WORDS)
    return path


def _labels(path):
    return {line["component"]: line["label"] for line in json.loads(run("topics", path, "--json").stdout)}


def test_topics_have_labels_distinctive_words_and_marks(model, tmp_path):
    lines = json.loads(run("topics", model, "--words", 4, "--json").stdout)
    assert sorted(lines[0]) == ["component", "distinctive", "label", "marks", "share", "words"]
    assert sorted(line["component"] for line in lines) == [0, 1, 2]
    assert len({line["label"] for line in lines}) == 3
    for line in lines:
        assert len(line["distinctive"]) == len(line["words"]) == 4
        assert len({word[:3] for word in line["distinctive"]}) == 1
        assert line["marks"] == []
    run("topics", model, "-o", tmp_path / "topics.csv", "--words", 4)
    with (tmp_path / "topics.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["label"] for row in rows] == [line["label"] for line in lines]
    assert [row["distinctive"].split(", ") for row in rows] == [line["distinctive"] for line in lines]
    header, *shown = [line.split("\t") for line in run("topics", model, "--words", 4).stdout.splitlines()]
    assert header == ["topic", "share", "words", "label", "distinctive", "marks"]
    assert [line[2].split() for line in shown] == [line["words"] for line in lines]
    assert [line[3] for line in shown] == [line["label"] for line in lines]
    probable = json.loads(run("topics", model, "--words", 4, "--relevance", 1, "--json").stdout)
    assert all(line["distinctive"] == line["words"] for line in probable)


def test_labels_of_ones_own_are_kept_in_the_model(model):
    before = _labels(model)
    weights = ssvi.load(model).components_
    said = run("label", model, '0=Oil "prices"', "2= Courts ")
    assert said.exit_code == 0
    assert sorted(said.stdout.splitlines()) == ['0\tOil "prices"', "2\tCourts"]  # and not what topic 1 is called
    assert said.stderr == f"ssvi: `ssvi label {model}` prints what all topics are called.\n"
    assert _labels(model) == {**before, 0: 'Oil "prices"', 2: "Courts"}
    loaded = ssvi.load(model)
    assert loaded.labels_ == ['Oil "prices"', "", "Courts"]
    np.testing.assert_array_equal(loaded.components_, weights)
    run("label", model, "0=")
    assert _labels(model) == {**before, 2: "Courts"}
    shown = {line["component"]: line for line in json.loads(run("label", model, "--json").stdout)}
    assert shown[2] == {"component": 2, "label": "Courts", "given": True}
    assert not shown[0]["given"]
    everything = run("label", model)
    assert "2\tCourts\n" in everything.stdout
    assert (len(everything.stdout.splitlines()), everything.stderr) == (3, "")
    run("label", model, "--clear")
    assert _labels(model) == before


def test_labels_from_a_table_that_was_edited(model, tmp_path):
    before, table = _labels(model), tmp_path / "topics.csv"
    run("topics", model, "-o", table)
    with table.open(newline="") as file:
        rows = list(csv.reader(file))
    rows[2][2] = "'=Sport; and more"  # as a spreadsheet is kept from running it
    with table.open("w", newline="") as file:
        csv.writer(file, delimiter=";").writerows(rows)
    run("label", model, "--from", table)
    number = int(rows[2][0])
    assert _labels(model) == {**before, number: "=Sport; and more"}
    assert [bool(label) for label in ssvi.load(model).labels_].count(True) == 1  # what was made is made anew


def test_labels_that_a_file_cannot_have(model, tmp_path):
    loaded = ssvi.load(model)
    for strange in (["Sport"], ["a", "b", 3], "abc", ["a\nb", "", ""]):
        loaded.labels_ = strange
        loaded.save(tmp_path / "strange.ssvi")
        with pytest.raises(ValueError, match="its labels are not 3 lines of text"):
            ssvi.load(tmp_path / "strange.ssvi")


def test_a_new_fit_has_no_labels_of_the_old(model):
    run("label", model, "0=Sport")
    loaded = ssvi.load(model)
    assert not hasattr(loaded.fit(np.ones((4, 24), dtype=int)), "labels_")


def test_a_terminal_says_what_marks_mean(capsys):
    line = {"component": 3, "share": 0.1, "label": "oil", "distinctive": ["oil"], "words": ["oil"]}
    _show("m.ssvi: lda", "topic", [line | {"marks": ["junk", "copy of #1"]}, line | {"marks": []}], None)
    said = capsys.readouterr().out
    assert "topic" in said.splitlines()[2]
    assert said.endswith("marks: junk: a mix of all the others\n")
    _show("m.ssvi: lda", "topic", [line | {"marks": []}], None)
    said = capsys.readouterr().out
    assert "marks" not in said
    assert "words" not in said  # there are none beside those of the label


def test_a_terminal_shows_no_word_twice(capsys):
    words = ["oil", "price", "barrel"]
    line = {"component": 1, "share": 0.1, "label": "oil, price", "distinctive": words, "words": words, "marks": []}
    _show("m.ssvi: lda", "topic", [line], None)
    said = capsys.readouterr().out
    assert said.count("oil") == 1
    assert "further words" in said
    assert "barrel" in said
    _show("m.ssvi: lda", "topic", [line | {"label": "Energy"}], ["", "Energy"])
    said = capsys.readouterr().out
    assert "oil, price, barrel" in said
    assert "further" not in said


def test_marks_are_called_the_same_in_the_report():
    script = asset("scripts/topic.js")
    assert all(f'{mark}: "{mark}: {meaning}"' in script for mark, meaning in MARKS.items())


def test_topics_of_a_model_without_words_say_how_to_name_the_columns(model, tmp_path):
    nameless = tmp_path / "nameless.ssvi"
    ssvi.LatentDirichletAllocation(2, max_iter=1, n_jobs=1).fit(np.eye(4, dtype=int)).save(nameless)
    said = run("topics", nameless).stderr
    assert "nameless.ssvi has no words, and these are numbers of columns: --vocabulary FILE" in said
    (tmp_path / "words.txt").write_text("a\nb\nc\nd\n")
    assert run("topics", nameless, "--vocabulary", tmp_path / "words.txt").stderr == ""
    assert run("topics", model).stderr == ""
