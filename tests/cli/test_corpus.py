import json

import numpy as np
import pytest
from tests.cli.helpers import run

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
