"""A model file that goes on with further documents, and what a fit may begin with."""

import json

import numpy as np
import pytest
from scipy import sparse
from tests.cli.helpers import WORDS, run

import ssvi


@pytest.fixture
def model(texts, tmp_path):
    """A model of the three themes."""
    path = tmp_path / "model.ssvi"
    run("fit", "lda", texts, "-k", 3, "-o", path, "--jobs", 1, "--held-out", 0, "--quiet")
    return path


@pytest.fixture
def later(tmp_path):
    """A hundred documents of sport in which there are words that no one has used before."""
    rng = np.random.default_rng(1)
    words = [*WORDS[:8], "padel", "drone"]
    lines = [" ".join(words[word] for word in rng.integers(10, size=20)) for _ in range(100)]
    lines[0] += " hapax"
    path = tmp_path / "later.txt"
    path.write_text("\n".join(lines))
    return path


def test_a_model_goes_on_with_the_words_that_it_knows(model, later, tmp_path):
    output = tmp_path / "next.ssvi"
    result = run("update", model, later, "-o", output, "--jobs", 1, "--batch-size", 50)
    assert result.stdout.startswith(f"{output}: lda, 3 topics, continued with 100 documents, scored -")
    assert "24 columns, 0 of them new" in result.stdout
    before, after = ssvi.load(model), ssvi.load(output)
    assert after.n_batch_iter_ == before.n_batch_iter_ + 2
    assert after._n_distinct == 400
    assert tuple(after.vocabulary_) == tuple(before.vocabulary_)


def test_new_words_are_taken_in_and_the_model_remembers_how(model, later, tmp_path):
    options = ("--jobs", 1, "--json", "--batch-size", 50)
    change = ("--grow-vocabulary", "--memory", 150, "--max-df", 1.0)  # new words are in most documents here
    facts = json.loads(run("update", model, later, "-o", model, *change, *options).stdout)
    assert (facts["new_columns"], facts["columns"], facts["documents"]) == (2, 26, 100)  # "hapax" is in one document
    assert facts["score_before"] < 0
    grown = ssvi.load(model)
    assert list(grown.vocabulary_[-2:]) == ["drone", "padel"]
    assert (grown.memory, grown.grow_vocabulary, grown.history_[-1].population) == (150.0, True, 150.0)
    sport = grown.topic_word_[:, list(grown.vocabulary_).index("sporta")].argmax()
    assert (grown.topic_word_[:, -2:].argmax(axis=0) == sport).all()
    more = tmp_path / "more.txt"
    more.write_text("padel sporta kite\nkite padel sportb\n" * 30)
    again = json.loads(run("update", model, more, "-o", model, *options).stdout)
    assert (again["new_columns"], again["steps"]) == (0, facts["steps"] + 2)  # "kite" is in all documents
    again = json.loads(run("update", model, more, "-o", model, "--max-df", 1.0, "--max-words", 1, *options).stdout)
    assert (again["new_columns"], ssvi.load(model).vocabulary_[-1]) == (1, "kite")
    assert ssvi.load(model).memory == 150.0


def test_counts_are_matched_by_their_words_or_by_their_order(tmp_path):
    rng, first, second = np.random.default_rng(0), tmp_path / "a.npz", tmp_path / "b.npz"
    sparse.save_npz(first, sparse.csr_array(rng.poisson(1.0, (60, 5))))
    sparse.save_npz(second, sparse.csr_array(rng.poisson(1.0, (60, 7))))
    model = tmp_path / "m.ssvi"
    run("fit", "lda", first, "-k", 2, "-o", model, "--jobs", 1, "--quiet")
    result = run("update", model, second, "-o", tmp_path / "n.ssvi", "--grow-vocabulary", "--jobs", 1)
    assert "7 columns, 2 of them new" in result.stdout
    (tmp_path / "a.npz.vocab.txt").write_text("a\nb\nc\nd\ne\n")
    (tmp_path / "b.npz.vocab.txt").write_text("e\nx\na\nb\nc\nd\ny\n")
    run("fit", "lda", first, "-k", 2, "-o", model, "--jobs", 1, "--quiet")
    run("update", model, second, "-o", model, "--grow-vocabulary", "--jobs", 1, "--quiet")
    assert list(ssvi.load(model).vocabulary_) == ["a", "b", "c", "d", "e", "x", "y"]


