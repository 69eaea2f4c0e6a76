"""What is done with a model file."""

import json

import numpy as np
import pytest
from tests.cli.helpers import OF_ROWS, run
from tests.kinds import WITH_COMPONENTS

import ssvi
from ssvi.cli.reading import Reading
from ssvi.cli.use import read_over
from ssvi.files.models import vocabulary_of


def test_transform_and_score_use_the_models_own_words(texts, tmp_path):
    model, weights = tmp_path / "model.ssvi", tmp_path / "weights.csv"
    run("fit", "lda", texts, "-k", 3, "-o", model, "--jobs", 1, "--held-out", 0)
    other = tmp_path / "other.txt"
    other.write_text("sporta sportb unheardof sportc\nlawa lawb lawc lawd\n")
    assert run("transform", model, other, "-o", weights, "--jobs", 1).exit_code == 0
    lines = [line.split(",") for line in weights.read_text().splitlines()]
    assert lines[0] == ["document", "component_0", "component_1", "component_2"]
    rows = np.array([line[1:] for line in lines[1:]], dtype=float)
    assert rows.argmax(axis=1)[0] != rows.argmax(axis=1)[1]
    run("transform", model, other, "-o", tmp_path / "weights.npy", "--jobs", 1, "--quiet")
    np.testing.assert_allclose(np.load(tmp_path / "weights.npy"), rows, rtol=1e-4)
    result = run("score", model, texts, "--json", "--jobs", 1)
    assert json.loads(result.stdout)["documents"] == 300
    assert float(run("score", model, texts, "--jobs", 1).stdout) == pytest.approx(json.loads(result.stdout)["score"])


@pytest.mark.parametrize("kept", [True, False])
def test_runs_of_words_and_stop_words_are_those_of_the_fit(tmp_path, kept):
    """A stop word stands between two words that make a run only if it is left out before runs are made."""
    texts, model = tmp_path / "texts.txt", tmp_path / "model.ssvi"
    texts.write_text("tea of the morning\nship at the sea\n" * 30)
    stop_words = tmp_path / "stop.txt"
    stop_words.write_text("of\nat\nthe\n")
    options = ["--ngrams", 2, "--min-df", 1, "--max-df", 1.0, "--stop-words", stop_words, "--max-words", 6]
    run("fit", "lda", texts, "--topics", 2, "-o", model, "--passes", 1, "--jobs", 1, "--held-out", 0, *options)
    if not kept:
        fitted = ssvi.load(model)
        del fitted.text_options_
        fitted.save(model)
    words = json.loads(run("topics", model, "--words", 6, "--json").stdout)[0]["words"]
    assert sorted(words) == ["morning", "sea", "ship", "ship sea", "tea", "tea morning"]
    estimator = ssvi.load(model)
    corpus = read_over(estimator, Reading((texts,)), quiet=True)
    assert corpus.documents.column_sums().tolist() == [30.0] * 6


@pytest.mark.parametrize("name", OF_ROWS)
def test_weights_are_the_same_however_many_rows_are_taken_at_once(name, counts, tmp_path, monkeypatch):
    model = tmp_path / "model.ssvi"
    run("fit", name, counts, "-k", 3, "--passes", 2, "--output", model, "--jobs", 1, "--quiet")
    whole = run("transform", model, counts, "-o", tmp_path / "whole.npy", "--jobs", 1)
    monkeypatch.setattr("ssvi.cli.use._ROWS_AT_ONCE", 30)
    parts = run("transform", model, counts, "-o", tmp_path / "parts.npy", "--jobs", 1, "--quiet")
    several = WITH_COMPONENTS[name].nouns[0].lower()
    assert (whole.stdout, parts.stdout) == (f"{tmp_path / 'whole.npy'}: 200 documents x 3 {several}\n", "")
    np.testing.assert_array_equal(np.load(tmp_path / "parts.npy"), np.load(tmp_path / "whole.npy"))


