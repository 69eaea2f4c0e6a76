"""What `ssvi fit` says when it is done."""

import json
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from tests.cli.helpers import run

import ssvi
from ssvi.cli import summary
from ssvi.cli.reading import Reading
from ssvi.cli.summary import cleaning, next_steps
from ssvi.data.readers import PhraseRule, TextOptions
from ssvi.data.readers.phrases import FoundPhrases
from ssvi.evaluation.coherence import topic_diversity
from ssvi.evaluation.trend import trend


def test_a_score_that_falls_is_not_called_converged_in_the_same_breath():
    facts = {"converged": True, "trend": trend([-9.0, -8.0, -8.1, -8.2, -8.3, -8.4, -8.5, -8.6], 8, converged=True)}
    assert summary._convergence(facts, None) == ""
    said = summary.score_line(facts["trend"])
    assert "falling since its best, -8.0000 after pass 2: --early-stopping keeps the best" in said


def test_cleaning_in_words():
    assert cleaning(TextOptions(lowercase=False, stop_words=None)) == []
    everything = TextOptions(
        strip_html=True, numbers=False, ngram_range=(1, 2), stop_words="german", more_stop_words=("a", "b"),
        phrases=FoundPhrases((frozenset({("new", "york")}),)),
    )  # fmt: skip
    assert cleaning(everything) == [
        "HTML taken out", "lower case", "German stop words left out", "2 more words left out", "numbers left out",
        "1 phrases made one", "runs of up to 2 words",
    ]  # fmt: skip
    assert "0 phrases made one" in cleaning(TextOptions(phrases=PhraseRule()))
    assert "pieces of words and of numbers (don, ll, 000) left out" in cleaning(TextOptions(pieces=False))
    without_numbers = cleaning(TextOptions(pieces=False, numbers=False))
    assert without_numbers[-2:] == ["numbers left out", "pieces of words (don, ll) left out"]


def test_many_numbers_among_words_are_noted(tmp_path):
    texts = tmp_path / "a.txt"
    lines = ["on 03 04 1999 cats sleep beside dogs at night", "a house with roofs and doors may fall soon, alas"]
    texts.write_text("\n".join(lines[row % 2] for row in range(40)))
    said = run("fit", "lda", texts, "-k", 2, "-o", tmp_path / "m.ssvi", "--passes", 2, "--jobs", 1).stderr
    assert "note: 23% of the words are numbers, which make topics of their own: --no-numbers." in said
    said = run("fit", "lda", texts, "-k", 2, "-o", tmp_path / "m.ssvi", "--passes", 2, "--no-numbers").stderr
    assert "numbers" not in said


def test_next_commands_can_be_typed(tmp_path):
    columns = {"column": "the text", "id_column": None, "delimiter": ";"}
    reading = Reading((tmp_path / "a.csv", tmp_path / "*.csv"), "csv", encoding="latin-1", columns=columns)
    assert next_steps(tmp_path / "my model.ssvi", reading) == [
        f"ssvi topics '{tmp_path}/my model.ssvi'",
        f"ssvi report '{tmp_path}/my model.ssvi' --corpus {tmp_path}/a.csv --corpus '{tmp_path}/*.csv'"
        " --format csv --column 'the text' --delimiter ';' --encoding latin-1",
    ]
    many = Reading(tuple(tmp_path / f"{i}.txt" for i in range(100)))
    assert next_steps(tmp_path / "m.ssvi", many)[1] == f"ssvi report {tmp_path}/m.ssvi"


