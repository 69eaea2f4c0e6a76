"""Documents that are copies, and lines that stand in many of them."""

import numpy as np
import pytest
from tests.data.readers.helpers import dense

from ssvi.corpora.building import build_corpus
from ssvi.corpora.reading import read_disk
from ssvi.data.readers import CorpusError, TextOptions, read_corpus, repeats
from ssvi.data.readers.repeats import Sample, Watcher, find_repeated, lines_of, without_lines

LINE = "Copyright 2024 Example Media."
BODIES = [f"number{n} the river ran through town{n % 7} and on, number{n}" for n in range(40)]


def write(tmp_path, documents):
    folder = tmp_path / "texts"
    folder.mkdir()
    for number, document in enumerate(documents):
        (folder / f"{number:03}.txt").write_text(document)
    return folder


def test_copies_are_counted_and_empty_documents_are_none(tmp_path):
    path = tmp_path / "texts.txt"
    path.write_text("\n".join(["a cat sat", "a dog ran", "  a cat sat ", "", "", "a cat sat"]))
    corpus = read_corpus(path)
    assert corpus.repeats.copies == 2
    assert len(corpus.documents) == 6
    assert not corpus.repeats.left_out
    assert read_corpus(path, text=TextOptions(vocabulary=("cat",))).repeats is None


def test_copies_are_left_out_with_what_is_known_of_them(tmp_path):
    path = tmp_path / "texts.csv"
    path.write_text("id,text\na,cat cat\nb,dog\nc,cat cat\nd,\ne,\nf,dog bird\n")
    corpus = read_corpus(path, text=TextOptions(drop_copies=True))
    assert corpus.names == ("a", "b", "d", "e", "f")
    assert corpus.vocabulary == ("bird", "cat", "dog")
    np.testing.assert_array_equal(dense(corpus), [[0, 2, 0], [0, 0, 1], [0, 0, 0], [0, 0, 0], [1, 0, 1]])
    assert corpus.repeats.copies == 1
    assert corpus.repeats.left_out


def test_words_are_the_same_whether_or_not_anything_is_repeated(tmp_path):
    """Nothing but the options takes anything out."""
    documents = [f"{body}\n{LINE}" for body in BODIES]
    folder = write(tmp_path, documents + documents[:5])
    corpus = read_corpus(folder, text=TextOptions(max_df=1.0))
    assert corpus.documents.column_sums()[corpus.vocabulary.index("copyright")] == 45
    assert corpus.repeats.copies == 5
    assert corpus.repeats.lines == ((LINE, 1.0),)


@pytest.mark.parametrize("options", [{}, {"ngram_range": (1, 2)}, {"lowercase": False}, {"strip_html": True}])
def test_repeated_lines_are_taken_out_and_kept_by_the_model(tmp_path, options):
    folder = write(tmp_path, [f"{body}\n{LINE} More here{n}." for n, body in enumerate(BODIES)])
    text = read_corpus(folder, text=TextOptions(drop_repeated=True, **options)).text
    assert text.repeated == (LINE,)
    kept = TextOptions.from_kept(text.kept())
    assert kept.repeated == (LINE,)
    further = tmp_path / "further.txt"
    further.write_text(f"{LINE} The media of the river.\n")
    word = "media" if options.get("lowercase", True) else "Media"
    vocabulary = (word, "media", "river") if word != "media" else ("media", "river")
    corpus = read_corpus(further, text=TextOptions.for_words(vocabulary, text.kept()))
    assert dense(corpus).tolist() == [[0, 1, 1] if word != "media" else [1, 1]]


def test_text_options_of_a_file_must_make_sense():
    with pytest.raises(ValueError, match="make no sense"):
        TextOptions.from_kept(TextOptions().kept() | {"repeated": [1]})


def test_a_corpus_on_disk_leaves_out_the_same(tmp_path):
    pytest.importorskip("pyarrow")
    documents = [f"{body}\n{LINE}" for body in BODIES]
    folder = write(tmp_path, documents + documents[:5])
    text = TextOptions(drop_copies=True, drop_repeated=True)
    build_corpus([folder], tmp_path / "corpus", text=text)
    on_disk, corpus = read_disk(tmp_path / "corpus", None, "utf-8"), read_corpus(folder, text=text)
    assert len(on_disk.documents) == len(corpus.documents) == 40
    assert "copyright" not in on_disk.vocabulary
    assert set(on_disk.vocabulary) == set(corpus.vocabulary)
    assert on_disk.info.part(0, 40).ids == corpus.names


def test_few_lines_short_lines_and_lines_of_few_documents_are_not_told_of():
    def found(lines, n=40):
        return find_repeated(f"document number {k} has this.\n{lines(k)}" for k in range(n))

    assert found(lambda k: LINE) == (LINE,)
    assert found(lambda k: LINE, n=19) == ()
    assert found(lambda k: "All rights") == ()
    assert found(lambda k: LINE if k < 4 else "") == ()
    assert found(lambda k: LINE if k < 5 else "") == (LINE,)


