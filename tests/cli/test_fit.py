"""`ssvi fit`: what it reads, writes and refuses."""

import json

import numpy as np
import pytest
from scipy import sparse
from tests.cli.helpers import OF_ROWS, WORDS, run

import ssvi
from ssvi.cli import with_options
from ssvi.estimators.registry import estimators
from ssvi.files.models import vocabulary_of


def test_from_texts_to_topics(texts, tmp_path):
    model = tmp_path / "model.ssvi"
    result = run("fit", "lda", texts, "--topics", 3, "--output", model, "--jobs", 1, "--seed", 1)
    assert result.exit_code == 0
    assert "lda, 3 topics, fitted to 285 x 24" in result.stdout
    assert "held-out score -" in result.stdout
    found = json.loads(run("topics", model, "--words", 8, "--json").stdout)
    assert sorted(sorted(topic["words"]) for topic in found) == sorted([sorted(WORDS[i : i + 8]) for i in (0, 8, 16)])
    assert "sport" in run("topics", model).stdout
    about = json.loads(run("info", model, "--json").stdout)
    assert (about["class"], about["columns"], about["vocabulary"]) == ("LatentDirichletAllocation", 24, True)
    assert "seed: 1" in run("info", model).stdout


def test_words_can_be_chosen_by_how_many_documents_have_them(tmp_path):
    texts, model = tmp_path / "texts.txt", tmp_path / "model.ssvi"
    texts.write_text("alpha beta gamma\nalpha beta\nalpha delta\nalpha beta gamma\n" * 5)
    for options, expected in (
        (["--min-df", 6, "--max-df", 0.8], ["beta", "gamma"]),
        (["--min-df", 0.6, "--max-df", 1.0], ["alpha", "beta"]),
        (["--max-df", 16], ["beta", "delta", "gamma"]),
        (["--max-words", 1, "--max-df", 1.0], ["alpha"]),
    ):
        run("fit", "lda", texts, "--topics", 1, "-o", model, "--passes", 1, "--jobs", 1, "--held-out", 0, *options)
        assert sorted(ssvi.load(model).vocabulary_) == expected
    words = tmp_path / "words.txt"
    words.write_text("gamma\nomega\nalpha\n")
    run("fit", "lda", texts, "--topics", 1, "-o", model, "--passes", 1, "--jobs", 1, "--vocabulary", words)
    assert list(ssvi.load(model).vocabulary_) == ["gamma", "omega", "alpha"]


@pytest.mark.parametrize("name", OF_ROWS)
def test_every_model_can_be_fitted_and_used(name, counts, tmp_path):
    model = tmp_path / "model.ssvi"
    arguments = ["fit", name, counts, "-k", 3, "-o", model, "--passes", 2, "--jobs", 1, "--batch-size", 50, "--json"]
    result = run(*arguments)
    facts = json.loads(result.stdout)
    assert (facts["model"], facts["documents"], facts["columns"]) == (name, 190, 15)
    assert facts["held_out_score"] < 0
    assert type(ssvi.load(model)) is estimators()[name]
    for command in (("topics", model), ("info", model), ("score", model, counts)):
        assert run(*command).exit_code == 0
    assert run("transform", model, counts, "-o", tmp_path / "w.npy").exit_code == 0
    assert len(np.load(tmp_path / "w.npy")) == 200


def test_quiet_says_nothing(counts, tmp_path):
    result = run("fit", "lda", counts, "-k", 2, "-o", tmp_path / "m.ssvi", "--passes", 1, "--quiet")
    assert (result.exit_code, result.output) == (0, "")


def test_other_parameters_by_name(counts, tmp_path):
    arguments = ["fit", "lda", counts, "-k", 2, "-o", tmp_path / "m.ssvi", "--passes", 1, "--quiet"]
    run(*arguments, "--set", "doc_topic_prior=[0.5, 0.7]", "--set", "learning_method=batch")
    loaded = ssvi.load(tmp_path / "m.ssvi")
    np.testing.assert_array_equal(loaded.doc_topic_prior, [0.5, 0.7])
    assert loaded.learning_method == "batch"


