"""Whether documents that are scored were in the fit."""

import json
import sys

import numpy as np
import pytest
from scipy import sparse
from tests.cli.helpers import run

import ssvi
from ssvi.cli import main
from ssvi.cli.seen import notes_on_copies_set_aside, notes_on_seen


@pytest.fixture
def model(texts, tmp_path):
    path = tmp_path / "model.ssvi"
    run("fit", "lda", texts, "-k", 3, "--passes", 2, "-o", path, "--jobs", 1, "-q")
    return path


def test_a_score_of_the_documents_of_the_fit_is_called_that(model, texts, tmp_path):
    result = run("score", model, texts, "--jobs", 1)
    assert "most of these documents were in the fit: the score says how well they are described" in result.stderr
    said = json.loads(run("score", model, texts, "--jobs", 1, "--json").stdout)
    assert said["share_in_fit"] == pytest.approx(0.95)  # a twentieth was set aside
    assert len(said["notes"]) == 1
    words = texts.read_text().split()
    new = tmp_path / "new.txt"
    new.write_text("\n".join(" ".join(words[n : n + 21]) for n in range(5, 2_000, 20)))
    result = run("score", model, new, "--jobs", 1)
    assert "in the fit" not in result.stderr
    assert json.loads(run("score", model, new, "--jobs", 1, "--json").stdout)["share_in_fit"] < 0.1


def test_a_terminal_is_told_what_a_score_means(model, texts, tmp_path, monkeypatch, capsys):
    new = tmp_path / "new.txt"
    words = texts.read_text().split()
    new.write_text("\n".join(" ".join(words[n : n + 21]) for n in range(5, 2_000, 20)))
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for source, whose in ((new, "a document that the fit did not see,"), (texts, "a document,")):
        monkeypatch.setattr(sys, "argv", ["ssvi", "score", str(model), str(source), "--jobs", "1"])
        with pytest.raises(SystemExit):
            main()
        number, said = capsys.readouterr().out.splitlines()
        many = f"{np.exp(-float(number)):,.0f}"
        assert said == (
            f"Given one half of {whose} a word of the other half is as hard to guess as one of {many} equally likely "
            "words (of 24)."
        )
    assert run("score", model, texts, "--jobs", 1).stdout == f"{number}\n"
    assert json.loads(run("score", model, texts, "--jobs", 1, "--json").stdout)["meaning"] == said


def test_an_update_with_documents_of_the_fit_says_so_and_forgets_the_score(model, texts, tmp_path):
    output = tmp_path / "next.ssvi"
    assert json.loads(run("info", model, "--json").stdout)["held_out_score"] < 0
    said = run("update", model, texts, "-o", output, "--jobs", 1).stderr
    assert "ssvi: note: about 95% of these documents were in the fit already: each counts once more, as a new" in said
    facts = json.loads(run("info", output, "--json").stdout)
    assert (facts["held_out_score"], facts["score_is"]) == (None, None)
    facts = json.loads(run("update", output, texts, "-o", output, "--jobs", 1, "--json").stdout)
    assert facts["share_in_fit"] == 1.0
    assert facts["notes"][0].startswith("all of these documents were in the fit already")


def test_documents_of_an_update_were_in_the_fit_too(model, texts, tmp_path):
    words = texts.read_text().split()
    more = tmp_path / "more.txt"
    more.write_text("\n".join(" ".join(words[n : n + 30]) for n in range(0, 1_500, 30)))
    assert "in the fit" not in run("update", model, more, "-o", model, "--jobs", 1).stderr
    assert json.loads(run("score", model, more, "--jobs", 1, "--json").stdout)["share_in_fit"] == 1.0
    assert len(ssvi.load(model).seen_documents_) == pytest.approx(335, abs=5)


def test_files_of_before_say_nothing_of_it(model, texts):
    fitted = ssvi.load(model)
    del fitted.seen_documents_
    fitted.save(model)
    result = run("score", model, texts, "--jobs", 1)
    assert result.exit_code == 0
    assert "in the fit" not in result.stderr
    assert json.loads(run("score", model, texts, "--jobs", 1, "--json").stdout)["share_in_fit"] is None


@pytest.mark.parametrize("wrong", [np.arange(3)[::-1].copy(), np.array([-1]), np.arange(3.0), np.arange(2_000), [1]])
def test_a_file_with_another_sketch_is_refused(model, wrong):
    fitted = ssvi.load(model)
    fitted.seen_documents_ = wrong
    fitted.save(model)
    with pytest.raises(ValueError, match="sketch of documents"):
        ssvi.load(model)


def test_a_new_fit_forgets_the_documents_of_the_one_before(model):
    fitted = ssvi.load(model)
    assert not hasattr(fitted.fit(np.ones((20, fitted.n_features_in_), int)), "seen_documents_")


def test_what_is_said():
    assert notes_on_seen(None, "rows") == notes_on_seen(0.5, "rows") == []
    assert notes_on_seen(1.0, "rows")[0].startswith("all of these rows were in the fit")
    train, test = sparse.csr_array(np.eye(6)), sparse.csr_array(np.eye(6)[:3] + np.eye(6)[[0, 4, 5]])
    assert notes_on_copies_set_aside(train, test, is_text=True) == []
    said = notes_on_copies_set_aside(train, sparse.csr_array(np.eye(6)[:2]), is_text=True)
    assert said[0].startswith("2 of the 2 documents to score by have the same words")
    assert notes_on_copies_set_aside(train, None, is_text=True) == []
    assert notes_on_copies_set_aside(train, train, is_text=False) == []
