"""Commands with tables of numbers."""

import json

import numpy as np
import pytest
from tests.cli.helpers import run

from ssvi.cli.numbers import check_numbers, notes_on_numbers
from ssvi.data.readers import read_corpus
from ssvi.estimators.registry import estimator_class


@pytest.fixture
def table(tmp_path):
    """240 rows of two clusters far apart, one value of them missing, with a name and a kind each."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(2, size=240)
    values = rng.normal(10.0 * kinds[:, None], 1.0, (240, 2))
    lines = [f"row {n};{'ab'[kinds[n]]};{x:.4f};{y:.4f}" for n, (x, y) in enumerate(values)]
    lines[3] = ";".join([*lines[3].split(";")[:3], "NA"])
    path = tmp_path / "table.csv"
    path.write_text("\n".join(["who;kind;height;weight", *lines]))
    return path


def test_a_table_goes_through_all_commands(table, tmp_path):
    model = tmp_path / "model.ssvi"
    result = run("fit", "gaussian_mixture", table, "-k", 4, "--jobs", 1, "-o", model, "--group-column", "kind")
    assert result.exit_code == 0
    assert "fitted to 228 x 2" in result.stdout
    assert "read: 240 rows, 1 value missing" in result.stdout
    assert "'who' is taken for the names of the rows" in result.stderr
    lines = json.loads(run("topics", model, "--json").stdout)
    assert {word for line in lines for word in line["words"]} == {"height", "weight"}
    weights = run("transform", model, table, "-o", "-", "--quiet").stdout.splitlines()
    assert weights[0].startswith("document,id,group,component_0")
    assert len(weights) == 241
    by_group = {kind: {np.argmax([float(x) for x in line.split(",")[3:]]) for line in weights[1:]
                       if line.split(",")[2] == kind} for kind in "ab"}  # fmt: skip
    assert not by_group["a"] & by_group["b"]
    assert json.loads(run("score", model, table, "--json").stdout)["documents"] == 240
    assert run("report", model, "--corpus", table, "-o", tmp_path / "page.html").exit_code == 0
    assert "height" in (tmp_path / "page.html").read_text()
    assert json.loads(run("info", model, "--json").stdout)["columns"] == 2
    assert run("update", model, table, "-o", tmp_path / "more.ssvi").exit_code == 0


def test_clusters_of_numbers_are_ten_at_most_unless_more_are_asked_for(table, tmp_path):
    result = run("fit", "gaussian_mixture", table, "--passes", 2, "--jobs", 1, "-o", tmp_path / "m.ssvi", "--json")
    assert json.loads(result.stdout)["components"] == 10


def test_columns_may_stand_elsewhere_in_further_tables(table, tmp_path):
    model, other = tmp_path / "model.ssvi", tmp_path / "other.tsv"
    run("fit", "gaussian_mixture", table, "-k", 2, "--passes", 20, "--jobs", 1, "-o", model)
    rows = [line.split(";") for line in table.read_text().splitlines()]
    other.write_text("\n".join("\t".join([row[3], row[2]]) for row in rows))
    assert run("score", model, table).stdout == run("score", model, other).stdout


@pytest.mark.parametrize(
    ("model", "text", "said"),
    [
        ("gamma_process_nmf", "x,y\n1,2\n3,\n", "row 2, column 'y': nothing stands there, and it must be known"),
        ("gamma_process_nmf", "x,y\n1,2\n3,-4\n", "row 2, column 'y': there is -4, and gamma_process_nmf is for"),
        ("bernoulli_mixture", "1,0\n1,\n", "row 2, column 2: nothing stands there"),
    ],
)
def test_numbers_that_a_model_cannot_take_are_named(refused, tmp_path, model, text, said):
    path = tmp_path / "table.csv"
    path.write_text(text)
    line = refused("fit", model, path, "-o", tmp_path / "model.ssvi")
    assert line.startswith(f"ssvi: {path}, {said}")


def test_what_is_no_zero_or_one_is_told_of_or_refused(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("x,y\n1,0\n1,7\n")
    corpus, kind = read_corpus(path, format="table"), estimator_class("bernoulli_mixture")
    assert "numbers above 0 count as one" in notes_on_numbers(kind(), corpus)[0]
    check_numbers(kind(), corpus, "table")
    with pytest.raises(ValueError, match=r"^table, row 2, column 'y': there is 7, and bernoulli_mixture is for zeros"):
        check_numbers(kind(binarize=None), corpus, "table")
    path.write_text("x,y\n1,0\n1,1\n")
    assert notes_on_numbers(kind(), read_corpus(path, format="table")) == []


def test_options_of_text_are_refused_for_numbers(refused, table, tmp_path):
    line = refused("fit", "gaussian_mixture", table, "--min-df", 3, "-o", tmp_path / "model.ssvi")
    assert line.endswith("holds numbers, and --min-df is for text: leave it out.")
