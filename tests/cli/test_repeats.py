"""What commands say of documents that repeat others."""

import json

import pytest
from tests.cli.helpers import run


@pytest.fixture
def site(tmp_path):
    """60 pages with a line at the foot of each, ten of them twice."""
    themes = (("oil", "price", "gas", "barrel"), ("film", "actor", "plot", "scene"))
    pages = []
    for n in range(60):
        words = themes[n % 2]
        body = " ".join(words[(n * k + k) % 4] for k in range(1, 12))
        pages.append(f"page{n} {body} page{n}.\nCopyright 2024 Example Media.\n")
    folder = tmp_path / "site"
    folder.mkdir()
    for number, page in enumerate(pages + pages[:10]):
        (folder / f"{number:02}.txt").write_text(page)
    return folder


def fit(site, tmp_path, *options):
    common = ("-k", 2, "--max-df", 1.0, "--passes", 2, "--jobs", 1, "-o", tmp_path / "model.ssvi")
    return run("fit", "lda", site, *common, *options)


def test_copies_and_repeated_lines_are_told_of(site, tmp_path):
    result = fit(site, tmp_path)
    assert "read: 70 documents, 10 of them exact copies of others, 1 line or sentence in a tenth" in result.stdout
    assert "10 of 70 documents are exact copies of others" in result.stderr
    assert (
        '"Copyright 2024 Example Media." stands in all or nearly all of the documents: such lines make topics'
        in result.stderr
    )
    read = json.loads(fit(site, tmp_path, "--json").stdout)["read"]
    assert (read["copies"], read["copies_left_out"]) == (10, False)
    assert read["repeated"] == [{"text": "Copyright 2024 Example Media.", "share": 1.0}]


def test_they_are_left_out_if_that_is_asked_for(site, tmp_path):
    result = fit(site, tmp_path, "--drop-copies", "--drop-repeated")
    assert "read: 60 documents, 10 exact copies left out, 1 line or sentence taken out that many have" in result.stdout
    assert "note" not in result.stderr
    words = json.loads(run("topics", tmp_path / "model.ssvi", "--words", 20, "--json").stdout)[0]["words"]
    assert "media" not in words
    weights = run("transform", tmp_path / "model.ssvi", site, "-o", "-", "-q").stdout.splitlines()
    assert len(weights) == 71  # every document has a row, copy or not
    read = json.loads(fit(site, tmp_path, "--json", "--drop-copies", "--drop-repeated").stdout)["read"]
    assert (read["copies_left_out"], read["repeated_left_out"]) == (True, True)


def test_texts_that_repeat_nothing_are_not_spoken_of(texts, tmp_path):
    result = fit(texts, tmp_path)
    assert "copies" not in result.stdout.split("topics:")[0]
    assert "copies" not in result.stderr


def test_a_copy_or_two_of_many_are_in_the_summary_alone():
    from types import SimpleNamespace

    from ssvi.cli.repeats import notes_on_repeats, repeats_in_facts, repeats_in_words
    from ssvi.data.readers.base import Repeats

    def corpus(copies, left_out=False):
        return SimpleNamespace(repeats=Repeats(copies, left_out), text=None, documents=range(300))

    assert notes_on_repeats(corpus(2)) == []
    assert len(notes_on_repeats(corpus(3))) == 1
    assert repeats_in_words(repeats_in_facts(corpus(1))) == ", 1 of them an exact copy of another"
    assert repeats_in_words(repeats_in_facts(corpus(1, left_out=True))) == ", 1 exact copy left out"
    assert repeats_in_words(repeats_in_facts(corpus(2, left_out=True))) == ", 2 exact copies left out"
    assert repeats_in_words(repeats_in_facts(corpus(0))) == ""


def test_the_share_of_a_line_is_said_to_be_of_a_sample():
    from types import SimpleNamespace

    from ssvi.cli.repeats import notes_on_repeats
    from ssvi.data.readers.base import Repeats

    found = Repeats(0, False, (("All rights are reserved.", 0.346),))
    (note,) = notes_on_repeats(SimpleNamespace(repeats=found, text=None, documents=range(300)))
    assert note.startswith('"All rights are reserved." stands in about 35% of the documents: such lines')
