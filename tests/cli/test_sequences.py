"""Commands with models of sequences: arrays, tables, text, and what they refuse."""

import json

import numpy as np
import pytest
from tests.cli.helpers import run

import ssvi
from ssvi.cli import InterruptedCommand
from ssvi.data.readers.sequences import read_sequences

FAST = ["--passes", 5, "--jobs", 1, "--set", "n_init=1"]


@pytest.fixture
def table(tmp_path):
    """Three series of two states, with holes and with rows that are mixed up, as CSV."""
    rng, lines = np.random.default_rng(0), ["series,level,noise"]
    for t in range(150):
        for name in ("a", "b", "c"):
            level = rng.normal(6.0 * (t // 25 % 2))
            lines.append(f"{name},{'' if t % 17 == 3 else level},{rng.normal():.3f}")
    path = tmp_path / "table.csv"
    path.write_text("\n".join(lines))
    return path


def test_from_a_table_to_states(table, tmp_path):
    model, states = tmp_path / "m.ssvi", tmp_path / "states.csv"
    result = run("fit", "hmm", table, "-k", 2, "-o", model, *FAST)
    assert result.exit_code == 0
    assert "2 states, fitted to 428 time points x 2 in 3 sequences, 2" in result.stdout
    assert "held-out score -" in result.stdout
    fitted = ssvi.load(model)
    assert list(fitted.vocabulary_) == ["level", "noise"]
    np.testing.assert_allclose(np.sort(fitted.means_[:, 0]), [0.0, 6.0], atol=0.5)
    assert "level" in run("topics", model).stdout
    assert run("transform", model, table, "-o", states).stdout == f"{states}: 450 time points x 2 states\n"
    lines = states.read_text().splitlines()
    assert lines[0] == "sequence,time,state,state_0,state_1"
    assert lines[151].startswith("2,1,")
    by_name = run("score", model, table, "--group-column", "series", "--json")
    assert json.loads(by_name.stdout)["sequences"] == 3
    assert "time_points: 428" in run("info", model).stdout
    page = tmp_path / "page.html"
    assert run("report", model, "--corpus", table, "-o", page).exit_code == 0
    assert '"name":"b","length":150' in page.read_text()


def test_times_and_row_numbers_are_not_fitted(tmp_path):
    path = tmp_path / "flow.csv"
    path.write_text("rownames,year,flow,row\n" + "".join(f"{t + 1},{1871 + t},{t % 7},{t * t}\n" for t in range(40)))
    result = run("fit", "hmm", path, "-k", 2, "-o", tmp_path / "m.ssvi", *FAST)
    assert "the column 'year' says when a time point was, and is not fitted" in result.stderr
    assert "the column 'rownames' counts the rows, and is left out" in result.stderr
    assert list(ssvi.load(tmp_path / "m.ssvi").vocabulary_) == ["flow", "row"]
    found = read_sequences(path, time_column="flow")
    assert found.columns == ("year", "row")
    assert found.times[:3] == ("0", "1", "2")
    path.write_text("id,time,x\nb,3,1\na,1,2\nb,4,3\n")
    found = read_sequences(path)
    assert (found.names, found.times, found.values.ravel().tolist()) == (("b", "a"), ("3", "4", "1"), [1.0, 3.0, 2.0])


def test_fits_say_what_they_found_and_what_to_type_next(table, tmp_path):
    model = tmp_path / "m.ssvi"
    said = run("fit", "fhmm", table, "-k", 2, "-o", model, *FAST).stdout
    assert "fhmm, 2 chains of 2 states, fitted to" in said
    assert "  chain 1, state 0: " in said
    assert f"next: ssvi report {model} --corpus {table} --output {tmp_path / 'm.html'}" in said
    said = run("fit", "lds", table, "-k", 1, "-o", model, "--passes", 5, "--jobs", 1).stdout
    assert "lds, 1 state, fitted to" in said
    assert "  mode 1: halves in " in said
    assert run("report", model, "--corpus", table, "-o", tmp_path / "m.html").exit_code == 0


def test_arrays_with_lengths_and_a_parquet_file_say_the_same(table, tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(table)
    frame.to_parquet(tmp_path / "table.parquet")
    order = np.argsort(frame["series"], kind="stable")
    np.savez(tmp_path / "table.npz", X=frame[["level", "noise"]].to_numpy()[order], lengths=np.array([150] * 3))
    scores = []
    for source in (table, tmp_path / "table.parquet", tmp_path / "table.npz"):
        result = run("fit", "hmm", source, "-k", 2, "-o", tmp_path / "m.ssvi", "--json", *FAST)
        scores.append(json.loads(result.stdout)["held_out_score"])
    assert scores == pytest.approx([scores[0]] * 3)  # pandas reads the last digit of a number in its own way


def test_characters_of_text_are_symbols(tmp_path, refused):
    path, model = tmp_path / "letters.txt", tmp_path / "m.ssvi"
    rng = np.random.default_rng(0)
    path.write_text(
        "\n".join("".join(rng.choice(list("abc" if t % 2 else "xyz")) for t in range(30)) for _ in range(9))
    )
    result = run("fit", "hmm", path, "-k", 2, "-o", model, *FAST)
    assert "fitted to 270 time points x 1 in 9 sequences" in result.stdout
    fitted = ssvi.load(model)
    assert fitted.symbols_ == list("abcxyz")
    assert fitted.emissionprob_.shape == (2, 6)
    words = run("topics", model, "--words", 3).stdout
    assert {"b", "c"} <= set(words.replace(",", " ").split())
    path.write_text("abq\n")
    assert "has the symbol 'q', which the model was not fitted to" in refused("score", model, path)


def test_a_fit_that_was_killed_goes_on(table, tmp_path, monkeypatch):
    whole, model, folder = tmp_path / "whole.ssvi", tmp_path / "m.ssvi", tmp_path / "checkpoints"
    options = ["-k", 2, "--batch-size", 60, "--passes", 4, "--jobs", 1, "--set", "n_init=1", "--quiet"]
    run("fit", "hmm", table, "-o", whole, *options)
    save = ssvi.files.checkpoints.Checkpoints._save

    def stop_then(self, state):
        save(self, state)
        if state.step == 6:
            raise KeyboardInterrupt

    monkeypatch.setattr(ssvi.files.checkpoints.Checkpoints, "_save", stop_then)
    with pytest.raises(InterruptedCommand):
        run("fit", "hmm", table, "-o", model, *options, "--checkpoint", folder, "--every", 3)
    monkeypatch.undo()
    assert not model.exists()
    assert (
        run("fit", "hmm", table, "-o", model, *options, "--checkpoint", folder, "--every", 3, "--resume").exit_code == 0
    )
    for block, lam in ssvi.load(whole)._state.parameters.items():
        np.testing.assert_array_equal(ssvi.load(model)._state.parameters[block], lam)


def test_mistakes_are_one_line(table, tmp_path, refused):
    fit = ["fit", "hmm", "-k", 2, "-o", tmp_path / "m.ssvi"]
    np.savez(tmp_path / "bad.npz", X=np.zeros((10, 2)), lengths=np.array([4, 5]))
    assert "lengths add up to 9, and there are 10 rows" in refused(*fit, tmp_path / "bad.npz", "--held-out", 0)
    np.savez(tmp_path / "bad.npz", Y=np.zeros((10, 2)))
    assert "has no array X, only Y" in refused(*fit, tmp_path / "bad.npz")
    assert "has no column 'person'" in refused(*fit, table, "--group-column", "person")
    table.write_text("a,b\n1,2\nx,3\n")
    assert "'x' in column 'a' is no number" in refused(*fit, table)
    table.write_text("a,b\n1,2\n3\n")
    assert "has 1 cells, and the header 2" in refused(*fit, table)
    assert "sequences are read from .npz" in refused(*fit, __file__)
