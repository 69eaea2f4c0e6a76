import numpy as np
import pytest
from gensim.corpora import Dictionary
from gensim.models.coherencemodel import CoherenceModel

from ssvi.batches.documents import Documents
from ssvi.evaluation import coherence

RNG = np.random.default_rng(0)
N_WORDS = 12
TEXTS = [RNG.integers(N_WORDS, size=length).tolist() for length in RNG.integers(3, 60, size=80)]
DISTINCT = [
    RNG.permutation(40)[:length].tolist() for length in RNG.integers(3, 40, size=200)
]  # no word twice in a text
TOPS = np.array([[0, 3, 5, 7], [11, 2, 3, 9], [4, 1, 0, 8]])
DICTIONARY = Dictionary([[str(word) for word in range(40)]])


def _gensim(measure, texts, **options):
    texts = [[str(word) for word in text] for text in texts]
    model = CoherenceModel(
        topics=[[str(word) for word in topic] for topic in TOPS],
        texts=texts,
        corpus=[DICTIONARY.doc2bow(text) for text in texts],
        dictionary=DICTIONARY,
        coherence=measure,
        processes=1,
        **options,
    )
    return model.get_coherence_per_topic()


def _documents():
    return Documents.from_matrix(np.array([np.bincount(text, minlength=N_WORDS) for text in TEXTS]))


def test_umass_agrees_with_gensim():
    occurrences = coherence.document_occurrences(_documents(), TOPS)
    np.testing.assert_allclose(coherence.umass(TOPS, occurrences), _gensim("u_mass", TEXTS), rtol=1e-10)


@pytest.mark.parametrize("window", [2, 5, 10, 1000])
def test_npmi_agrees_with_gensim(window):
    occurrences = coherence.window_occurrences(DISTINCT, TOPS, window)
    theirs = _gensim("c_npmi", DISTINCT, window_size=window)
    np.testing.assert_allclose(coherence.npmi(TOPS, occurrences), theirs, rtol=1e-8)


@pytest.mark.parametrize("window", [5, 110])
def test_c_v_agrees_with_gensim(window):
    occurrences = coherence.window_occurrences(DISTINCT, TOPS, window)
    theirs = _gensim("c_v", DISTINCT, window_size=window)
    np.testing.assert_allclose(coherence.c_v(TOPS, occurrences), theirs, rtol=1e-6)


def test_a_document_is_a_window_that_is_long_enough():
    by_document = coherence.document_occurrences(_documents(), TOPS)
    by_window = coherence.window_occurrences(TEXTS, TOPS, 10_000)
    np.testing.assert_array_equal(by_document.joint, by_window.joint)
    assert by_document.n_contexts == by_window.n_contexts == len(TEXTS)


def test_windows_agree_with_counting_them_one_by_one():
    window = 4
    joint, n = np.zeros((N_WORDS, N_WORDS)), 0
    for text in TEXTS:
        for start in range(max(1, len(text) - window + 1)):
            inside = np.isin(np.arange(N_WORDS), text[start : start + window])
            joint += np.outer(inside, inside)
            n += 1
    occurrences = coherence.window_occurrences(TEXTS, np.arange(N_WORDS)[None], window)
    np.testing.assert_array_equal(occurrences.joint, joint)
    assert occurrences.n_contexts == n


def test_words_that_always_meet_have_npmi_one_and_words_that_never_do_minus_one():
    documents = Documents.from_matrix(np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1]]))
    tops = np.array([[0, 1], [0, 2]])
    scores = coherence.npmi(tops, coherence.document_occurrences(documents, tops))
    np.testing.assert_allclose(scores, [1.0, -1.0], atol=0.06)  # the small number added to p = 0 shows


def test_top_words_and_diversity():
    topics = np.array([[0.5, 0.3, 0.2], [0.2, 0.2, 0.6]])
    assert coherence.top_words(topics, 2).tolist() == [[0, 1], [2, 0]]
    assert coherence.topic_diversity(np.array([[0, 1], [2, 0]])) == 0.75
    with pytest.raises(ValueError, match="n must be from 1 to 3"):
        coherence.top_words(topics, 4)


def test_words_that_are_not_there_are_named():
    documents = Documents.from_matrix(np.array([[1, 1, 0]]))
    with pytest.raises(ValueError, match="word 3 is outside"):
        coherence.document_occurrences(documents, np.array([[0, 3]]))
    occurrences = coherence.document_occurrences(documents, np.array([[0, 2]]))
    for measure in (coherence.npmi, coherence.c_v):
        with pytest.raises(ValueError, match="does not have"):
            measure(np.array([[0, 2]]), occurrences)
    with pytest.raises(ValueError, match="does not have"):
        coherence.umass(np.array([[2, 0]]), occurrences)
    with pytest.raises(ValueError, match="were not counted"):
        coherence.npmi(np.array([[0, 1]]), occurrences)
    with pytest.raises(ValueError, match="window must be 1 or more"):
        coherence.window_occurrences([[0]], np.array([[0]]), 0)
