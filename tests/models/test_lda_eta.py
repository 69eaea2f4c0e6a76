"""Learning eta: what local steps say of it, and where that ends."""

import numpy as np
import pytest
from scipy import special, stats

from ssvi import engine, files
from ssvi.backends.threads import Threads
from ssvi.batches.documents import Documents
from ssvi.global_steps.mean_field import MeanField as MeanFieldRule
from ssvi.global_steps.ssvi import Ssvi
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.base import LocalResult
from ssvi.local_steps.lda.cvb0 import Cvb0
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.local_steps.lda.mean_field import MeanField
from ssvi.local_steps.lda.tokens import TABLE_UNIT, UNIT_OF_TOKENS, add_tokens, count_word_tables
from ssvi.models.lda import LARGEST_ETA, LDA
from ssvi.numerics.random import derive_keys
from ssvi.schedules import PowerSchedule

WORDS, TOPICS, ETA = 200, 4, 0.1
RNG = np.random.default_rng(0)
BETA = RNG.dirichlet(np.full(WORDS, ETA), TOPICS)
VIEW = {"topics": np.log(np.maximum(BETA, 1e-300))}
STEPS = [Gibbs(10, 1), Cvb0(), MeanField()]


def _documents(n, length=60.0, seed=1):
    rng = np.random.default_rng(seed)
    counts = [rng.multinomial(rng.poisson(length), rng.dirichlet(np.full(TOPICS, 0.2)) @ BETA) for _ in range(n)]
    return Documents.from_matrix(np.array(counts))


def _tokens(counts):
    """Tokens of topics x words counts, in an order of no meaning."""
    tokens = np.repeat(np.arange(counts.size), counts.reshape(-1))
    return np.random.default_rng(2).permutation(tokens)


def _log_likelihood(counts, eta):
    """The probability of each topic's counts given how many there are, from a library that knows nothing of urns."""
    prior = np.full(counts.shape[1], eta)
    return sum(stats.dirichlet_multinomial.logpmf(row, prior, row.sum()) for row in counts)


@pytest.mark.parametrize("eta", [0.02, 0.7])
def test_tables_have_the_slope_and_the_curvature_of_the_likelihood(eta):
    counts = np.array([RNG.multinomial(90, RNG.dirichlet(np.full(30, 0.3))) for _ in range(3)])
    tables = np.zeros(4, np.int64)
    count_word_tables(_tokens(counts), 30, np.array([eta, 30.0]), tables)
    seen, squares, unseen, unseen_squares = tables * TABLE_UNIT
    step = 1e-4
    low, middle, high = (_log_likelihood(counts, eta * np.exp(away)) for away in (-step, 0.0, step))
    np.testing.assert_allclose(seen - unseen, (high - low) / (2 * step), rtol=1e-3)
    curvature = (unseen - unseen_squares) - (seen - squares)
    np.testing.assert_allclose(curvature, -(high - 2 * middle + low) / step**2, rtol=1e-2)


def test_tables_are_differences_of_digamma():
    counts, eta, tables = np.array([[5, 0, 1], [0, 0, 2]]), 0.4, np.zeros(4, np.int64)
    count_word_tables(_tokens(counts), 3, np.array([eta, 7.0]), tables)  # a vocabulary of which 3 are in the minibatch
    seen = eta * (special.digamma(counts + eta) - special.digamma(eta)).sum()
    total, lengths = 7 * eta, counts.sum(axis=1)
    unseen = total * (special.digamma(lengths + total) - special.digamma(total)).sum()
    np.testing.assert_allclose(tables[[0, 2]] * TABLE_UNIT, [seen, unseen], atol=8 * TABLE_UNIT)


def test_a_unit_is_counted_when_it_is_full():
    words, topics = np.array([3, 3, 1, 3, 1], np.uint32), np.array([0, 0, 1, 0, 1], np.uint32)
    prior, unit, tables = np.array([0.5, 10.0]), np.zeros(3, np.int64), np.zeros(4, np.int64)
    filled = add_tokens(words, topics, 5, 10, prior, unit, 0, tables)
    assert filled == 2
    first = np.zeros(4, np.int64)
    count_word_tables(np.array([3, 3, 11]), 10, prior, first)
    np.testing.assert_array_equal(tables, first)
    expected = 1.0 + 0.5 / 1.5 + 1.0
    np.testing.assert_allclose(tables[0] * TABLE_UNIT, expected, atol=3 * TABLE_UNIT)


@pytest.mark.parametrize("kernel", ["dense", "sparse"])
def test_both_samplers_count_the_tables_of_their_last_sweep(kernel):
    """With one sweep kept, in a single shard and unit, tables follow from the counts of words."""
    documents, model = _documents(3, 40.0), LDA(WORDS, np.full(TOPICS, 0.2), 0.3, learns_eta=True)
    assert documents.counts.sum() < UNIT_OF_TOKENS * TOPICS
    result = Threads().map_reduce(
        Gibbs(6, 1, kernel=kernel, statistics="drawn"), model, VIEW, documents, derive_keys(0, 3)
    )
    counts = np.rint(result.eta_hat["topics"] * result.scale)
    seen = 0.3 * (special.digamma(counts + 0.3) - special.digamma(0.3)).sum()
    lengths, total = counts.sum(axis=1), 0.3 * WORDS
    unseen = total * (special.digamma(lengths + total) - special.digamma(total)).sum()
    np.testing.assert_allclose(result.eta_hat["word_tables"][[0, 2]] * result.scale, [seen, unseen], rtol=1e-5)


