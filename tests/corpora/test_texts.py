"""A corpus that is built on disk is the one that is read into memory."""

import json
import random

import numpy as np
import pytest
from scipy import sparse

from ssvi.corpora import DiskCorpus, dictionary, texts
from ssvi.corpora.building import build_corpus
from ssvi.data.readers import CorpusError, PhraseRule, TextOptions, read_corpus

WORDS = [
    f"{first}{second}" for first in ("ba", "ko", "li", "mu", "né", "zo") for second in ("ra", "ta", "na", "sa", "xx")
]


def sentences(n=300, seed=0):
    rng = random.Random(seed)
    weights = [1 / (place + 1) for place in range(len(WORDS))]
    return [" ".join(rng.choices(WORDS, weights, k=rng.randrange(0, 30))) + " the of" for _ in range(n)]


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Handle few documents at once, and few words a volume, so that there are many of both."""
    monkeypatch.setattr(texts, "_MOST_DOCUMENTS", 37)
    monkeypatch.setattr(dictionary, "MOST_WORDS", 11)
    monkeypatch.setattr(dictionary, "PARTS", 4)


def check_same(path, output, **options):
    """See that a corpus on disk is what `read_corpus` reads; return both."""
    built, expected = build_corpus([path], output, **options), read_corpus(path, **options)
    corpus = DiskCorpus(output)
    assert corpus.vocabulary == expected.vocabulary
    assert (corpus.slice(0, len(corpus)).to_matrix() != expected.documents.to_matrix()).nnz == 0
    assert corpus.info() == expected.info
    made_by = expected.text or expected.text_before
    assert corpus.index.text == (None if made_by is None else json.loads(json.dumps(made_by.kept())))
    assert built.words == expected.words
    assert sorted(built.notes) == sorted(expected.notes)
    return corpus, built


@pytest.mark.parametrize(
    "options",
    [
        TextOptions(),
        TextOptions(min_df=20, max_df=0.4),
        TextOptions(min_df=2, max_features=7),
        TextOptions(ngram_range=(1, 2), min_df=3, stop_words=None),
        TextOptions(vocabulary=("mura", "absent", "bara")),
        TextOptions(phrases=PhraseRule(least_count=2, least_npmi=0.0, least_likelihood=0.0), min_df=2),
    ],
)
def test_lines_of_text(tmp_path, options):
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(sentences()) + "\n", encoding="utf-8")
    check_same(path, tmp_path / "corpus", text=options)
    assert sorted(own.name for own in tmp_path.iterdir()) == ["corpus", "lines.txt"]


def test_tables_with_ids_dates_and_groups(tmp_path):
    rows = [
        {"text": text, "id": f"d{i}", "date": f"{i % 28 + 1}/5/20{i % 20:02d}", "group": "ab"[i % 2]}
        for i, text in enumerate(sentences())
    ]
    rows[3]["date"] = "some day"
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    _, built = check_same(path, tmp_path / "corpus")
    assert any("1 dates could not be read, such as 'some day'" in note for note in built.notes)


def test_a_column_that_only_sounds_like_one_of_dates_is_left_out(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("text,date\n" + "".join(f"{text},when?\n" for text in sentences()))
    corpus, _ = check_same(path, tmp_path / "corpus")
    assert corpus.index.known == ()


def test_several_files_are_groups(tmp_path):
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_text("\n".join(sentences(seed=ord(name[0]))) + "\n", encoding="utf-8")
    corpus, _ = check_same(str(tmp_path / "*.txt"), tmp_path / "corpus")
    assert set(corpus.info().groups) == {"a.txt", "b.txt"}


def test_a_folder_of_files(tmp_path):
    folder = tmp_path / "texts"
    for i, text in enumerate(sentences(60)):
        (folder / "ab"[i % 2]).mkdir(parents=True, exist_ok=True)
        (folder / "ab"[i % 2] / f"{i}.txt").write_text(text, encoding="utf-8")
    check_same(folder, tmp_path / "corpus")


def test_counts(tmp_path):
    matrix = sparse.csr_array(np.random.default_rng(0).poisson(0.3, (90, 12)))
    sparse.save_npz(tmp_path / "counts.npz", matrix)
    (tmp_path / "counts.npz.vocab.txt").write_text("".join(f"word{i}\n" for i in range(12)))
    check_same(tmp_path / "counts.npz", tmp_path / "corpus")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (TextOptions(min_df=1_000), "no word is in at least 1000"),
        (TextOptions(vocabulary=("absent",)), "no word of the vocabulary"),
        (TextOptions(stop_words=tuple(WORDS), more_stop_words=("the", "of")), "there are no words in it"),
    ],
)
def test_texts_of_which_nothing_is_left(tmp_path, text, message):
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(sentences()), encoding="utf-8")
    with pytest.raises(CorpusError, match=message):
        build_corpus([path], tmp_path / "corpus", text=text)
    assert [own.name for own in tmp_path.iterdir()] == ["lines.txt"]


def test_phrases_are_looked_for_in_the_first_documents(tmp_path, monkeypatch):
    monkeypatch.setattr(texts, "_PHRASE_TOKENS", 200)
    path = tmp_path / "lines.txt"
    path.write_text("\n".join(sentences()), encoding="utf-8")
    rule = PhraseRule(least_count=2, least_npmi=0.0, least_likelihood=0.0)
    built = build_corpus([path], tmp_path / "corpus", text=TextOptions(phrases=rule))
    assert any("phrases were looked for in the first" in note for note in built.notes)
