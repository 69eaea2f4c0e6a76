"""Learning alpha: what local steps say of it, and where that ends."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import special

from ssvi import engine, files
from ssvi.backends.threads import Threads
from ssvi.global_steps.ssvi import Ssvi
from ssvi.local_steps.base import LocalResult
from ssvi.local_steps.lda.cvb0 import Cvb0
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.local_steps.lda.mean_field import MeanField
from ssvi.local_steps.lda.tokens import TABLE_UNIT, count_tables
from ssvi.local_steps.lda.words import expected_tables
from ssvi.models.lda import LDA, starting_alpha, usual_alpha
from ssvi.numerics.random import derive_keys
from ssvi.schedules import PowerSchedule

RNG = np.random.default_rng(0)
BETA = RNG.dirichlet(np.full(60, 0.05), 4)


def _documents(alpha, n, length=80.0):
    model, rng = LDA(60, alpha, 0.1), np.random.default_rng(1)
    counts = [rng.multinomial(rng.poisson(length), rng.dirichlet(model.alpha) @ BETA) for _ in range(n)]
    return type(model.simulate(rng, 1)[1]).from_matrix(np.array(counts))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_tables_are_differences_of_digamma(dtype):
    alpha, topics = np.array([0.1, 0.7, 2.0, 0.01], dtype), np.array([0, 1, 1, 3, 1, 0, 0, 0], np.uint32)
    tables, seen = np.zeros(5, np.int64), np.zeros(4, np.int64)
    count_tables(topics, 7, alpha, seen, tables)  # the eighth is of a longer document
    counts, exact = np.array([3, 3, 0, 1]), alpha.astype(float)
    expected = exact * (special.digamma(counts + exact) - special.digamma(exact))
    np.testing.assert_allclose(tables[:4] * TABLE_UNIT, expected, atol=8 * TABLE_UNIT)
    whole = special.digamma(7 + exact.sum()) - special.digamma(exact.sum())
    np.testing.assert_allclose(tables[4] * TABLE_UNIT, whole, atol=TABLE_UNIT)
    assert not seen.any()


@pytest.mark.parametrize("kernel", ["dense", "sparse"])
def test_both_samplers_count_the_tables_of_their_last_sweep(kernel):
    """With one sweep kept, and one document a shard, tables follow from the tallies."""
    alpha = np.array([0.2, 0.5, 0.1, 0.9])
    documents, model = _documents(alpha, 40), LDA(60, alpha, 0.1, "asymmetric")
    step, view = Gibbs(6, 1, kernel=kernel), {"topics": np.log(BETA)}
    expected = np.zeros(5)
    for d in range(40):
        own = documents.slice(d, d + 1)
        weights = Threads().map_local(step, model, view, own, derive_keys(3, 40)[d : d + 1])["weights"][0]
        counts = np.rint(weights * (own.lengths()[0] + alpha.sum()) - alpha)
        expected[:4] += alpha * (special.digamma(counts + alpha) - special.digamma(alpha))
        expected[4] += special.digamma(counts.sum() + alpha.sum()) - special.digamma(alpha.sum())
    for n_jobs in (1, 2):
        with Threads(n_jobs) as backend:
            result = backend.map_reduce(step, model, view, documents, derive_keys(3, 40), want_local=False)
        np.testing.assert_allclose(result.eta_hat["tables"] * result.scale, expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("alpha", "rule"),
    [([0.1, 0.1, 0.1, 0.1], "symmetric"), ([0.6, 0.6, 0.6, 0.6], "symmetric"), ([0.05, 0.1, 0.4, 1.0], "asymmetric")],
)
@pytest.mark.parametrize("step", [Gibbs(30, 1), MeanField(max_rounds=200)], ids=lambda step: step.name)
def test_maximum_likelihood_recovers_alpha(alpha, rule, step):
    """Topics known, 1,500 documents: the estimate is good to about 4%. (Mean-field's is biased, by up to a third.)"""
    documents, model = _documents(np.array(alpha), 1_500), LDA(60, np.full(4, 0.3), 0.1, rule)
    for number in range(20):
        keys = derive_keys(number, len(documents))
        result = Threads(2).map_reduce(step, model, {"topics": np.log(BETA)}, documents, keys, want_local=False)
        model = model.at(model.learn({}, result, 1.0))
    np.testing.assert_allclose(model.alpha, alpha, rtol=0.15 if step.name == "gibbs" else 0.35)


def test_auto_does_not_go_all_the_way_and_is_late():
    """The mean goes three quarters of the way to the most probable alpha, and rare topics lose half as much."""
    tables = LocalResult({"tables": np.array([1.0, 2.0, 3.0, 2.0, 10.0])})  # the most probable: 0.1, 0.2, 0.3, 0.2
    model = LDA(60, np.full(4, 0.25), 0.1, "auto")
    np.testing.assert_array_equal(model.learn({}, tables, 1.0, 3.0)["alpha"], model.alpha)
    mean, shape = 0.2**0.75 * usual_alpha(4) ** 0.25, np.array([0.75, 1.0, 1.5, 1.0])
    wanted = mean * shape / shape.mean()
    np.testing.assert_allclose(model.learn({}, tables, 1.0, 3.1)["alpha"], wanted)
    np.testing.assert_allclose(wanted.mean(), mean)
    np.testing.assert_allclose(model.learn({}, tables, 0.5, 3.1)["alpha"], 0.5 * (0.25 + wanted))


@pytest.mark.parametrize("batch_size", [50, 200])
def test_asymmetric_is_equal_for_all_topics_until_they_have_formed_and_does_not_wait_in_a_stream(batch_size):
    documents, model = _documents(np.array([0.2, 0.2, 0.5, 0.1]), 200), LDA(60, np.full(4, 0.2), 0.1, "asymmetric")
    spreads = {}

    def note(state, info):
        spreads[info.step * batch_size / 200] = np.ptp(state.hyperparameters["alpha"])

    problem = engine.Problem(model, Gibbs(), Ssvi(), PowerSchedule(), len(documents))
    engine.run(problem, engine.init(model, 0), documents, sweeps=7, batch_size=batch_size, callbacks=[note])
    assert all((spread == 0.0) == (sweeps <= 5.0) for sweeps, spread in spreads.items())
    assert len(spreads) == 7 * 200 // batch_size
    state, _ = replace(problem, population=None).step(engine.init(model, 0), documents.slice(0, batch_size))
    assert np.ptp(state.hyperparameters["alpha"]) > 0.0


@pytest.mark.parametrize("step", [Gibbs(), Cvb0(), MeanField()], ids=lambda step: step.name)
def test_a_fit_that_learns_alpha_goes_on_bit_for_bit_and_on_any_number_of_threads(step, tmp_path, many_tasks):
    documents, model = _documents(np.array([0.2, 0.2, 0.5, 0.1]), 200), LDA(60, np.full(4, 0.2), 0.1, "asymmetric")
    ends = []
    for n_jobs in (1, 3):
        with Threads(n_jobs) as backend:
            problem = engine.Problem(model, step, Ssvi(), PowerSchedule(), len(documents), backend=backend)
            half = engine.run(problem, engine.init(model, 0), documents, sweeps=1, batch_size=50)
            files.save_state(half, tmp_path / "half")
            ends.append(engine.run(problem, files.load_state(tmp_path / "half"), documents, sweeps=2, batch_size=50))
            ends.append(engine.run(problem, engine.init(model, 0), documents, sweeps=2, batch_size=50))
    for other in ends[1:]:
        np.testing.assert_array_equal(ends[0].hyperparameters["alpha"], other.hyperparameters["alpha"])
        np.testing.assert_array_equal(ends[0].parameters["topics"], other.parameters["topics"])
    assert not np.allclose(ends[0].hyperparameters["alpha"], 0.2)


def test_expected_tables_of_independent_tokens_are_near_the_exact_mean():
    """CVB0's q(z) has independent tokens: the number of a topic's is a sum of coins, which can be added up exactly."""
    rng, alpha = np.random.default_rng(5), np.array([0.02, 0.3, 1.0])
    model = LDA(60, alpha, 0.1, "asymmetric")
    for sharpness in (0.05, 0.5, 5.0):
        shares = rng.dirichlet(np.full(3, sharpness), 12)
        exact = np.zeros(3)
        for k in range(3):
            distribution = np.ones(1)
            for share in shares[:, k]:
                distribution = np.convolve(distribution, [1.0 - share, share])
            tables = alpha[k] * (special.digamma(np.arange(13) + alpha[k]) - special.digamma(alpha[k]))
            exact[k] = distribution @ tables
        log_absent = np.log1p(-np.minimum(shares, 1.0 - 1e-16)).sum(axis=0)
        found = expected_tables(model, shares.sum(axis=0)[None], log_absent[None])["tables"][:3]
        np.testing.assert_allclose(found, exact, rtol=0.05)


def test_cvb0_learns_an_alpha_near_the_true_one():
    """As above, with 600 documents; expected counts taken for counts led to a sum of 27 where 0.4 was true."""
    documents, model = _documents(np.full(4, 0.1), 600), LDA(60, np.full(4, 0.3), 0.1, "symmetric")
    for number in range(20):
        keys = derive_keys(number, len(documents))
        result = Threads(2).map_reduce(Cvb0(), model, {"topics": np.log(BETA)}, documents, keys, want_local=False)
        model = model.at(model.learn({}, result, 1.0))
    np.testing.assert_allclose(model.alpha, 0.1, rtol=0.25)


def test_an_alpha_that_is_to_be_the_most_probable_starts_high():
    assert starting_alpha(10, None) == starting_alpha(10, "auto") == usual_alpha(10)
    assert starting_alpha(10, "symmetric") == starting_alpha(10, "asymmetric") == 1.0
    assert starting_alpha(10_000, "symmetric") == usual_alpha(10_000) > 1e-3