def test_words_can_be_given_to_a_model_that_has_none(texts, counts, tmp_path, refused):
    model, words = tmp_path / "m.ssvi", tmp_path / "words.txt"
    result = run("fit", "lda", counts, "-k", 2, "--passes", 1, "--jobs", 1, "-o", model)
    assert "columns have numbers and no words" in result.stdout
    words.write_text("\n".join(f"gene{i}" for i in range(15)))
    header, *lines = run("topics", model, "--vocabulary", words, "--words", 3).stdout.splitlines()
    assert header.startswith("topic\tshare\twords\t")
    assert len(lines) == 2
    assert all(word.startswith("gene") for word in lines[0].split("\t")[2].split())
    run("report", model, "--vocabulary", words, "-o", tmp_path / "r.html")
    assert "gene7" in (tmp_path / "r.html").read_text()
    assert "this model has no words, so it cannot read the text" in refused("score", model, texts)
    words.write_text("a\nb\n")
    assert "has 2 words, and the model 15 columns" in refused("topics", model, "--vocabulary", words)


def test_a_report_shows_how_documents_begin(texts, counts, tmp_path):
    model, page = tmp_path / "m.ssvi", tmp_path / "r.html"
    run("fit", "lda", texts, "--topics", 3, "-o", model, "--passes", 1, "--jobs", 1, "--quiet")
    run("report", model, "--corpus", texts, "-o", page)
    shown = [line for line in texts.read_text().splitlines() if line[:160] in page.read_text()]
    assert 3 * 6 >= len(shown) >= 6  # six of each topic, or as many as there are different ones
    run("fit", "lda", counts, "-k", 3, "-o", model, "--passes", 1, "--jobs", 1, "--quiet")
    assert run("report", model, "--corpus", counts, "-o", page).exit_code == 0


def test_a_folder_of_counts_is_no_folder_of_texts(counts, tmp_path):
    """As `ssvi corpus wikipedia` writes it: the model has no words, and there is no text to show the beginnings of."""
    folder, model = tmp_path / "corpus", tmp_path / "m.ssvi"
    folder.mkdir()
    (folder / "bow.npz").write_bytes(counts.read_bytes())
    run("fit", "lda", folder, "-k", 2, "--passes", 1, "--jobs", 1, "-o", model, "--quiet")
    assert run("score", model, folder).exit_code == 0
    assert run("report", model, "--corpus", folder, "-o", tmp_path / "r.html").exit_code == 0


def test_weights_can_go_to_standard_output(counts, tmp_path):
    model = tmp_path / "m.ssvi"
    run("fit", "lda", counts, "-k", 2, "--passes", 1, "--jobs", 1, "-o", model, "--quiet")
    lines = run("transform", model, counts, "-o", "-", "--quiet").stdout.splitlines()
    assert lines[0] == "document,component_0,component_1"
    assert len(lines) == 201


def test_what_the_system_says_has_no_numbers(tmp_path, refused):
    assert (
        refused("topics", tmp_path / "none.ssvi") == f"ssvi: there is no file {tmp_path / 'none.ssvi'}: check the path."
    )
    assert refused("topics", tmp_path) == f"ssvi: {tmp_path} is a folder, and a file is wanted."


def test_text_of_another_kind_is_noticed(texts, tmp_path):
    model, other = tmp_path / "m.ssvi", tmp_path / "other.txt"
    run("fit", "lda", texts, "--topics", 2, "--passes", 2, "--min-df", 1, "--max-df", 1.0, "-o", model)
    known = vocabulary_of(ssvi.load(model))
    other.write_text("\n".join([f"{known[0]} quite other things altogether"] * 30))
    assert "known to this model" not in run("score", model, texts).stderr
    said = run("score", model, other).stderr
    assert f"ssvi: note: only 25% of the words of {other} are known to this model (100% would be of text" in said