def test_copies_do_not_make_a_line_one_of_many():
    assert find_repeated([f"Document {k} stands on its own." for k in range(30)] + [LINE] * 30) == ()


def test_a_sample_is_even_and_bounded(monkeypatch):
    monkeypatch.setattr(repeats, "_SAMPLED", 16)
    sample, taken = Sample(), []
    for number in range(1_000):
        if number == sample.next:
            sample.take(number, f"this is document {number}.")
            taken.append(number)
    kept = [number for number, _ in sample._lines]
    assert len(kept) <= 16
    assert max(np.diff(kept)) < 2 * 1_000 / len(kept)
    assert kept[-1] > 900
    assert len(taken) < 16 * 8


@pytest.mark.parametrize("period", [2, 3, 10, 64])
def test_the_share_of_a_line_is_right_where_it_comes_at_regular_intervals(period):
    sample = Sample()
    for number in range(20_000):
        if number == sample.next:
            sample.take(number, f"Document {number} is here.\n{LINE if number % period < period * 0.5 else ''}")
    ((line, share),) = sample.repeated()
    assert line == LINE
    assert share == pytest.approx(-(-period // 2) / period, abs=0.02)


GLUED = "Copyright 2024 Example Newswire Ltd. All rights reserved."


@pytest.mark.parametrize("at_the_end", [True, False])
def test_a_run_of_words_that_is_glued_to_other_text_is_found_and_taken_out(at_the_end):
    run = "Copyright 2024 Example Newswire Limited" + ("." if at_the_end else "")
    documents = [f"{body} {run}" if at_the_end else f"{run} {body}" for body in BODIES]
    assert find_repeated(documents) == (run,)
    clean = without_lines((run,))
    assert [clean(document).strip() for document in documents] == BODIES


def test_a_glued_sentence_goes_with_the_one_behind_it():
    documents = [f"{body} {GLUED}" if n % 4 == 0 else f"{body}." for n, body in enumerate(BODIES)]
    found = find_repeated(documents)
    assert set(found) == {"Copyright 2024 Example Newswire Ltd.", "All rights reserved."}
    assert without_lines(found)(documents[0]).strip() == BODIES[0]
    assert without_lines(found)(documents[1]) == documents[1]


def test_a_run_has_no_part_of_a_word_and_no_fewer_than_five_of_them():
    clean = without_lines(["one two three four five", "six seven eight"])
    assert clean("a phone two three four five") == "a phone two three four five"
    assert clean("it says one two three four five") == "it says "
    assert clean("one two three four fives it says") == "one two three four fives it says"
    assert clean("it says six seven eight") == "it says six seven eight"
    assert find_repeated(f"{body} two three four five" for body in BODIES) == ()
    assert find_repeated(f"{body} one two three four five" for body in BODIES) == ("one two three four five",)


def test_of_a_very_long_line_the_beginning_and_the_end_are_found():
    line = " ".join(f"word{k}" for k in range(200))
    first, last = sorted(find_repeated(f"Document {k} is here.\n{line}" for k in range(40)))
    assert line.startswith(first)
    assert line.endswith(last)
    assert 250 < len(first) <= 300


def test_a_whole_line_is_not_told_of_twice():
    line = "This is a line of some nine words here"
    assert find_repeated(f"{body}.\n{line}" for body in BODIES) == (line,)


def test_a_document_of_many_lines_is_looked_at_from_both_ends():
    lines = lines_of("\n".join(f"this is line {n}" for n in range(1_000))).whole
    assert {"this is line 0", "this is line 999"} <= lines
    assert len(lines) == 200


def test_the_rest_of_a_text_stays_as_it_is():
    clean = without_lines([LINE])
    assert clean(f"One.  Two!\n\n{LINE}\nThree").split() == ["One.", "Two!", "Three"]
    assert clean("Nothing of it.\r\nAt all.") == "Nothing of it.\r\nAt all."


def test_documents_pass_a_watcher_unchanged():
    documents = ["a", "b", "a", "", ""]
    watcher = Watcher(drops_copies=False)
    assert list(watcher.watch(documents)) == documents
    assert watcher.rows() is None
    assert watcher.found().copies == 1
    watcher = Watcher(drops_copies=True)
    assert list(watcher.watch(documents)) == ["a", "b", "", ""]
    assert watcher.rows().tolist() == [0, 1, 3, 4]


def test_what_can_be_read_once_cannot_be_read_twice(tmp_path):
    import os

    from ssvi.data.readers.columns import Columns
    from ssvi.data.readers.text import with_repeated

    os.mkfifo(tmp_path / "pipe.txt")
    with pytest.raises(CorpusError, match="can be read only once"):
        with_repeated([(tmp_path / "pipe.txt", "text")], Columns(), TextOptions(drop_repeated=True), "utf-8")


def test_long_runs_of_spaces_take_no_longer_than_other_text():
    """A pattern that goes back over spaces would take minutes for these, and not milliseconds."""
    assert lines_of("cat" + " " * 2_000_000 + "sat.\nIt sat down.").whole == {"It sat down."}
    assert without_lines([LINE])("cat" + " " * 2_000_000) == "cat" + " " * 2_000_000
