"""Commands on a corpus on disk say what they say of the same documents in memory."""

import json

import numpy as np
import pytest
from tests.cli.helpers import run

import ssvi
from ssvi.corpora import DiskCorpus, writer


@pytest.fixture
def both(tmp_path, monkeypatch):
    """The same 300 documents as a table of text and as a corpus on disk."""
    monkeypatch.setattr(writer, "ROWS", 40)
    rng = np.random.default_rng(0)
    rows = ["text,id,date,group"]
    for i in range(300):
        words = " ".join(f"word{word}" for word in rng.integers(8, size=20) + 8 * (i % 3))
        rows.append(f"{words},d{i},{1990 + i % 5}-03-01,{'abc'[i % 3]}")
    table = tmp_path / "table.csv"
    table.write_text("\n".join(rows))
    run("corpus", "build", table, "-o", tmp_path / "corpus")
    return table, tmp_path / "corpus"


@pytest.fixture
def model(both, tmp_path):
    path = tmp_path / "model.ssvi"
    run("fit", "lda", both[1], "--topics", 3, "--passes", 3, "-o", path, "--quiet")
    return path


def test_a_corpus_is_built_and_looked_at(both, tmp_path):
    table, corpus = both
    facts = json.loads(run("corpus", "info", corpus, "--check", "--json").stdout)
    assert (facts["documents"], facts["columns"], facts["total"], facts["checked"]) == (300, 24, 6_000.0, True)
    assert facts["known_of_documents"] == ["id", "date", "group"]
    assert "documents: 300" in run("corpus", "info", corpus).stdout
    assert run("corpus", "inspect", corpus, "--json").stdout == run("corpus", "inspect", table, "--json").stdout
    assert run("corpus", "convert", corpus, tmp_path / "counts.npz").exit_code == 0


def test_a_fit_knows_its_words_and_goes_on_as_text_was_read(both, model):
    fitted = ssvi.load(model)
    assert list(fitted.vocabulary_) == list(DiskCorpus(both[1]).vocabulary)
    assert fitted.text_options_["stop_words"] == "english"
    facts = json.loads(run("fit", "lda", both[1], "--topics", 3, "--passes", 1, "-o", model, "--json").stdout)
    assert facts["documents"] == 285
    assert facts["quality"]["coherence"] is not None


@pytest.mark.parametrize("ending", ["csv", "npy"])
def test_weights_are_written_as_they_come(both, model, tmp_path, monkeypatch, ending):
    table, corpus = both
    run("transform", model, table, "-o", tmp_path / f"one.{ending}")
    monkeypatch.setattr("ssvi.cli.use._ROWS_AT_ONCE", 70)
    told = run("transform", model, corpus, "-o", tmp_path / f"other.{ending}").stdout
    assert "300 documents x 3 topics" in told
    assert (tmp_path / f"one.{ending}").read_bytes() == (tmp_path / f"other.{ending}").read_bytes()


def test_scores_and_updates(both, model, tmp_path):
    table, corpus = both
    assert run("score", model, corpus).stdout == run("score", model, table).stdout
    run("update", model, table, "-o", tmp_path / "one.ssvi", "--quiet")
    run("update", model, corpus, "-o", tmp_path / "other.ssvi", "--quiet")
    one, other = ssvi.load(tmp_path / "one.ssvi"), ssvi.load(tmp_path / "other.ssvi")
    assert np.array_equal(one.components_, other.components_)


@pytest.mark.parametrize(
    "question",
    [["--topic", 1], ["--by", "date"], ["--by", "group", "--topic", 0], ["--like", "d7"], ["--search", "word3"]],
)
def test_documents_that_are_asked_for(both, model, question, monkeypatch):
    one = run("documents", model, both[0], *question, "--json").stdout
    monkeypatch.setattr("ssvi.cli.use._ROWS_AT_ONCE", 70)
    other = run("documents", model, both[1], *question, "--json").stdout
    # Sums of other parts have other last digits.
    found, expected = (json.loads(own, parse_float=lambda number: round(float(number), 9)) for own in (other, one))
    if isinstance(found, list):
        for line in expected:
            line.pop("text", None)  # of which counts know nothing
    assert json.dumps(found) == json.dumps(expected)


def test_a_report_has_what_it_has_of_a_table(both, model):
    from ssvi.data.readers import read_corpus
    from ssvi.report.facts import gather_facts

    fitted, corpus = ssvi.load(model), read_corpus(both[0])
    info = corpus.info
    told = {"names": info.ids, "dates": info.dates, "groups": info.groups}
    expected = gather_facts(fitted, data=corpus.documents.to_matrix(), **told)
    found = gather_facts(fitted, data=DiskCorpus(both[1]))
    assert json.dumps(found) == json.dumps(expected)
    run("report", model, "--corpus", both[1], "-o", both[1].parent / "report.html")


def test_simulation(tmp_path):
    told = run(
        "corpus", "simulate", tmp_path / "drawn", "-n", 1_200, "--words", 50, "--topics", 3, "--length", 20
    ).stdout
    assert "1,200 documents over 50 words" in told
    assert len(DiskCorpus(tmp_path / "drawn")) == 1_200


def test_mistakes_are_told_in_a_line(both, refused, tmp_path):
    table, corpus = both
    assert "is there already, a folder with something in it" in refused("corpus", "build", table, "-o", corpus)
    (corpus / "shard-00000.parquet").unlink()
    assert "there is no" in refused("fit", "lda", corpus, "-o", tmp_path / "new.ssvi")
    assert "is no corpus, it is not there" in refused("corpus", "info", tmp_path / "nothing")
    assert "npz or corpus" in refused(
        "corpus", "wikipedia", table, "--vocabulary", table, "--output", tmp_path / "x", "--output-format", "csv"
    )