@pytest.mark.parametrize("step", [Cvb0(), MeanField()], ids=lambda step: step.name)
def test_steps_without_draws_draw_topics_for_eta(step):
    """Topics that share no word are certain, and a fraction of a token is one or none.

    24 tokens of a word whose topic is certain are one table and the rest copies.
    """
    apart = {"topics": np.log(np.array([[1.0, 1e-300], [1e-300, 1.0]]))}
    model = LDA(2, np.full(2, 0.5), 0.25, learns_eta=True)
    documents = Documents.from_matrix(np.array([[24.0, 0.0], [0.0, 2.0]]))
    tables = Threads().map_reduce(step, model, apart, documents, derive_keys(0, 2)).eta_hat["word_tables"]
    expected = [sum(0.25 / (0.25 + i) for i in range(n)) for n in (24, 2)]
    np.testing.assert_allclose(tables[0], sum(expected), atol=1e-5)
    fractions = Documents.from_matrix(np.full((400, 2), 0.25))
    # Each of 800 entries is a token by a chance of a quarter: 200 of them, with a deviation of 12.
    flat = LDA(2, np.full(2, 0.5), LARGEST_ETA, learns_eta=True)  # where every token is a table
    tables = Threads().map_reduce(step, flat, apart, fractions, derive_keys(0, 400)).eta_hat["word_tables"]
    assert 140 < tables[0] < 260


@pytest.mark.parametrize(("step", "start"), [(STEPS[0], 0.01), (STEPS[1], 1.0), (STEPS[2], 0.3)])
def test_maximum_likelihood_recovers_eta(step, start):
    """Topics known, 400 documents: the estimate is good to about 4% (some 2,500 tokens that repeat another)."""
    documents, model = _documents(400), LDA(WORDS, np.full(TOPICS, 0.2), start, learns_eta=True)
    for number in range(10):
        result = Threads().map_reduce(step, model, VIEW, documents, derive_keys(number, 400), want_local=False)
        model = model.at(model.learn({}, result, 1.0))
    assert abs(np.log(model.eta / ETA)) < 0.15


def test_eta_waits_for_the_first_sweep_and_an_empty_minibatch_changes_nothing():
    model = LDA(WORDS, np.full(TOPICS, 0.2), 0.3, learns_eta=True)
    result = LocalResult({"word_tables": np.array([10.0, 5.0, 20.0, 8.0])})
    assert model.learn({}, result, 0.5, 0.99)["eta"] == 0.3
    assert model.learn({}, result, 0.5, 1.0)["eta"] < 0.3
    assert model.learn({}, LocalResult({"word_tables": np.zeros(4)}), 0.5, 1.0)["eta"] == 0.3


def test_a_step_is_bounded_and_so_is_eta():
    one_way = LocalResult({"word_tables": np.array([100.0, 99.0, 1.0, 0.5])})
    model = LDA(WORDS, np.full(TOPICS, 0.2), 0.3, learns_eta=True)
    np.testing.assert_allclose(model.learn({}, one_way, 1.0)["eta"], 0.3 * np.e)
    top = LDA(WORDS, np.full(TOPICS, 0.2), LARGEST_ETA, learns_eta=True)
    assert top.learn({}, one_way, 1.0)["eta"] == LARGEST_ETA


@pytest.mark.parametrize(
    ("step", "rule"),
    [(STEPS[0], Ssvi()), (STEPS[1], SsviA(averaging=2.0)), (STEPS[2], MeanFieldRule())],
    ids=lambda value: value.name,
)
def test_a_fit_that_learns_eta_goes_on_bit_for_bit_and_on_any_number_of_threads(step, rule, tmp_path, many_tasks):
    documents = _documents(100)
    model, ends = LDA(WORDS, np.full(TOPICS, 0.2), 0.5, "symmetric", learns_eta=True), []
    for n_jobs in (1, 3):
        with Threads(n_jobs) as backend:
            problem = engine.Problem(model, step, rule, PowerSchedule(), len(documents), backend=backend)
            half = engine.run(problem, engine.init(model, 0), documents, sweeps=2, batch_size=40)
            files.save_state(half, tmp_path / "half")
            ends.append(engine.run(problem, files.load_state(tmp_path / "half"), documents, sweeps=3, batch_size=40))
            ends.append(engine.run(problem, engine.init(model, 0), documents, sweeps=3, batch_size=40))
    for other in ends[1:]:
        for name in ("alpha", "eta"):
            np.testing.assert_array_equal(ends[0].hyperparameters[name], other.hyperparameters[name])
        np.testing.assert_array_equal(ends[0].parameters["topics"], other.parameters["topics"])
        np.testing.assert_array_equal(ends[0].estimate["topics"], other.estimate["topics"])
    assert ends[0].hyperparameters["eta"] < 0.4