def test_known_words_that_are_seldom_ones_tell_text_of_another_kind(tmp_path):
    """Words by rank: text of the model's kind has the first most often, that of another kind the last."""
    draw, names = np.random.default_rng(0), np.array([f"word{rank:03d}" for rank in range(400)])
    weights = 1.0 / np.arange(1, 401)

    def write(name, weights, documents):
        drawn = [draw.choice(names, 40, p=weights / weights.sum()) for _ in range(documents)]
        (tmp_path / name).write_text("\n".join(map(" ".join, drawn)))
        return tmp_path / name

    model = tmp_path / "m.ssvi"
    run("fit", "lda", write("own.txt", weights, 300), "-k", 2, "--passes", 2, "--max-df", 1.0, "-o", model, "--jobs", 1)
    assert 0.9 < ssvi.load(model).known_words_ < 1
    for documents in (1, 100):
        assert run("score", model, write("like.txt", weights, documents)).stderr == ""
        said = run("score", model, write("other.txt", weights[::-1], documents)).stderr
        assert "other.txt are seldom ones in the text that this model was fitted to" in said
    fitted = ssvi.load(model)
    del fitted.known_words_  # as in files of earlier versions
    fitted.save(model)
    assert "are seldom ones" in run("score", model, tmp_path / "other.txt").stderr
    assert run("score", model, tmp_path / "like.txt").stderr == ""


def _table(path, delimiter=",", names=("number", "when", "headline", "text")):
    """Write a table whose headlines are of one kind of words, and whose texts are of another."""
    row = ["17", "2024-05-31", "storm harbour anchor sail", "court judge lawyer trial"]
    path.write_text("\n".join(delimiter.join(line) for line in [names, *([row] * 30)]) + "\n")
    return path


def test_a_model_reads_the_columns_that_its_fit_was_asked_for(tmp_path, refused):
    table, model, out = _table(tmp_path / "news.csv"), tmp_path / "m.ssvi", tmp_path / "out.csv"
    asked = ["--column", "headline", "--id-column", "number", "--date-column", "when"]
    fit = ["--topics", 2, "--passes", 1, "--jobs", 1, "--held-out", 0, "--max-df", 1.0, "--quiet"]
    run("fit", "lda", table, "-o", model, *asked, *fit)
    assert ssvi.load(model).reading_options_ == {"column": "headline", "id_column": "number", "date_column": "when"}
    listed = json.loads(run("documents", model, table, "--topic", 0, "--json").stdout)[0]
    assert (listed["id"], listed["date"], listed["text"]) == ("17", "2024-05-31", "storm harbour anchor sail")
    assert run("transform", model, table, "-o", out, "--jobs", 1).exit_code == 0
    assert out.read_text().splitlines()[1].startswith("1,17,")
    said = refused("score", model, table, "--column", "text")
    assert "has no word of the vocabulary" in said, "an option goes before what is remembered"
    other = _table(tmp_path / "other.csv", names=("id", "rest", "text", "more"))
    assert run("score", model, other).exit_code == 0, "where there is no such column, the usual one is read"


def test_a_model_reads_the_format_and_delimiter_that_its_fit_was_asked_for(tmp_path):
    table, model = _table(tmp_path / "news.dat", "~"), tmp_path / "m.ssvi"
    asked = ["--format", "csv", "--delimiter", "~", "--column", "headline"]
    fit = ["--topics", 2, "--passes", 1, "--jobs", 1, "--held-out", 0, "--max-df", 1.0, "--quiet"]
    run("fit", "lda", table, "-o", model, *asked, *fit)
    listed = json.loads(run("documents", model, table, "--topic", 0, "--json").stdout)[0]
    assert listed["text"] == "storm harbour anchor sail"
    for name, delimiter in (("plain.csv", ","), ("same.csv", "~")):
        other = json.loads(run("documents", model, _table(tmp_path / name, delimiter), "-t", 0, "--json").stdout)[0]
        assert other["text"] == "storm harbour anchor sail", "it is taken only where it fits"
    lines = tmp_path / "lines.txt"
    lines.write_text("storm harbour\n" * 5)
    assert json.loads(run("score", model, lines, "--json").stdout)["documents"] == 5


def test_a_model_of_sequences_reads_the_columns_that_its_fit_was_asked_for(tmp_path):
    table, model = tmp_path / "s.csv", tmp_path / "m.ssvi"
    table.write_text("who;at;x\n" + "".join(f"{n};{t};{t % 3}.5\n" for n in range(4) for t in range(30)))
    asked = ["--group-column", "who", "--date-column", "at", "--delimiter", ";"]
    run("fit", "hmm", table, "-k", 2, "--passes", 1, "--jobs", 1, "-o", model, "--quiet", *asked)
    assert json.loads(run("score", model, table, "--json").stdout)["sequences"] == 4