def test_a_fit_ends_with_a_summary(texts, tmp_path):
    model = tmp_path / "m.ssvi"
    with texts.open("a") as file:
        file.write("\nthe of and\nunique\n" + "sporta 1984\n" * 2)
    command = ["fit", "lda", texts, "--topics", 3, "-o", model, "--jobs", 1, "--passes", 5, "--no-numbers"]
    result = run(*command)
    first, read, text, score, means, topics, following = result.stdout.splitlines()
    assert first.startswith(f"{model}: lda, 3 topics, fitted to 289 x 24")
    assert read == (
        "  read: 304 documents, 2 of them (0.7%) without any words left, 1 of them an exact copy of another; "
        "24 of 25 words kept: 1 in too few documents (--min-df)"
    )
    assert text == (
        "  text: lower case, English stop words left out, numbers left out, pieces of words (don, ll) left out"
    )
    assert score.startswith("  score: from -")
    assert means.startswith(
        "  that is: given one half of a document that the fit did not see, a word of the other half is"
    )
    assert topics.startswith("  topics: all 3 hang together (coherence 0.")
    assert "diversity 0.80 (1: no top word is in two topics)" in topics  # three times ten of 24 words
    assert following == f"  next: ssvi topics {model}; ssvi report {model} --corpus {texts}"
    facts = json.loads(run(*command, "--json").stdout)
    assert facts["read"]["words"] == {"found": 25, "rare": 1, "frequent": 0, "beyond": 0, "kept": 24}
    assert facts["read"]["empty_documents"] == 2
    assert facts["trend"]["direction"] in ("climbing", "settled", "unknown", "falling")
    assert facts["quality"]["marks"] == {}
    assert facts["quality"]["loose"] == []
    assert facts["next"][0] == f"ssvi topics {model}"
    tops = [line["words"][:8] for line in json.loads(run("topics", model, "--json").stdout)]
    numbers = {word: i for i, word in enumerate(sorted({word for words in tops for word in words}))}
    assert topic_diversity(np.array([[numbers[word] for word in words] for words in tops])) == 1.0


def test_topics_whose_words_do_not_occur_together_are_named(tmp_path):
    """Half of the words come in two groups, each in documents of its own; the others never meet."""
    groups = [[f"alpha{i}" for i in range(10)], [f"beta{i}" for i in range(10)]]
    strangers = [f"stranger{i}" for i in range(10)]
    lines = [" ".join(groups[row % 2] * 3) for row in range(60)] + [
        " ".join([w] * 12) for w in strangers for _ in (1, 2, 3)
    ]
    texts = tmp_path / "a.txt"
    texts.write_text("\n".join(lines))
    command = ["fit", "lda", texts, "-k", 3, "-o", tmp_path / "m.ssvi", "--jobs", 1, "--passes", 10, "--held-out", 0]
    facts = json.loads(run(*command, "--json").stdout)
    (loose,) = facts["quality"]["loose"]
    words = json.loads(run("topics", tmp_path / "m.ssvi", "--json").stdout)
    (own,) = [line["words"] for line in words if line["component"] == loose]
    assert all(word.startswith("stranger") for word in own[:4])
    said = run(*command).stdout
    assert "topics: 2 of 3 hang together (coherence " in said
    assert f", topic {loose} joins words that do not: fewer topics or more documents make clearer ones" in said


@pytest.mark.parametrize(
    ("gain", "said"), [(0.0123, "as many passes again may gain about 0.01"), (1e-5, "more passes")]
)
def test_what_more_passes_would_gain_is_told_of_a_score_that_has_settled(gain, said):
    moved = {"first": -9.0, "last": -8.0, "passes": 10, "direction": "settled", "gain_of_as_many_passes": gain}
    assert f"from -9.0000 to -8.0000, and settled: {said}" in summary.score_line(moved)


_FELL = {"first": -7.6, "last": -7.8, "best": -7.5, "best_after": 2, "kept_best": False, "passes": 10}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (
            {"direction": "fell"},
            ", below its best, -7.5000 after pass 2: --early-stopping keeps the best, and fewer topics may score",
        ),
        ({"direction": "fell", "kept_best": True}, ", below its best, -7.5000 after pass 2, which --early-stopping"),
        ({"direction": "falling"}, ", falling since its best, -7.5000 after pass 2: --early-stopping keeps the best"),
    ],
)
def test_where_a_score_that_fell_was_best_and_what_to_do(changed, said):
    line = summary.score_line(_FELL | changed, "documents", ssvi.LatentDirichletAllocation(5))
    assert line.startswith("from -7.6000 to -7.8000" + said)
    assert summary._convergence({"converged": True, "trend": _FELL | changed}, None) == ""


def test_no_fewer_passes_than_were_asked_for_are_advised():
    moved = {"first": -9.0, "last": -8.0, "direction": "climbing", "gain_of_as_many_passes": 0.1, "passes": 8}
    assert "try --passes 16, which may gain about 0.1" in summary.score_line(moved | {"passes_asked": 8})
    ended = summary.score_line(moved | {"passes_asked": 60})
    assert ended.endswith("still climbing when the fit ended by itself, after pass 8 of 60")


