import json

import numpy as np
import pytest
from tests.cli.helpers import run

import ssvi
from ssvi.data.readers import FORMATS, read_corpus


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "lines.txt"
    path.write_text("apples pears apples\npears plums\nplums apples the\n")
    return path


def test_texts_are_counted_once_for_many_fits(lines, tmp_path):
    result = run("corpus", "build", lines, "-o", tmp_path / "counts.npz", "--max-df", 1)
    assert "3 documents over 3 words" in result.stdout
    corpus = read_corpus(tmp_path / "counts.npz")
    assert corpus.vocabulary == ("apples", "pears", "plums")
    np.testing.assert_array_equal(corpus.documents.lengths(), [3, 2, 2])


@pytest.mark.parametrize("name", ["counts.mtx", "counts.ldac", "docword.counts.txt"])
def test_counts_go_from_format_to_format(name, lines, tmp_path):
    run("corpus", "build", lines, "-o", tmp_path / "counts.npz", "--max-df", 1, "--quiet")
    assert run("corpus", "convert", tmp_path / "counts.npz", tmp_path / name).exit_code == 0
    one, other = read_corpus(tmp_path / "counts.npz"), read_corpus(tmp_path / name)
    assert one.vocabulary == other.vocabulary
    np.testing.assert_array_equal(one.documents.words, other.documents.words)
    np.testing.assert_array_equal(one.documents.counts, other.documents.counts)


def test_inspect_tells_what_there_is(lines):
    facts = json.loads(run("corpus", "inspect", lines, "--json", "--max-df", 1).stdout)
    assert (facts["documents"], facts["columns"], facts["total"]) == (3, 3, 7.0)
    assert facts["most_frequent"][0] == "apples"
    assert "documents: 3" in run("corpus", "inspect", lines, "--max-df", 1).stdout


def test_formats_are_listed():
    lines = run("corpus", "formats").stdout.splitlines()
    assert [line.split()[0] for line in lines] == list(FORMATS)
    assert ".jsonl, .ndjson (or .gz)" in lines[3]


def test_convert_is_for_counts(lines, tmp_path):
    with pytest.raises(ValueError, match="holds text: `ssvi corpus build` counts its words"):
        run("corpus", "convert", lines, tmp_path / "counts.npz")


def test_what_is_known_of_documents_goes_with_the_counts_and_out_again(tmp_path):
    """From a table to counts, to a model, to weights and a report: ids, titles, dates and how text became words."""
    rows = [
        f"{i};Story {i};{1990 + i % 5}-03-01;{group};<b>new york</b> 1984 {words}"
        for i, (group, words) in enumerate(30 * [("sport", "old harbour"), ("news", "front page")])
    ]
    (tmp_path / "a.csv").write_text("\n".join(["key;head;when;desk;body", *rows]))
    counts, model, weights, page = (tmp_path / name for name in ("a.npz", "m.ssvi", "w.csv", "r.html"))
    columns = ["--id-column", "key", "--title-column", "head", "--date-column", "when", "--group-column", "desk"]
    options = ["--phrases", "--strip-html", "--no-numbers", "--max-df", 1.0]
    assert run("corpus", "build", tmp_path / "a.csv", "-o", counts, *columns, *options).exit_code == 0
    facts = json.loads(run("corpus", "inspect", counts, "--json").stdout)
    assert facts["known_of_documents"] == ["id", "title", "date", "group"]
    run("fit", "lda", counts, "--topics", 2, "--passes", 2, "--jobs", 1, "-o", model, "--quiet")
    kept = ssvi.load(model).text_options_
    assert (kept["strip_html"], kept["no_numbers"]) == (True, True)
    assert ["new", "york"] in kept["phrases"][0]
    for source, more in ((counts, []), (tmp_path / "a.csv", columns)):
        assert run("transform", model, source, "-o", weights, "--jobs", 1, *more).exit_code == 0
        lines = weights.read_text().splitlines()
        assert lines[0] == "document,id,title,date,group,component_0,component_1"
        assert lines[2].startswith("2,1,Story 1,1991-03-01,news,0.")
    for source, more in ((counts, []), (tmp_path / "a.csv", columns)):
        assert run("report", model, "--corpus", source, "-o", page, *more).exit_code == 0
        written = page.read_text()
        assert "Story 1" in written
        assert '"names":["news","sport"],"counts":[30,30]' in written
        assert '"unit":"month","names":["1990-03"' in written


def test_stop_words_of_several_lists(tmp_path):
    (tmp_path / "a.txt").write_text("der cat und the dog of bird\n" * 3)
    (tmp_path / "mine.txt").write_text("dog\n")
    lists = f"english,german,{tmp_path / 'mine.txt'}"
    result = run("corpus", "inspect", tmp_path / "a.txt", "--json", "--max-df", 1.0, "--stop-words", lists)
    assert sorted(json.loads(result.stdout)["most_frequent"]) == ["bird", "cat"]