def test_mistakes_are_one_line(texts, counts, tmp_path, refused):
    model = tmp_path / "m.ssvi"
    assert "there is no model 'ldaa' (did you mean 'lda'?); there are bernoulli_mixture" in refused(
        "fit", "ldaa", texts, "-o", model
    )
    assert "there is no" in refused("fit", "lda", tmp_path / "nothing.txt", "-o", model)
    assert "is a folder" in refused("fit", "lda", texts, "-o", tmp_path)
    assert "there is no folder" in refused("fit", "lda", texts, "-o", tmp_path / "no" / "m.ssvi")
    assert "--set takes name=value" in refused("fit", "lda", texts, "-o", model, "--set", "x")
    assert "which is not given" in refused("fit", "lda", texts, "-o", model, "--resume")
    assert "is not a saved model" in refused("topics", texts)
    assert not model.exists()
    run("fit", "lda", counts, "-k", 2, "-o", model, "--passes", 1, "--quiet")
    sparse.save_npz(tmp_path / "wide.npz", sparse.csr_array(np.ones((3, 24), dtype=np.int32)))
    assert "24 columns, and the model was fitted to 15" in refused("score", model, tmp_path / "wide.npz")
    assert "must end in .csv or .npy" in refused("transform", model, counts, "-o", tmp_path / "w.txt")


def test_passes_are_counted_by_the_rows_that_are_fitted(counts, tmp_path):
    result = run("fit", "lda", counts, "-k", 3, "--passes", 3, "-o", tmp_path / "m.ssvi", "--jobs", 1,
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
    run(*fit, model)
    link.symlink_to(model)
    run(*fit, link, "--seed", 5)
    assert link.is_symlink()
    assert ssvi.load(model).random_state_ == 5
    assert "must end in .html" in refused("report", model, "-o", model)
    assert "there is no folder" in refused("report", model, "-o", tmp_path / "none" / "r.html")
    assert "there is no folder" in refused("transform", model, texts, "-o", tmp_path / "none" / "w.csv")


def test_options_of_text_are_not_for_counts(counts, tmp_path, refused):
    line = refused("fit", "lda", counts, "-o", tmp_path / "m.ssvi", "--max-words", 5, "--min-df", 3)
    assert "holds counts, and --min-df, --max-words is for text" in line


def test_components_in_use_are_told(tmp_path):
    rows = np.kron(np.eye(2, dtype=np.int32), np.ones((30, 8), dtype=np.int32))
    sparse.save_npz(tmp_path / "rows.npz", sparse.csr_array(rows))
    model = tmp_path / "m.ssvi"
    result = run("fit", "bernoulli_mixture", tmp_path / "rows.npz", "-k", 6, "--passes", 50, "--jobs", 1, "-o", model,
                  "--held-out", 0)  # fmt: skip
    assert "bernoulli_mixture, 2 of 6 clusters, fitted to 60 x 16" in result.stdout
    about = json.loads(run("info", model, "--json").stdout)
    assert (about["components"], about["in_use"], about["documents"]) == (6, 2, 60)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--set", "n_components=7"], "--set is not for n_components: that is --topics or --components"),
        (["--set", "topic_word_pior=1"], "lda has no parameter 'topic_word_pior' (did you mean 'topic_word_prior'?)"),
        (["--set", "snapshots"], "--set takes name=value"),
        (["--stop-words", "klingon"], "--stop-words: there is no language and no file 'klingon'; languages are"),
        (["--topics", "2000000000"], "take about"),
        (["--min-df", "500"], "no word is in at least 500 and at most 0.5 of its documents"),
        (["--column", "x", "--format", "csv"], "--column"),
    ],
)
def test_mistakes_in_options_of_a_fit(texts, tmp_path, refused, arguments, message):
    assert message in refused("fit", "lda", texts, "-o", tmp_path / "m.ssvi", *arguments)