def test_a_score_that_falls_is_told_of_by_fit_and_by_info(tmp_path):
    """Forty topics learn sixty documents of noise by heart, and what they say of others is worse with every pass."""
    rng = np.random.default_rng(0)
    rows = tmp_path / "rows.npz"
    sparse.save_npz(rows, sparse.csr_array(rng.poisson(0.5, (60, 40)) + (rng.random((60, 40)) < 0.05)))
    model = tmp_path / "m.ssvi"
    command = ["fit", "lda", rows, "-k", 40, "-o", model, "--jobs", 1, "--passes", 20, "--held-out", 0.4, "-q"]
    command += ["--set", "topic_word_prior=0.005", "--set", "doc_topic_prior=0.01", "--set", "merge_copies=false"]
    run(*command)
    fitted = ssvi.load(model)
    scores = [score for _, score in fitted.scores_]
    assert scores[-1] < max(scores) - 0.05
    said = json.loads(run("info", model, "--json").stdout)
    assert said["score_is"] in ("fell", "falling")
    assert said["held_out_score"] == scores[-1]
    run(*command, "--early-stopping")  # whose model is the best one, and so is the score that info has
    kept = json.loads(run("info", model, "--json").stdout)["held_out_score"]
    assert kept == max(score for _, score in ssvi.load(model).scores_)
    assert kept > said["held_out_score"]


def test_copies_are_told_of(texts, tmp_path):
    """Two passes are too few for copies to be merged."""
    result = run("fit", "lda", texts, "--topics", 12, "-o", tmp_path / "m.ssvi", "--jobs", 1, "--passes", 2, "--json")
    marks = json.loads(result.stdout)["quality"]["marks"]
    assert any("copy of #" in mark for own in marks.values() for mark in own)


def quality_line(loose=(), marks=None, **options):
    topics = SimpleNamespace(nouns=("Topics", "topic"), components_in_use=lambda: 15)
    found = {"coherence": 0.01, "loose": list(loose), "diversity": None, "marks": marks or {}}
    return summary._quality_line(found, topics, **options)


def test_topics_are_named_in_words_that_cannot_be_taken_for_a_count():
    assert "), topics 11, 12, 7, 1, 8 and 10 others join words" in quality_line([11, 12, 7, 1, 8, *range(20, 30)])
    assert "), topics 11 and 12 join words" in quality_line([11, 12])
    assert "), topics 1, 2, 3, 4, 5 and 6 join words" in quality_line(range(1, 7))
    marked = quality_line(marks={28: ["copy of #25"], 3: ["dust", "copy of #1"]})
    assert marked.endswith("; topic 28 is a copy of topic 25, topic 3 is dust and a copy of topic 1")


def test_a_common_topic_of_repeated_lines_is_no_matter_of_stop_words():
    assert "--stop-words" in quality_line(marks={2: ["common"]})
    said = quality_line(marks={2: ["common"]}, repeats=True)
    assert "--drop-repeated" in said
    assert "--stop-words" not in said


def test_counts_without_words_have_a_summary_too(counts, tmp_path):
    result = run("fit", "bernoulli_mixture", counts, "-k", 3, "-o", tmp_path / "m.ssvi", "--passes", 2, "--jobs", 1)
    lines = result.stdout.splitlines()
    assert lines[1].startswith("  read: 200 rows")
    assert not any(line.startswith("  text:") for line in lines)


def test_a_fit_that_was_to_end_by_its_gain_and_did_not_says_what_the_last_pass_gained():
    facts = {"converged": False, "trend": {"direction": "settled"}, "gain": 0.0042, "convergence": 9.0}
    facts["quality"] = None
    said = "; the last pass still gained about 0.0042: a larger number of --passes goes on for longer"
    assert summary._convergence(facts, ssvi.LatentDirichletAllocation(5)) == said
    for gain, ended in ((-0.002, {}), (0.0042, {"early_stopping": True})):  # nothing to gain, or ended by another score
        assert summary._convergence(facts | {"gain": gain}, ssvi.LatentDirichletAllocation(5, **ended)) == ""
    other = "; the parameters still move from pass to pass: --passes auto goes on until they do not"
    assert summary._convergence(facts | {"gain": None}, ssvi.BernoulliMixture(5)) == other


@pytest.mark.parametrize(("direction", "said"), [("climbing", ""), ("settled", "; the fit has converged")])
def test_a_score_that_still_climbs_is_not_contradicted(direction, said):
    assert summary._convergence({"converged": True, "trend": {"direction": direction}}, None) == said
