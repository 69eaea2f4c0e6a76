"""Chib-style and left-to-right estimates of log p(w | beta), against enumeration."""

import numpy as np
import pytest
from scipy import sparse
from tests.tiny import bag, enumerate_document

from ssvi.backends import Threads
from ssvi.batches.documents import Documents
from ssvi.evaluation import chib_style, document_completion, left_to_right
from ssvi.models.lda import LDA

RNG = np.random.default_rng(0)
TOPICS = RNG.dirichlet(np.full(5, 0.6), 3)
ALPHA = np.array([0.3, 0.6, 1.1])
TOKENS = [[0], [0, 1, 1, 4], [2, 2, 3, 0, 4, 1], [3, 3, 3, 3, 3]]
EXACT = np.array([enumerate_document(tokens, TOPICS, ALPHA)[0] for tokens in TOKENS])
EFFORTS = {"chib": (chib_style, "samples"), "left_to_right": (left_to_right, "particles")}
ESTIMATORS = {
    "chib": lambda effort, **kw: chib_style(TOPICS, ALPHA, bag(TOKENS, 5), samples=effort, **kw),
    "left_to_right": lambda effort, **kw: left_to_right(TOPICS, ALPHA, bag(TOKENS, 5), particles=effort, **kw),
}


@pytest.fixture(params=sorted(ESTIMATORS))
def estimator(request):
    return ESTIMATORS[request.param]


def _ratios(name, effort, topics, alpha, tokens, copies):
    """Return estimates over exact values, a row for each of so many copies of the documents, in one call.

    Draws follow from a document's words, and so each copy has words of its own, with that share of the probability.
    """
    exact = [enumerate_document(own, topics, alpha)[0] for own in tokens]
    counts = sparse.kron(sparse.eye_array(copies), bag(tokens, topics.shape[1]).to_matrix(), "csr").astype(int)
    function, parameter = EFFORTS[name]
    found = function(np.tile(topics, copies) / copies, alpha, Documents.from_matrix(counts), **{parameter: effort})
    logs = found.log_probability + found.n_words * np.log(copies)
    return np.exp(logs.reshape(copies, len(tokens)) - exact)


@pytest.mark.parametrize("name", EFFORTS)
def test_the_probability_is_estimated_without_bias(name):
    """Ratios to the exact value of 600 copies: 4 means within 4.5 standard errors, a chance of failing under 3e-5."""
    ratios = _ratios(name, 3, TOPICS, ALPHA, TOKENS, 600)
    error = ratios.std(axis=0, ddof=1) / np.sqrt(len(ratios))
    assert np.all(np.abs(ratios.mean(axis=0) - 1.0) <= 4.5 * error + 1e-12)
    assert ratios[:, 2].std() > 0.01  # it is an estimate, not a closed form


def test_more_effort_comes_closer(estimator):
    few, many = (np.abs([estimator(n, seed=s).log_probability - EXACT for s in range(20)]).mean() for n in (2, 500))
    assert many < 0.03 < few + 0.03
    assert many < few


SKEWED = np.array([0.015, 0.335, 0.05])
LONG_TOKENS = [[0, 0, 1, 1, 2, 2], [0, 1, 2, 3, 4, 4], [4, 3, 3, 0, 0, 1], [2, 2, 2, 4, 4, 0], [1, 1, 1, 3, 3, 2]]


@pytest.mark.parametrize(("particles", "copies"), [(2, 5_000), (20, 1_000), (1_000, 200)])
def test_left_to_right_is_unbiased_and_converges_where_topics_and_prior_are_skewed(particles, copies):
    """Five documents over random topics: means of ratios to the exact value within 5 standard errors.

    6e-7 a mean if they were normal; the ratios' skewness over the root of their number is at most 0.11, which makes
    that a few times as much: a chance of failing under 1e-4 for all. With 1,000 particles a standard error is below
    0.02, and an estimate that does not converge to the truth fails.
    """
    topics = np.random.default_rng(3).dirichlet(np.full(5, 0.3), 3) * 0.999 + 0.0002
    ratios = _ratios("left_to_right", particles, topics, SKEWED, LONG_TOKENS, copies)
    error = ratios.std(axis=0, ddof=1) / np.sqrt(copies)
    assert np.all(np.abs(ratios.mean(axis=0) - 1.0) <= 5 * error)
    assert particles < 1_000 or np.all(error < 0.02)


