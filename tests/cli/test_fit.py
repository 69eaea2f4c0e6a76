"""`ssvi fit` and what is done with its file, in this process and in processes that are stopped or killed."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from scipy import sparse
from typer.testing import CliRunner

import ssvi
from ssvi.cli import main
from ssvi.cli.app import app
from ssvi.cli.inputs import Reading
from ssvi.cli.training import TrainingDisplay
from ssvi.cli.use import read_over
from ssvi.files.models import estimators

WORDS = [f"{theme}{'abcdefgh'[i]}" for theme in ("sport", "music", "law") for i in range(8)]


@pytest.fixture
def texts(tmp_path):
    """300 documents of three themes, one a line."""
    rng = np.random.default_rng(0)
    themes = rng.integers(3, size=300)
    lines = [" ".join(WORDS[8 * theme + word] for word in rng.integers(8, size=20)) for theme in themes]
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(lines))
    return path


@pytest.fixture
def counts(tmp_path):
    """200 rows of zeros and ones as a sparse matrix."""
    path = tmp_path / "counts.npz"
    rows = (np.random.default_rng(1).random((200, 15)) < 0.3).astype(np.int32)
    sparse.save_npz(path, sparse.csr_array(rows))
    return path


def _run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture
def refused(monkeypatch, capsys):
    """Return a function that returns the one line which a command says of a mistake."""

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["ssvi", *map(str, arguments)])
        with pytest.raises(SystemExit) as end:
            main()
        assert end.value.code == 2
        (line,) = capsys.readouterr().err.splitlines()
        return line

    return run


def test_from_texts_to_topics(texts, tmp_path):
    model = tmp_path / "model.ssvi"
    result = _run("fit", "lda", texts, "--topics", 3, "--output", model, "--jobs", 1, "--seed", 1)
    assert result.exit_code == 0
    assert "lda, 3 components, fitted to 285 x 24" in result.stdout
    assert "held-out score -" in result.stdout
    found = json.loads(_run("topics", model, "--words", 8, "--json").stdout)
    assert sorted(sorted(topic["words"]) for topic in found) == sorted([sorted(WORDS[i : i + 8]) for i in (0, 8, 16)])
    assert "sport" in _run("topics", model).stdout
    about = json.loads(_run("info", model, "--json").stdout)
    assert (about["class"], about["columns"], about["vocabulary"]) == ("LatentDirichletAllocation", 24, True)
    assert "seed: 1" in _run("info", model).stdout


def test_transform_and_score_use_the_models_own_words(texts, tmp_path):
    model, weights = tmp_path / "model.ssvi", tmp_path / "weights.csv"
    _run("fit", "lda", texts, "-k", 3, "-o", model, "--jobs", 1, "--held-out", 0)
    other = tmp_path / "other.txt"
    other.write_text("sporta sportb unheardof sportc\nlawa lawb lawc lawd\n")
    assert _run("transform", model, other, "-o", weights, "--jobs", 1).exit_code == 0
    lines = [line.split(",") for line in weights.read_text().splitlines()]
    assert lines[0] == ["document", "component_0", "component_1", "component_2"]
    rows = np.array([line[1:] for line in lines[1:]], dtype=float)
    assert rows.argmax(axis=1)[0] != rows.argmax(axis=1)[1]
    _run("transform", model, other, "-o", tmp_path / "weights.npy", "--jobs", 1, "--quiet")
    np.testing.assert_allclose(np.load(tmp_path / "weights.npy"), rows, rtol=1e-4)
    result = _run("score", model, texts, "--json", "--jobs", 1)
    assert json.loads(result.stdout)["documents"] == 300
    assert float(_run("score", model, texts, "--jobs", 1).stdout) == pytest.approx(json.loads(result.stdout)["score"])


@pytest.mark.parametrize("kept", [True, False])
def test_runs_of_words_and_stop_words_are_those_of_the_fit(tmp_path, kept):
    """A stop word stands between two words that make a run only if it is left out before runs are made."""
    texts, model = tmp_path / "texts.txt", tmp_path / "model.ssvi"
    texts.write_text("tea of the morning\nship at the sea\n" * 30)
    stop_words = tmp_path / "stop.txt"
    stop_words.write_text("of\nat\nthe\n")
    options = ["--ngrams", 2, "--min-df", 1, "--max-df", 1.0, "--stop-words", stop_words, "--max-words", 6]
    _run("fit", "lda", texts, "--topics", 2, "-o", model, "--passes", 1, "--jobs", 1, "--held-out", 0, *options)
    if not kept:
        fitted = ssvi.load(model)
        del fitted.text_options_
        fitted.save(model)
    words = json.loads(_run("topics", model, "--words", 6, "--json").stdout)[0]["words"]
    assert sorted(words) == ["morning", "sea", "ship", "ship sea", "tea", "tea morning"]
    estimator = ssvi.load(model)
    corpus = read_over(estimator, Reading(texts), quiet=True)
    assert corpus.documents.column_sums().tolist() == [30.0] * 6


def test_words_can_be_chosen_by_how_many_documents_have_them(tmp_path):
    texts, model = tmp_path / "texts.txt", tmp_path / "model.ssvi"
    texts.write_text("alpha beta gamma\nalpha beta\nalpha delta\nalpha beta gamma\n" * 5)
    for options, expected in (
        (["--min-df", 6, "--max-df", 0.8], ["beta", "gamma"]),
        (["--min-df", 0.6, "--max-df", 1.0], ["alpha", "beta"]),
        (["--max-df", 16], ["beta", "delta", "gamma"]),
        (["--max-words", 1, "--max-df", 1.0], ["alpha"]),
    ):
        _run("fit", "lda", texts, "--topics", 1, "-o", model, "--passes", 1, "--jobs", 1, "--held-out", 0, *options)
        assert sorted(ssvi.load(model).vocabulary_) == expected
    words = tmp_path / "words.txt"
    words.write_text("gamma\nomega\nalpha\n")
    _run("fit", "lda", texts, "--topics", 1, "-o", model, "--passes", 1, "--jobs", 1, "--vocabulary", words)
    assert list(ssvi.load(model).vocabulary_) == ["gamma", "omega", "alpha"]


@pytest.mark.parametrize("name", sorted(estimators()))
def test_every_model_can_be_fitted_and_used(name, counts, tmp_path):
    model = tmp_path / "model.ssvi"
    arguments = ["fit", name, counts, "-k", 3, "-o", model, "--passes", 2, "--jobs", 1, "--batch-size", 50, "--json"]
    result = _run(*arguments)
    facts = json.loads(result.stdout)
    assert (facts["model"], facts["documents"], facts["columns"]) == (name, 190, 15)
    assert facts["held_out_score"] < 0
    assert type(ssvi.load(model)) is estimators()[name]
    for command in (("topics", model), ("info", model), ("score", model, counts)):
        assert _run(*command).exit_code == 0
    assert _run("transform", model, counts, "-o", tmp_path / "w.npy").exit_code == 0
    assert len(np.load(tmp_path / "w.npy")) == 200


@pytest.mark.parametrize("name", estimators())
def test_weights_are_the_same_however_many_rows_are_taken_at_once(name, counts, tmp_path, monkeypatch):
    model = tmp_path / "model.ssvi"
    _run("fit", name, counts, "-k", 3, "--passes", 2, "--output", model, "--jobs", 1, "--quiet")
    whole = _run("transform", model, counts, "-o", tmp_path / "whole.npy", "--jobs", 1)
    monkeypatch.setattr("ssvi.cli.use._ROWS_AT_ONCE", 30)
    parts = _run("transform", model, counts, "-o", tmp_path / "parts.npy", "--jobs", 1, "--quiet")
    assert (whole.stdout, parts.stdout) == (f"{tmp_path / 'whole.npy'}: 200 documents x 3 components\n", "")
    np.testing.assert_array_equal(np.load(tmp_path / "parts.npy"), np.load(tmp_path / "whole.npy"))


def test_quiet_says_nothing(counts, tmp_path):
    result = _run("fit", "lda", counts, "-k", 2, "-o", tmp_path / "m.ssvi", "--passes", 1, "--quiet")
    assert (result.exit_code, result.output) == (0, "")


def test_other_parameters_by_name(counts, tmp_path):
    arguments = ["fit", "lda", counts, "-k", 2, "-o", tmp_path / "m.ssvi", "--passes", 1, "--quiet"]
    _run(*arguments, "--set", "doc_topic_prior=[0.5, 0.7]", "--set", "learning_method=batch")
    loaded = ssvi.load(tmp_path / "m.ssvi")
    np.testing.assert_array_equal(loaded.doc_topic_prior, [0.5, 0.7])
    assert loaded.learning_method == "batch"


def test_mistakes_are_one_line(texts, counts, tmp_path, refused):
    model = tmp_path / "m.ssvi"
    assert "there is no model 'lad' (did you mean 'lda'?); there are bernoulli_mixture" in refused(
        "fit", "lad", texts, "-o", model
    )
    assert "there is no" in refused("fit", "lda", tmp_path / "nothing.txt", "-o", model)
    assert "is a folder" in refused("fit", "lda", texts, "-o", tmp_path)
    assert "there is no folder" in refused("fit", "lda", texts, "-o", tmp_path / "no" / "m.ssvi")
    assert "--set takes name=value" in refused("fit", "lda", texts, "-o", model, "--set", "x")
    assert "which is not given" in refused("fit", "lda", texts, "-o", model, "--resume")
    assert "is not a saved model" in refused("topics", texts)
    assert not model.exists()
    _run("fit", "lda", counts, "-k", 2, "-o", model, "--passes", 1, "--quiet")
    sparse.save_npz(tmp_path / "wide.npz", sparse.csr_array(np.ones((3, 24), dtype=np.int32)))
    assert "24 columns, and the model was fitted to 15" in refused("score", model, tmp_path / "wide.npz")
    assert "must end in .csv or .npy" in refused("transform", model, counts, "-o", tmp_path / "w.txt")


def _arguments(name, source, folder, model):
    """Return the options of a fit of some seconds that is killed or stopped on its way."""
    arguments = ["fit", name, source, "-k", 4, "-o", model, "--passes", 20, "--batch-size", 20, "--jobs", 1]
    return [*arguments, "--checkpoint", folder, "--every", 3, "--quiet"]


def _start(*arguments, **options):
    return subprocess.Popen([sys.executable, "-m", "ssvi.cli", *map(str, arguments)], **options)


def _wait_for_a_checkpoint(folder, process):
    deadline = time.monotonic() + 120
    while not (folder.is_dir() and any(name.endswith(".ssvi") for name in os.listdir(folder))):
        assert process.poll() is None
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("name", sorted(estimators()))
def test_a_killed_fit_goes_on_to_the_same_model(name, counts, tmp_path):
    """Killed by a signal that no process can catch. (`python -m benchmarks.kills` does it many times.)"""
    whole, model, folder = tmp_path / "whole.ssvi", tmp_path / "model.ssvi", tmp_path / "checkpoints"
    process = _start(*_arguments(name, counts, folder, model))
    _run(*_arguments(name, counts, tmp_path / "unused", whole))
    _wait_for_a_checkpoint(folder, process)
    process.kill()
    process.wait()
    if not model.exists():
        assert _run(*_arguments(name, counts, folder, model), "--resume").exit_code == 0
    expected, found = ssvi.load(whole), ssvi.load(model)
    for block, lam in expected._state.parameters.items():
        np.testing.assert_array_equal(found._state.parameters[block], lam)


def test_an_interrupted_fit_saves_itself_and_says_how_to_go_on(counts, tmp_path, refused):
    whole, model, folder = tmp_path / "whole.ssvi", tmp_path / "model.ssvi", tmp_path / "checkpoints"
    process = _start(*_arguments("lda", counts, folder, model), "--passes", 80, stderr=subprocess.PIPE, text=True)
    _wait_for_a_checkpoint(folder, process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "saved in" in said
    assert "--resume goes on" in said
    arguments = [*_arguments("lda", counts, folder, model), "--passes", 80]
    assert "holds checkpoints of a fit that was not finished" in refused(*arguments)
    assert "with other max_iter" in refused(*_arguments("lda", counts, folder, model), "--resume")
    assert _run(*arguments, "--resume").exit_code == 0
    _run(*_arguments("lda", counts, tmp_path / "unused", whole), "--passes", 80)
    np.testing.assert_array_equal(ssvi.load(model).components_, ssvi.load(whole).components_)
    assert os.listdir(folder) == []


@pytest.mark.parametrize("step", [7, 22])
def test_an_interrupt_at_any_step_leaves_something_to_go_on_from(counts, tmp_path, monkeypatch, capsys, step):
    """In the loop, and in a factorisation's polish, which comes after it and has no checkpoints of its own."""
    shown, folder, model = TrainingDisplay.__call__, tmp_path / "checkpoints", tmp_path / "model.ssvi"

    def interrupted(self, state, info):
        if info.step == step:
            signal.raise_signal(signal.SIGINT)
        return shown(self, state, info)

    command = ["ssvi", "fit", "gamma_process_nmf", counts, "-k", 3, "--passes", 20, "--output", model, "--jobs", 1,
               "--quiet", "--set", "tol=0"]  # fmt: skip
    monkeypatch.setattr(sys, "argv", [*map(str, command)])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    whole = ssvi.load(model)
    assert whole.n_batch_iter_ == 30
    model.unlink()
    monkeypatch.setattr(sys, "argv", [*map(str, command), "--checkpoint", str(folder)])
    with monkeypatch.context() as patch:
        patch.setattr(TrainingDisplay, "__call__", interrupted)
        with pytest.raises(SystemExit) as ended:
            main()
    assert ended.value.code == 130
    assert f"stopped after step {min(step, 20)} and saved" in capsys.readouterr().err
    assert not model.exists()
    monkeypatch.setattr(sys, "argv", [*sys.argv, "--resume"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    np.testing.assert_array_equal(ssvi.load(model).components_, whole.components_)


def test_passes_are_counted_by_the_rows_that_are_fitted(counts, tmp_path):
    result = _run("fit", "lda", counts, "-k", 3, "--passes", 3, "-o", tmp_path / "m.ssvi", "--jobs", 1,
                  "--held-out", 0, "--early-stopping")  # fmt: skip
    passes = [line.split(":")[0] for line in result.stderr.splitlines() if line.startswith("pass")]
    assert passes == ["pass 1", "pass 2", "pass 3"]


def test_nothing_is_overwritten_but_models(texts, tmp_path, refused):
    fit = ["fit", "lda", texts, "--topics", 2, "--passes", 1, "--jobs", 1, "--quiet", "-o"]
    before = texts.read_bytes()
    assert "is what is to be read: give the result another name" in refused(*fit, texts)
    notes = tmp_path / "notes.txt"
    notes.write_text("mine")
    assert "is there already and is no model" in refused(*fit, notes)
    assert "is no ordinary file" in refused(*fit, "/dev/null")
    assert (texts.read_bytes(), notes.read_text()) == (before, "mine")
    model, link = tmp_path / "model.ssvi", tmp_path / "link.ssvi"
    _run(*fit, model)
    link.symlink_to(model)
    _run(*fit, link, "--seed", 5)
    assert link.is_symlink()
    assert ssvi.load(model).random_state_ == 5
    assert "must end in .html" in refused("report", model, "-o", model)
    assert "there is no folder" in refused("report", model, "-o", tmp_path / "none" / "r.html")
    assert "there is no folder" in refused("transform", model, texts, "-o", tmp_path / "none" / "w.csv")


def test_a_fit_that_is_stopped_does_not_take_the_place_of_a_whole_one(counts, tmp_path, monkeypatch, capsys):
    model = tmp_path / "model.ssvi"
    command = ["ssvi", "fit", "lda", str(counts), "-k", "2", "--passes", "4", "-o", str(model), "--jobs", "1"]
    monkeypatch.setattr(sys, "argv", command)
    with pytest.raises(SystemExit):
        main()
    before = model.read_bytes()
    monkeypatch.setattr(TrainingDisplay, "__call__", lambda self, state, info: self.stop() or True)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 130
    assert "stopped-model.ssvi: lda" in capsys.readouterr().out
    assert model.read_bytes() == before
    assert ssvi.load(tmp_path / "stopped-model.ssvi").n_batch_iter_ == 1


def test_options_of_text_are_not_for_counts(counts, tmp_path, refused):
    line = refused("fit", "lda", counts, "-o", tmp_path / "m.ssvi", "--max-words", 5, "--min-df", 3)
    assert "holds counts, and --min-df, --max-words is for text" in line


def test_words_can_be_given_to_a_model_that_has_none(texts, counts, tmp_path, refused):
    model, words = tmp_path / "m.ssvi", tmp_path / "words.txt"
    result = _run("fit", "lda", counts, "-k", 2, "--passes", 1, "--jobs", 1, "-o", model)
    assert "columns have numbers and no words" in result.stdout
    words.write_text("\n".join(f"gene{i}" for i in range(15)))
    lines = _run("topics", model, "--vocabulary", words, "--words", 3).stdout.splitlines()
    assert len(lines) == 2
    assert all(word.startswith("gene") for word in lines[0].split("\t")[2].split())
    _run("report", model, "--vocabulary", words, "-o", tmp_path / "r.html")
    assert "gene7" in (tmp_path / "r.html").read_text()
    assert "this model has no words, so it cannot read the text" in refused("score", model, texts)
    words.write_text("a\nb\n")
    assert "has 2 words, and the model 15 columns" in refused("topics", model, "--vocabulary", words)


def test_weights_can_go_to_standard_output(counts, tmp_path):
    model = tmp_path / "m.ssvi"
    _run("fit", "lda", counts, "-k", 2, "--passes", 1, "--jobs", 1, "-o", model, "--quiet")
    lines = _run("transform", model, counts, "-o", "-", "--quiet").stdout.splitlines()
    assert lines[0] == "document,component_0,component_1"
    assert len(lines) == 201


def test_components_in_use_are_told(tmp_path):
    rows = np.kron(np.eye(2, dtype=np.int32), np.ones((30, 8), dtype=np.int32))
    sparse.save_npz(tmp_path / "rows.npz", sparse.csr_array(rows))
    model = tmp_path / "m.ssvi"
    result = _run("fit", "bernoulli_mixture", tmp_path / "rows.npz", "-k", 6, "--passes", 50, "--jobs", 1, "-o", model,
                  "--held-out", 0)  # fmt: skip
    assert "bernoulli_mixture, 2 of 6 components, fitted to 60 x 16" in result.stdout
    about = json.loads(_run("info", model, "--json").stdout)
    assert (about["components"], about["in_use"], about["documents"]) == (6, 2, 60)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "n_components=7"], "--set is not for n_components: that is --topics or --components"),
        (["--set", "topic_word_pior=1"], "lda has no parameter 'topic_word_pior' (did you mean 'topic_word_prior'?)"),
        (["--set", "snapshots"], "--set takes name=value"),
        (["--stop-words", "german"], "--stop-words is english, none, or a file of words, and there is no file german"),
        (["--topics", "2000000000"], "take about"),
        (["--min-df", "500"], "no word is in at least 500 and at most 0.5 of its documents"),
        (["--column", "x", "--format", "csv"], "--column"),
    ],
)
def test_mistakes_in_options_of_a_fit(texts, tmp_path, refused, arguments, message):
    assert message in refused("fit", "lda", texts, "-o", tmp_path / "m.ssvi", *arguments)


def test_what_the_system_says_has_no_numbers(tmp_path, refused):
    assert refused("topics", tmp_path / "none.ssvi") == f"ssvi: {tmp_path / 'none.ssvi'}: No such file or directory."
    assert "Is a directory" in refused("topics", tmp_path)
