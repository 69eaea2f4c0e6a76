"""SGRLD: its step against the formula, and its path against a posterior that is known."""

import numpy as np
import pytest

from ssvi import engine, tasks
from ssvi.backends import Threads
from ssvi.backends.shards import shards
from ssvi.baselines import Sgrld
from ssvi.baselines.sgrld import langevin, langevin_schedule
from ssvi.batches.documents import Documents
from ssvi.models.lda import LDA
from ssvi.numerics.random import derive_keys, normal
from ssvi.schedules import ConstantSchedule

RNG = np.random.default_rng(0)


def test_a_step_is_the_formula():
    theta, counts = RNG.gamma(0.3, 1.0, (4, 7)), RNG.poisson(20.0, (4, 7)).astype(float)
    keys, moved = derive_keys(3, 4), np.empty((4, 7))
    langevin(theta, counts, 0.2, 0.05, keys, moved)
    phi = theta / theta.sum(axis=1, keepdims=True)
    for k in range(4):
        state = keys[k]
        for w in range(7):
            noise, state = normal(np.uint64(state))
            gradient = 0.2 - theta[k, w] + counts[k, w] - phi[k, w] * counts[k].sum()
            expected = abs(theta[k, w] + 0.025 * gradient + np.sqrt(theta[k, w] * 0.05) * noise)
            assert moved[k, w] == pytest.approx(expected, rel=1e-12)


def test_small_steps_sample_the_posterior():
    """Counts are fixed, so phi ~ Dirichlet(eta + counts): 4,000 independent chains, run until they have forgotten.

    Means and variances of 3 coordinates over 4,000 draws, 6 comparisons at 5 standard errors (a chance of failing under
    4e-6) and an allowance for the discretisation, which is of the order of the step.
    """
    chains, counts, eta, step = 4_000, np.array([5.0, 2.0, 0.0]), 1.5, 0.01
    theta = RNG.gamma(1.0, 1.0, (chains, 3)) + 0.1
    for number in range(1_200):  # the slowest direction forgets at the rate step / 2: exp(-6)
        moved = np.empty_like(theta)
        langevin(theta, np.tile(counts, (chains, 1)), eta, step, derive_keys(number, chains), moved)
        theta = moved
    phi = theta / theta.sum(axis=1, keepdims=True)
    shape = eta + counts
    mean = shape / shape.sum()
    variance = mean * (1 - mean) / (shape.sum() + 1)
    assert np.all(np.abs(phi.mean(axis=0) - mean) < 5 * np.sqrt(variance / chains) + 0.003)
    # The relative standard error of a variance is sqrt((2 + excess kurtosis) / chains); the largest excess kurtosis is
    # that of Beta(1.5, 10), 1.43.
    assert np.all(np.abs(phi.var(axis=0) / variance - 1) < 5 * np.sqrt(3.5 / chains) + 0.03)


def test_with_one_topic_the_average_is_the_posterior_mean():
    """With one topic z is known and beta | w ~ Dirichlet(eta + counts); the path's average approaches its mean."""
    counts = np.array([[6, 3, 1, 0]])
    algorithm = Sgrld(LDA(4, np.ones(1), 1.0), population=1, schedule=ConstantSchedule(0.05))
    batches = (Documents.from_matrix(counts) for _ in range(6_000))
    state = engine.follow(algorithm, algorithm.init(0), batches)
    # theta forgets at the rate step / 2, and faster where there are counts, so that draws 40 steps apart are nearly
    # independent: 150 of them, of which the weights of the average leave three quarters, with a standard deviation of
    # at most sqrt(0.25 / 15). Four comparisons at 0.06, 5 standard errors: a chance of failing under 3e-6.
    assert algorithm.mean_topics(state)[0] == pytest.approx(np.array([7, 4, 2, 1]) / 14, abs=0.06)


def test_any_number_of_threads_gives_the_same_bits(many_tasks):
    model = LDA.example()
    _, documents = model.simulate(np.random.default_rng(1), 300)
    assert len(tasks.row_tasks((4, 30))) == 4
    assert len(shards(documents.costs()[:100])) == 8
    states = []
    for jobs in (1, 2):
        with Threads(jobs) as backend:
            algorithm = Sgrld(model, len(documents), backend=backend)
            states.append(engine.run(algorithm, algorithm.init(0), documents, sweeps=2, batch_size=100))
    np.testing.assert_array_equal(states[0].parameters["topics"], states[1].parameters["topics"])
    np.testing.assert_array_equal(states[0].averages["topics"], states[1].averages["topics"])
    assert states[0].step == 6


def test_it_learns_topics():
    """About one start in five ends with two topics in one: fewer than two good starts of five have a chance of 0.7%."""
    model = LDA(30, np.full(4, 0.1), 0.05)
    truth, documents = model.simulate(np.random.default_rng(2), 600)
    algorithm = Sgrld(model, len(documents), langevin_schedule(first=0.02))
    found = []
    for seed in range(5):
        state = engine.run(algorithm, algorithm.init(seed), documents, sweeps=40, batch_size=100)
        correlations = np.corrcoef(algorithm.mean_topics(state), truth["topics"])[:4, 4:]
        found.append((correlations.max(axis=0) > 0.9).sum())
    assert found.count(4) >= 2


@pytest.mark.parametrize(
    ("averaging", "weights"),
    [
        (1.0, [1 / 6, 2 / 6, 3 / 6]),
        # The second of three counts 3 / 4 of the first two, and the third 3 / 5 of all: t (t + 1) / 20.
        (2.0, [2 / 20, 6 / 20, 12 / 20]),
        (0.0, [0, 0, 1]),
    ],
)
def test_later_topics_weigh_more_in_the_mean(averaging, weights):
    model = LDA.example()
    _, documents = model.simulate(np.random.default_rng(3), 90)
    algorithm, path = Sgrld(model, 90, averaging=averaging), []

    def keep(state, info):
        path.append(state)

    state = engine.run(algorithm, algorithm.init(0), documents, sweeps=1, batch_size=30, callbacks=[keep])
    topics = [s.parameters["topics"] / s.parameters["topics"].sum(axis=1, keepdims=True) for s in path]
    np.testing.assert_allclose(algorithm.mean_topics(state), np.tensordot(weights, topics, 1))


def test_an_average_that_makes_no_sense_is_refused():
    with pytest.raises(ValueError, match="averaging must be "):
        Sgrld(LDA.example(), 90, averaging=-1.0)


@pytest.mark.parametrize("bad", [{"first": 0.0}, {"first": 5.0}, {"delay": 0.0}, {"decay": -1.0}])
def test_steps_that_make_no_sense_are_refused(bad):
    with pytest.raises(ValueError, match=f"{next(iter(bad))} must be a "):
        langevin_schedule(**bad)


def test_its_schedule():
    schedule = langevin_schedule(0.02, 500.0, 0.55)
    assert schedule(1) == pytest.approx(0.02 * (1 + 1 / 500) ** -0.55)
    assert schedule(5_000) == pytest.approx(0.02 * 11**-0.55)


def test_it_takes_one_eta():
    with pytest.raises(ValueError, match="SGRLD takes one eta for all words and topics"):
        Sgrld(LDA(5, np.full(2, 0.1), np.ones(5)), 10)
