"""Hierarchical Dirichlet topics: tables, what is learned of alpha and gamma, and how a fit begins."""

import itertools

import numpy as np
import pytest
from scipy import special

from ssvi import engine, files
from ssvi.backends.threads import Threads
from ssvi.global_steps.ssvi import Ssvi
from ssvi.local_steps.base import LocalResult
from ssvi.local_steps.hdp.cvb0 import Cvb0
from ssvi.local_steps.hdp.gibbs import Gibbs
from ssvi.local_steps.hdp.mean_field import MeanField
from ssvi.models.hdp import HDP, usual_concentrations
from ssvi.models.lda import usual_alpha
from ssvi.numerics.random import derive_keys
from ssvi.schedules import PowerSchedule


def _log_likelihood_of_tables(tables, growth):
    """log p(m | gamma) but for what does not depend on gamma, pi ~ Dirichlet(gamma / T) integrated out."""
    share, total = growth / len(tables), tables.sum()
    of_topics = special.gammaln(share + tables) - special.gammaln(share)
    return special.gammaln(growth) - special.gammaln(growth + total) + of_topics.sum()


def _result(tables, lengths):
    return LocalResult({"weights": tables[None], "lengths": np.array([lengths])})


def test_learned_gamma_is_where_the_likelihood_of_the_tables_is_greatest():
    tables = np.array([120.0, 40.0, 9.0, 1.5, 0.2, 0.0, 0.0, 0.0])
    model = HDP(30, 8, 1.0, 3.0, 0.1, ("growth",))
    for _ in range(2_000):
        model = model.at(model.learn({}, _result(tables, 50.0), 1.0))
    grid = np.geomspace(0.01, 100.0, 20_001)
    best = grid[np.argmax([_log_likelihood_of_tables(tables, growth) for growth in grid])]
    np.testing.assert_allclose(model.growth, best, rtol=1e-3)
    assert model.concentration == 1.0


def test_learned_alpha_is_where_the_likelihood_of_the_topics_is_greatest():
    """Counts of topics in documents are fixed: their likelihood is a Dirichlet-multinomial's, at alpha pi."""
    rng, weights = np.random.default_rng(0), np.array([0.5, 0.3, 0.15, 0.05])
    lengths = rng.integers(5, 60, 200)
    counts = np.array([rng.multinomial(n, rng.dirichlet(2.5 * weights)) for n in lengths])

    def log_likelihood(alpha):
        a = alpha * weights
        of_topics = (special.gammaln(a + counts) - special.gammaln(a)).sum()
        return of_topics + (special.gammaln(alpha) - special.gammaln(alpha + lengths)).sum()

    model = HDP(30, 4, 1.0, 3.0, 0.1, ("concentration",))
    for _ in range(500):
        a = model.concentration * weights
        tables = (a * (special.digamma(counts + a) - special.digamma(a))).sum(axis=0)
        documents = (special.digamma(lengths + a.sum()) - special.digamma(a.sum())).sum()
        model = model.at(model.learn({}, _result(tables, documents), 1.0))
    grid = np.geomspace(0.5, 10.0, 20_001)
    np.testing.assert_allclose(model.concentration, grid[np.argmax([log_likelihood(a) for a in grid])], rtol=1e-3)


def test_half_way_alpha_goes_to_the_mean_of_what_is_probable_and_what_is_usual():
    result = _result(np.array([30.0, 10.0, 5.0, 3.0, 2.0]), 100.0)
    model = HDP(30, 5, 1.0, 3.0, 0.1, ("concentration",), half_way=True)
    wanted = np.sqrt(0.5 * usual_concentrations(5)[0])
    np.testing.assert_allclose(model.learn({}, result, 0.5)["concentration"], 0.5 + 0.5 * wanted)


def test_half_way_eta_goes_to_the_mean_of_what_is_probable_and_what_is_usual():
    """Tables whose likelihood is normal in log eta, around log 0.08: curvature 100, slope 100 log(0.08 / eta).

    The four sums are tables, squares, expected tables and expected squares: slope = tables - expected, curvature =
    (expected - expected squares) - (tables - squares).
    """
    model = HDP(30, 5, 1.0, 3.0, 0.1, ("eta",), half_way=True)
    for _ in range(200):
        slope = 100.0 * np.log(0.08 / model.eta)
        sums = np.array([500.0 + slope, 400.0 + slope, 500.0, 300.0])
        eta_hat = {**_result(np.ones(5), 100.0).eta_hat, "word_tables": sums}
        model = model.at(model.learn({}, LocalResult(eta_hat), 0.25))
    np.testing.assert_allclose(model.eta, np.sqrt(0.08 * 1 / 5), rtol=1e-6)