def test_left_to_right_and_chib_agree_with_enumeration_where_one_topic_almost_lacks_a_word():
    """Means over 20 seeds of ratios within 5 standard errors (19 degrees of freedom): a chance of failing of 2e-4."""
    topics, alpha = np.array([[0.25, 0.32, 0.43], [0.07, 0.005, 0.925]]), np.array([0.015, 0.335])
    exact, _ = enumerate_document([0, 0, 1, 1, 2, 2], topics, alpha)
    assert exact == pytest.approx(-10.133, abs=5e-4)
    for function, effort in ((chib_style, {"samples": 2_000}), (left_to_right, {"particles": 2_000})):
        runs = [function(topics, alpha, bag([[0, 0, 1, 1, 2, 2]], 3), seed=seed, **effort) for seed in range(20)]
        ratios = np.exp([run.log_probability[0] - exact for run in runs])
        error = ratios.std(ddof=1) / np.sqrt(len(ratios))
        assert error < 0.02
        assert abs(ratios.mean() - 1.0) <= 5 * error


def test_one_token_is_exact(estimator):
    assert estimator(2).log_probability[0] == pytest.approx(EXACT[0], rel=1e-12)


def test_words_are_counted_and_threads_do_not_matter():
    truth, documents = LDA.example().simulate(RNG, 150)
    topics = np.maximum(truth["topics"], 1e-12)
    topics /= topics.sum(axis=1, keepdims=True)
    for function in (chib_style, left_to_right):
        effort = {"samples" if function is chib_style else "particles": 2}
        results = []
        for n_jobs in (1, 2, 4):
            with Threads(n_jobs) as backend:
                results.append(function(topics, np.full(4, 0.3), documents, backend=backend, **effort))
        np.testing.assert_array_equal(results[0].n_words, documents.lengths())
        for other in results[1:]:
            np.testing.assert_array_equal(results[0].log_probability, other.log_probability)


def test_empty_documents_are_certain(estimator):
    for function in (chib_style, left_to_right):
        result = function(TOPICS, ALPHA, bag([[], [1]], 5))
        assert result.log_probability[0] == 0
        assert result.n_words.tolist() == [0, 1]


BAD = [
    ({"topics": TOPICS * 1.1}, "topic 0 sums to 1.1"),
    ({"topics": TOPICS * np.nan}, "must be a probability distribution"),
    (
        {"topics": TOPICS[:, :4] / TOPICS[:, :4].sum(axis=1, keepdims=True)},
        "vocabulary of 5 words and the topics one of 4",
    ),
    (
        {"documents": np.array([[1, 0, 2, 0, 0], [3, 0, -1, -2, 0]])},
        "Negative values in data passed to a held-out estimator: -2 at row 1, column 3; counts must be 0 or more",
    ),
    ({"alpha": ALPHA[:2]}, "one alpha for each topic"),
    ({"alpha": -ALPHA}, "every alpha must be a positive number"),
    (
        {"topics": np.array([[0.5, 0.5, 0, 0, 0]] * 3)},
        "word 4 is in the documents and has probability 0 in every topic",
    ),
]


@pytest.mark.parametrize("function", [chib_style, left_to_right, document_completion])
@pytest.mark.parametrize(("changes", "message"), BAD, ids=lambda value: str(value)[:30])
def test_bad_input_gets_a_clear_error(function, changes, message):
    arguments = {"topics": TOPICS, "alpha": ALPHA, "documents": bag(TOKENS, 5), **changes}
    with pytest.raises(ValueError, match=message):
        function(**arguments)


@pytest.mark.parametrize("function", [chib_style, left_to_right])
def test_fractions_have_no_marginal_probability(function):
    with pytest.raises(ValueError, match="needs whole counts"):
        function(TOPICS, ALPHA, Documents.from_matrix(np.full((1, 5), 0.5)))


@pytest.mark.parametrize("function", [chib_style, left_to_right, document_completion])
def test_a_topic_may_lack_a_word(function):
    topics = np.array([[0.5, 0.5, 0, 0, 0], [0, 0, 0.2, 0.4, 0.4], [0, 0, 0.8, 0.1, 0.1]])
    result = function(topics, ALPHA, bag(TOKENS, 5))
    assert np.isfinite(result.log_probability).all()


def test_matrices_are_documents_too():
    counts = np.array([[1, 2, 0, 0, 1], [0, 0, 3, 0, 0]])
    for function in (chib_style, left_to_right, document_completion):
        given = function(TOPICS, ALPHA, Documents.from_matrix(counts))
        np.testing.assert_array_equal(function(TOPICS, ALPHA, counts).log_probability, given.log_probability)


def test_efforts_are_positive():
    with pytest.raises(ValueError, match="samples must be an integer of 1 or more"):
        chib_style(TOPICS, ALPHA, bag(TOKENS, 5), samples=0)
    with pytest.raises(ValueError, match="particles must be an integer of 1 or more"):
        left_to_right(TOPICS, ALPHA, bag(TOKENS, 5), particles=0)
