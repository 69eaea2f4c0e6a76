"""Phrases: the statistics, and finding and making one in numbers as in a plain computation."""

import collections
import itertools
import json
import math

import numpy as np
import pytest
from scipy import stats
from tests.data.readers.helpers import dense, write

from ssvi.data.readers import TextOptions, phrases, read_corpus
from ssvi.data.readers.phrases import FoundPhrases, PhraseRule, TokenStore


def _plain_rounds(documents, stop_words, rule):
    """Find phrases with dictionaries and one pair at a time."""
    rounds = []
    for _ in range(rule.rounds):
        pairs = collections.Counter(
            pair for tokens in documents for pair in itertools.pairwise(tokens) if not stop_words & set(pair)
        )
        first, second, n = collections.Counter(), collections.Counter(), pairs.total()
        for (a, b), k in pairs.items():
            first[a] += k
            second[b] += k
        chosen = set()
        for (a, b), k in pairs.items():
            table = np.array([[k, first[a] - k], [second[b] - k, n - first[a] - second[b] + k]])
            ratio = stats.chi2_contingency(table, correction=False, lambda_="log-likelihood")[0]
            npmi = math.log(k * n / (first[a] * second[b])) / -math.log(k / n)
            if k >= rule.least_count and npmi >= rule.least_npmi and ratio >= rule.least_likelihood:
                chosen.add((a, b))
        if not chosen:
            break
        rounds.append(frozenset(chosen))
        documents = [FoundPhrases((frozenset(chosen),)).merge(tokens) for tokens in documents]
    return tuple(rounds), documents


def _documents(rng):
    """Return texts in which some words go together: "new york times", "x y x y", and stop words between."""
    words = [f"w{i}" for i in range(30)]
    made = []
    for _ in range(200):
        tokens = rng.choice(words, 20).tolist()
        for phrase in (["new", "york", "times"], ["new", "york"], ["x", "y"], ["x", "y", "x", "y"], ["of", "w1"]):
            if rng.random() < 0.5:
                place = int(rng.integers(len(tokens)))
                tokens[place:place] = phrase
        made.append(tokens)
    return made


@pytest.mark.parametrize("at_once", [5, 64, 1 << 22])
def test_phrases_are_those_of_a_plain_computation(monkeypatch, at_once):
    monkeypatch.setattr(phrases, "_AT_ONCE", at_once)
    documents, stop_words, rule = _documents(np.random.default_rng(0)), {"of"}, PhraseRule(least_npmi=0.3)
    store = TokenStore(stop_words.__contains__)
    for tokens in documents:
        store.add(tokens)
    found = store.find(rule)
    expected, merged = _plain_rounds(documents, stop_words, rule)
    assert found.rounds == expected
    assert ("new", "york") in found.rounds[0]
    assert ("new york", "times") in found.rounds[1]
    assert ("x y", "x y") in found.rounds[1]
    kept = [[token for token in tokens if token not in stop_words] for tokens in merged]
    assert list(store.documents()) == kept
    assert [[t for t in found.merge(tokens) if t not in stop_words] for tokens in documents] == kept


def test_the_statistics_by_hand():
    """Bouma's NPMI at its ends and at independence, and Dunning's ratio where the cells are as expected."""
    together, left, right = np.array([10.0, 1.0]), np.array([10.0, 10.0]), np.array([10.0, 10.0])
    np.testing.assert_allclose(phrases.npmi(together, left, right, 100.0), [1.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(
        phrases.likelihood_ratio(together, left, right, 100.0),
        [2 * (10 * math.log(10) + 90 * math.log(90 / 81) + 0), 0.0], atol=1e-9,
    )  # fmt: skip
    assert phrases.npmi(np.array([5.0]), np.array([5.0]), np.array([5.0]), 5.0).tolist() == [1.0]


def test_words_by_chance_are_no_phrases():
    """10,000 pairs of independent words: LLR > 10.83 has chance 0.001, and NPMI of 0.5 next to none at these counts."""
    rng = np.random.default_rng(1)
    store = TokenStore(lambda token: False)
    for _ in range(100):
        store.add(rng.choice([f"w{i}" for i in range(20)], 100).tolist())
    assert len(store.find(PhraseRule())) == 0


def test_a_corpus_with_phrases_and_reading_over_its_words(tmp_path):
    texts = ["the new york times of oil price", "new york and the oil price rise", "oil and gas in new york", "price"]
    path = write(tmp_path / "a.txt", "\n".join(10 * texts))
    rule = PhraseRule(least_count=5, least_npmi=0.4)
    corpus = read_corpus(path, text=TextOptions(phrases=rule, ngram_range=(1, 1)))
    words = ("gas", "new york", "new york times", "oil", "oil price", "oil price rise", "price")
    assert corpus.vocabulary == words
    assert dense(corpus)[:4].tolist() == [
        [0, 0, 1, 0, 1, 0, 0], [0, 1, 0, 0, 0, 1, 0], [1, 1, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 0, 1]
    ]  # fmt: skip
    kept = json.loads(json.dumps(corpus.text.kept()))
    over = TextOptions.for_words(corpus.vocabulary, kept)
    np.testing.assert_array_equal(dense(read_corpus(path, text=over)), dense(corpus))
    new = write(tmp_path / "b.txt", "New York, the price of oil\n")
    assert dense(read_corpus(new, text=over)).sum() == 3  # new york, price, oil


def test_phrases_of_a_strange_file_are_refused():
    kept = {"lowercase": True, "stop_words": None, "longest_run": 1}
    for strange in ("x", [["a"]], [[["a", 1]]], [[["a", "b", "c"]]], [[]] * 6, {"a": 1}):
        with pytest.raises(ValueError, match="phrases make no sense"):
            TextOptions.from_kept({**kept, "phrases": strange})


@pytest.mark.parametrize("options", [{"least_count": 0}, {"rounds": 0}, {"rounds": 9}, {"least_npmi": 2.0}])
def test_rules_that_make_no_sense(options):
    with pytest.raises(ValueError, match=r"least|rounds"):
        PhraseRule(**options)


def test_a_vocabulary_has_its_phrases_already():
    with pytest.raises(ValueError, match="a vocabulary has both: leave out one of them"):
        TextOptions(vocabulary=("cat",), phrases=PhraseRule())