def test_a_fit_may_end_by_itself_and_one_that_has_not_converged_says_so(counts, tmp_path):
    arguments = ["fit", "lda", counts, "-k", 3, "-o", tmp_path / "m.ssvi", "--jobs", 1, "--batch-size", 50, "--json"]
    facts = json.loads(run(*arguments, "--passes", "auto").stdout)
    assert facts["converged"]
    assert facts["convergence"] < 0.05
    short = json.loads(run(*arguments, "--passes", 2).stdout)
    assert (short["converged"], short["convergence"]) == (False, None)
    result = run(*arguments[:-1], "--passes", 4, "--set", "convergence_tol=1e-9")
    assert "--passes auto" in result.stdout  # once, in the summary
    assert "converged" not in result.stdout + result.stderr
    assert with_options("set `max_iter` to 5") == "set --passes to 5"
    assert with_options("more than n_components=50 allows") == "more than --topics 50 allows"


def test_a_model_of_numbers_is_not_fitted_to_text(texts, counts, tmp_path, refused):
    said = refused("fit", "gaussian_mixture", texts, "-k", 2, "-o", tmp_path / "m.ssvi")
    assert "gaussian_mixture is for tables of numbers, and" in said
    assert "was read as text: for text there are lda, hdp and ctm" in said
    fit = run("fit", "gaussian_mixture", counts, "-k", 2, "--passes", 1, "--jobs", 1, "-o", tmp_path / "m.ssvi")
    assert fit.exit_code == 0


def test_pieces_of_contractions_and_numbers_are_no_words_of_commands(tmp_path):
    path, model = tmp_path / "texts.txt", tmp_path / "m.ssvi"
    path.write_text("we don't know of 10,000 ships\nthey haven't 20,000 anchors\n" * 20)
    fit = ["fit", "lda", path, "-k", 2, "--passes", 1, "--jobs", 1, "--max-df", 1.0, "-o", model, "--quiet"]
    run(*fit)
    assert set(vocabulary_of(ssvi.load(model))) == {"10", "20", "anchors", "know", "ships"}
    run(*fit, "--stop-words", "none")
    assert {"don", "haven", "000"} <= set(vocabulary_of(ssvi.load(model)))


def test_two_numbers_of_topics_are_refused(texts, tmp_path, refused):
    said = refused("fit", "lda", texts, "-k", 20, "--topics", 10, "-o", tmp_path / "m.ssvi")
    assert "--topics (-k, --components) is given as 20 and 10: give one number" in said


def test_a_new_model_is_not_called_like_something_else(texts, tmp_path, refused):
    said = refused("fit", "lda", texts, "-k", 2, "-o", tmp_path / "topics.csv")
    assert "topics.csv sounds like a file of another kind, and this is a model: call it topics.ssvi." in said
    assert not (tmp_path / "topics.csv").exists()


def test_compiling_is_spoken_of_only_where_kernels_are_missing(texts, tmp_path, monkeypatch):
    for compiled in (True, False):
        monkeypatch.setattr("ssvi.ahead.is_compiled", lambda topics, compiled=compiled: compiled)
        monkeypatch.setattr("ssvi.ahead.start_processes", lambda *_: pytest.fail("it compiles"))
        monkeypatch.setattr("ssvi.ahead.os.cpu_count", lambda: 1)
        said = run("fit", "lda", texts, "-k", 2, "--passes", 1, "--jobs", 1, "-o", tmp_path / "m.ssvi").stderr
        assert ("compiles its kernels" in said) is not compiled


def test_info_is_for_people_and_its_json_has_everything(texts, tmp_path):
    model = tmp_path / "m.ssvi"
    run("fit", "lda", texts, "-k", 2, "--passes", 1, "--jobs", 1, "-o", model, "--quiet")
    lines = dict(line.split(": ", 1) for line in run("info", model).stdout.splitlines())
    facts = json.loads(run("info", model, "--json").stdout)
    assert lines["vocabulary"] == "yes"
    *changed, others = lines["parameters"].split("  ")
    assert changed == ["max_iter=1", "n_components=2", "n_jobs=1", "random_state=0", "verbose=0"]
    assert others == "all others=as usual (--json has them)"
    assert {"doc_topic_prior", "batch_size", "n_components"} <= set(facts["parameters"])
    assert float(lines["held_out_score"]) == pytest.approx(facts["held_out_score"], rel=1e-4)
    assert len(lines["held_out_score"]) <= 7
