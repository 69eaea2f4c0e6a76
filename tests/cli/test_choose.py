"""`ssvi choose`: a table, advice, files, and what is kept."""

import csv
import json

import pytest
from sklearn.datasets import load_iris
from tests.cli.helpers import run

import ssvi
from ssvi.cli.choose import _on_screen


def _chosen(texts, folder, *options):
    arguments = ["--passes", 5, "--jobs", 1, "--max-df", 1.0, "--folder", folder]
    return run("choose", "lda", texts, *arguments, *options)


def test_a_table_advice_and_files(texts, tmp_path):
    outputs = [tmp_path / f"c.{ending}" for ending in ("csv", "json", "png")]
    options = [part for output in outputs for part in ("-o", output)]
    result = _chosen(texts, tmp_path / "kept", "--topics", "3,1,2", *options)
    assert result.exit_code == 0
    header, *lines = result.stdout.splitlines()
    assert header.split("\t") == [
        "components",
        "score",
        "error",
        "behind",
        "give_or_take",
        "coherence",
        "diversity",
        "stability",
        "in_use",
        "seconds",
    ]
    assert [line.split("\t")[0] for line in lines[:3]] == ["1", "2", "3"]
    assert lines[3].startswith("behind: how far a score is below the best, give or take the standard error")
    assert lines[4].startswith("Take 3 topics: the best held-out score")
    assert lines[5] == f"The fits are in {tmp_path / 'kept'}, as model files."
    assert "1/6 1 topic, seed 0: " in result.stderr
    with outputs[0].open(newline="") as file:
        rows = list(csv.DictReader(file))
    facts = json.loads(outputs[1].read_text())
    assert [float(row["score"]) for row in rows] == pytest.approx(
        [line["score"] for line in facts["options"]], rel=1e-5
    )
    assert (facts["best"], facts["advised"]) == (3, 3)
    best = facts["options"][2]
    assert (best["behind"], rows[2]["give_or_take"]) == (None, "")
    for line, row in zip(facts["options"][:2], rows[:2], strict=True):
        assert line["behind"] == pytest.approx(best["score"] - line["score"])
        assert float(row["give_or_take"]) == pytest.approx(line["give_or_take"], rel=1e-5)
        assert 0 < line["give_or_take"] < line["behind"]
    assert facts["options"][0]["stability"] is None
    assert [len(line["scores"]) for line in facts["options"]] == [2, 2, 2]
    assert outputs[2].read_bytes().startswith(b"\x89PNG")
    kept = sorted((tmp_path / "kept").iterdir())
    assert len(kept) == 6
    assert ssvi.load(kept[-1]).vocabulary_[0].startswith("law")
    times = [path.stat().st_mtime_ns for path in kept]
    again = json.loads(_chosen(texts, tmp_path / "kept", "--topics", "1,2,3", "--json").stdout)
    assert again["options"] == facts["options"]
    assert [path.stat().st_mtime_ns for path in sorted((tmp_path / "kept").iterdir())] == times


def test_a_model_of_numbers_is_not_tried_on_text(texts, tmp_path, refused):
    said = refused("choose", "gaussian_mixture", texts, "--folder", tmp_path / "kept")
    assert "gaussian_mixture is for tables of numbers, and" in said


def test_too_few_rows_to_tell(tmp_path):
    table = tmp_path / "iris.csv"
    table.write_text("a,b,c,d\n" + "\n".join(",".join(map(str, row)) for row in load_iris().data))
    command = ["choose", "gaussian_mixture", table, "-k", "1,3,6", "--passes", 30, "--folder", tmp_path / "kept"]
    facts = json.loads(run(*command, "--jobs", 1, "--json").stdout)
    assert facts["advised"] is None
    assert facts["advice"].startswith("15 held-out rows are too few to tell 1, 3 and 6 clusters apart: ")
    assert "Of 6 clusters the fits used " in facts["advice"]
    assert facts["options"][0]["stability"] is None


def test_the_table_on_a_terminal_has_the_error_that_decides():
    line = {"score": -6.131, "error": 0.07, "coherence": None, "diversity": None, "stability": None, "seconds": 1.26}
    first = {"components": 15, "behind": 0.052, "give_or_take": 0.0213, "in_use": 15} | line
    best = {"components": 30, "behind": None, "give_or_take": None, "in_use": 30} | line
    assert _on_screen([first, best], "topic") == [
        {"topics": 15, "score": -6.131, "behind": "0.052 ± 0.021", "time": "1.3 s"},
        {"topics": 30, "score": -6.131, "behind": "best", "time": "1.3 s"},
    ]
    assert _on_screen([first, best | {"in_use": 12}], "topic")[1]["in_use"] == 12


def test_mixtures_too(counts, tmp_path):
    options = ["--components", "1,2", "--seeds", 1, "--passes", 5, "--jobs", 1, "--folder", tmp_path / "kept", "--json"]
    facts = json.loads(run("choose", "bernoulli_mixture", counts, *options).stdout)
    assert [line["components"] for line in facts["options"]] == [1, 2]
    assert facts["options"][0]["stability"] is None
    assert facts["options"][0]["error"] > 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--topics", "5,few"], "--topics are whole numbers of 1 or more with commas between"),
        (["--topics", "0"], "--topics are whole numbers of 1 or more"),
        (["--topics", "2", "-o", "x.doc"], "--output must end in .csv, .json, .png, .svg or .pdf"),
        (["--topics", "2", "--held-out", "0.01"], "300 documents leave fewer than ten to score by at --held-out 0.01"),
        (["--topics", "2", "--set", "doc_topic_prior=-1"], "doc_topic_prior"),
    ],
)
def test_mistakes_are_one_line(texts, tmp_path, refused, options, message):
    assert message in refused("choose", "lda", texts, "--folder", tmp_path / "kept", *options)
    assert not (tmp_path / "kept").exists()


def test_a_folder_that_is_none(texts, refused):
    line = refused("choose", "lda", texts, "--topics", "2", "--folder", texts)
    assert "is no folder: --folder is a folder for fits" in line