def test_mixtures_go_on_too(counts, tmp_path):
    model = tmp_path / "m.ssvi"
    run("fit", "bernoulli_mixture", counts, "-k", 3, "--passes", 2, "-o", model, "--jobs", 1, "--quiet")
    facts = json.loads(run("update", model, counts, "-o", model, "--memory", 300, "--jobs", 1, "--json").stdout)
    assert (facts["documents"], facts["new_columns"]) == (200, 0)
    assert ssvi.load(model).history_[-1].population == 300


def test_what_an_update_refuses(model, later, counts, tmp_path, refused):
    output = tmp_path / "o.ssvi"
    assert "--min-df is for new words, which need --grow-vocabulary" in refused(
        "update", model, later, "-o", output, "--min-df", 2
    )
    mixture = tmp_path / "mixture.ssvi"
    run("fit", "bernoulli_mixture", counts, "-k", 2, "--passes", 1, "-o", mixture, "--jobs", 1, "--quiet")
    assert "bernoulli_mixture has no vocabulary that could grow" in refused(
        "update", mixture, counts, "-o", output, "--grow-vocabulary"
    )
    numbers = tmp_path / "numbers.ssvi"
    run("fit", "lda", counts, "-k", 2, "--passes", 1, "-o", numbers, "--jobs", 1, "--quiet")
    assert "this model has no words, so it cannot read the text" in refused(
        "update", numbers, later, "-o", output, "--grow-vocabulary"
    )
    assert not output.exists()
    text = tmp_path / "text.txt"
    text.write_text("mine")
    assert "is there already and is no model" in refused("update", model, later, "-o", text)
    assert text.read_text() == "mine"


def test_a_fit_with_seed_words_and_one_that_starts_from_its_model(texts, later, tmp_path, refused):
    seeds, model = tmp_path / "seeds.txt", tmp_path / "m.ssvi"
    seeds.write_text("\nlawa lawb\nsporta, sportb\n")
    fit = ("fit", "lda", texts, "--jobs", 1, "--quiet", "--held-out", 0)
    run(*fit, "-k", 3, "-o", model, "--seed-words", seeds)
    fitted = ssvi.load(model)
    assert fitted.seed_words == [[], ["lawa", "lawb"], ["sporta", "sportb"]]
    words = list(fitted.vocabulary_)
    assert fitted.topic_word_[:, words.index("lawc")].argmax() == 1
    assert fitted.topic_word_[:, words.index("sportc")].argmax() == 2
    run("fit", "lda", later, "--jobs", 1, "--quiet", "--held-out", 0, "-o", tmp_path / "next.ssvi", "--start", model,
        "--max-df", 1.0, "--passes", 3)  # fmt: skip
    started = ssvi.load(tmp_path / "next.ssvi")
    assert started.components_.shape == (3, 10)
    assert started.components_.sum(axis=1).argmax() == 2  # it is all sport, and that is where it was
    assert refused(*fit, "-o", model, "--start", model).startswith(f"ssvi: {model} is what is to be read")
    seeds.write_text("\n\n")
    assert "has no words: give a line of them for each topic" in refused(*fit, "-o", model, "--seed-words", seeds)
    assert "there is no file" in refused(*fit, "-o", model, "--seed-words", tmp_path / "none.txt")
    assert "--set is not for seed_words: that is --seed-words" in refused(*fit, "-o", model, "--set", "seed_words=[]")
    assert "--start is for models of topics, and bernoulli_mixture is none" in refused(
        "fit", "bernoulli_mixture", texts, "-o", model, "--start", model
    )