def test_empty_documents_teach_nothing():
    model = HDP(30, 4, 1.0, 3.0, 0.1, ("concentration", "growth"))
    assert model.learn({}, _result(np.zeros(4), 0.0), 0.5) == {}


def test_a_fit_begins_as_lda_and_ends_as_itself():
    """Evenness falls by its timetable, where a step takes rho / even_for; others move by (1 - evenness) rho."""
    concentration, growth = usual_concentrations(5)
    model = HDP(30, 5, concentration, growth, 0.1, ("concentration", "growth"), evenness=1.0, even_for=2.0)
    log_weights = np.log([0.6, 0.2, 0.1, 0.06, 0.04])
    np.testing.assert_allclose(model.given(log_weights).alpha, usual_alpha(5))
    result = _result(np.array([30.0, 10.0, 5.0, 3.0, 2.0]), 100.0)
    first = model.at(model.learn({}, result, 0.5))
    assert (first.concentration, first.growth) == (concentration, growth)
    np.testing.assert_allclose(first.evenness, 1.0 - 0.7 * 0.25 / 0.53)  # after a quarter of the time
    second = first.at(first.learn({}, result, 1.0))
    np.testing.assert_allclose(second.evenness, 0.3 - 0.1 * (0.75 - 0.53) / 0.34)
    pace = 1.0 - first.evenness
    np.testing.assert_allclose(second.concentration, concentration + pace * (0.5 - concentration))
    last = second.at(second.learn({}, result, 1.0))
    assert last.evenness == 0.0
    np.testing.assert_allclose(last.given(log_weights).alpha, last.concentration * np.exp(log_weights))


def test_weights_of_nothing_keep_alpha_in_range():
    model = HDP(30, 2, 1.0, 1.0, 0.1)
    np.testing.assert_array_equal(model.given(np.array([0.0, -np.inf])).alpha, [1.0, 1e-10])


@pytest.mark.parametrize("step", [Gibbs(), Cvb0(), MeanField()], ids=lambda step: step.name)
def test_a_fit_goes_on_bit_for_bit_and_on_any_number_of_threads(step, tmp_path, many_tasks):
    _, documents = HDP(60, 4, 1.0, 4.0, 0.1).simulate(np.random.default_rng(1), 120)
    model = HDP(60, 9, 2.0, 5.0, 0.1, ("concentration", "growth"), evenness=1.0, even_for=1.0)
    ends = []
    for n_jobs in (1, 3):
        with Threads(n_jobs) as backend:
            problem = engine.Problem(model, step, Ssvi(averaging=7), PowerSchedule(), len(documents), backend=backend)
            half = engine.run(problem, engine.init(model, 0), documents, sweeps=1, batch_size=40)
            files.save_state(half, tmp_path / "half")
            ends.append(engine.run(problem, files.load_state(tmp_path / "half"), documents, sweeps=2, batch_size=40))
            ends.append(engine.run(problem, engine.init(model, 0), documents, sweeps=2, batch_size=40))
    for first, other in itertools.pairwise(ends):
        assert first.hyperparameters == other.hyperparameters
        for name in ("weights", "topics"):
            np.testing.assert_array_equal(first.parameters[name], other.parameters[name])
            np.testing.assert_array_equal(first.averages[name], other.averages[name])


def test_weights_of_simulated_documents_are_recovered_where_topics_are_known():
    """Coordinate ascent on the weights alone. Of 2,000 documents with some 4,000 tables each weight is known to 3%."""
    truth = HDP(60, 4, 1.5, 4.0, 0.05)
    rng = np.random.default_rng(2)
    values = {"weights": np.array([[0.55, 0.25, 0.15, 0.05]]), "topics": rng.dirichlet(np.full(60, 0.05), 4)}
    _, documents = truth.simulate(rng, 2_000, values=values)
    model, views = HDP(60, 4, 3.0, 4.0, 0.05, ("concentration",)), {"topics": np.log(values["topics"])}
    lam = np.full(4, 100.0)
    for number in range(25):
        result = Threads(2).map_reduce(
            Gibbs(20, 1), model, {**views, "weights": np.log(lam / lam.sum())[None]}, documents,
            derive_keys(number, len(documents)), want_local=False,
        )  # fmt: skip
        lam = model.blocks()["weights"].prior[0] + result.eta_hat["weights"][0] * result.scale
        model = model.at(model.learn({}, result, 1.0))
    np.testing.assert_allclose(lam / lam.sum(), values["weights"][0], rtol=0.12)
    np.testing.assert_allclose(model.concentration, 1.5, rtol=0.12)
