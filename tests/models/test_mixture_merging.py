"""Components of a mixture are merged where that makes the bound grow, and nowhere else."""

import numpy as np
import pytest
from scipy.special import xlogy
from sklearn.datasets import load_digits

from ssvi import BernoulliMixture, engine
from ssvi.backends.threads import Threads
from ssvi.batches import DenseRows
from ssvi.batches.documents import Documents
from ssvi.engine import Problem
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.bernoulli_mixture.exact import Exact
from ssvi.local_steps.bernoulli_mixture.gibbs import Gibbs
from ssvi.local_steps.gaussian_mixture.exact import Exact as GaussianExact
from ssvi.models.bernoulli_mixture import BernoulliMixture as Model
from ssvi.models.gaussian_mixture import GaussianMixture as Gaussians
from ssvi.models.mixture_merging import gains_of_merging, merging
from ssvi.models.rearranging import Look
from ssvi.schedules import ConstantSchedule


def _clusters(rng, sizes, features=30):
    """Return binary rows of clusters that are far apart, and the cluster of each."""
    means = np.where(rng.random((len(sizes), features)) < 0.5, 0.1, 0.9)
    labels = np.repeat(np.arange(len(sizes)), sizes)
    return (rng.random((len(labels), features)) < means[labels]).astype(int), labels


def _after(rows, probabilities, model):
    """Return lambda of a mixture whose rows have components by some probabilities."""
    ones, held = probabilities.T @ rows, probabilities.sum(axis=0)
    counts = np.stack([ones, held[:, None] - ones], axis=-1)
    priors = {name: block.prior for name, block in model.blocks().items()}
    return {"weights": priors["weights"] + held[None], "components": priors["components"] + counts}


def _bound(model, lam, probabilities):
    """Return the bound that lambda and the probabilities of components have together, but for a constant."""
    total = -xlogy(probabilities, probabilities).sum()
    for name, block in model.blocks().items():
        prior = np.broadcast_to(block.prior, block.shape)
        total += ((lam[name] - prior) * block.family.mean_stats(lam[name])).sum()
        total += block.family.negative_divergence(lam[name], prior).sum()
    return total


def _merged(lam, probabilities, model, pair):
    """Return lambda and probabilities with the second of a pair in the first."""
    stays, copy = pair
    new = {name: np.array(own) for name, own in lam.items()}
    priors = {name: np.broadcast_to(block.prior, block.shape) for name, block in model.blocks().items()}
    new["weights"][0, stays] += lam["weights"][0, copy] - priors["weights"][0, copy]
    new["weights"][0, copy] = priors["weights"][0, copy]
    new["components"][stays] += lam["components"][copy] - priors["components"][copy]
    new["components"][copy] = priors["components"][copy]
    joined = np.array(probabilities)
    joined[:, stays] += joined[:, copy]
    joined[:, copy] = 0.0
    return new, joined


def test_gains_are_those_of_the_bound():
    rng = np.random.default_rng(0)
    model, rows = Model(6, 4, 2.0, (0.7, 1.3)), rng.integers(0, 2, (25, 6))
    probabilities = rng.dirichlet(np.full(4, 0.3), 25)
    lam = _after(rows, probabilities, model)
    pairs = np.array([[0, 1], [2, 1], [3, 0]])
    gains = gains_of_merging(model.blocks(), lam, probabilities, pairs)
    before = _bound(model, lam, probabilities)
    after = [_bound(model, *_merged(lam, probabilities, model, pair)) for pair in pairs]
    np.testing.assert_allclose(gains, np.array(after) - before, rtol=1e-9)


@pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
def test_gains_of_gaussians_are_those_of_the_bound(kind):
    rng = np.random.default_rng(1)
    model, rows = Gaussians(2, 3, 0.5, kind), DenseRows(rng.normal(size=(40, 2)))
    step, start = GaussianExact(), model.init(rng)
    views = {name: block.family.mean_stats(start[name]) for name, block in model.blocks().items()}
    with Threads(1) as backend:
        result = backend.map_reduce(step, model, views, rows, np.arange(40, dtype=np.uint64), want_local=True)
    lam = {name: block.prior + result.eta_hat[name] for name, block in model.blocks().items()}
    probabilities, pairs = result.local["responsibilities"], np.array([[0, 1], [1, 2]])
    gains = gains_of_merging(model.blocks(), lam, probabilities, pairs)
    before = _bound(model, lam, probabilities)
    after = [_bound(model, *_merged(lam, probabilities, model, pair)) for pair in pairs]
    np.testing.assert_allclose(gains, np.array(after) - before, rtol=1e-6)


def test_halves_of_a_cluster_are_merged_and_clusters_are_not():
    rng = np.random.default_rng(2)
    rows, labels = _clusters(rng, [40, 30, 20])
    model = Model(30, 5, 1.0)
    halves = np.where((labels == 0) & (rng.random(len(labels)) < 0.4), 3, labels)  # the last component has no rows
    probabilities = np.eye(5)[halves]
    change = merging(model.blocks(), _after(rows, probabilities, model), probabilities)
    assert change is not None
    assert change.pairs == ((0, 3),)
    whole = np.eye(5)[labels]
    assert merging(model.blocks(), _after(rows, whole, model), whole) is None
    after = change.of(_after(rows, probabilities, model), model.blocks())
    for name, lam in _after(rows, whole, model).items():
        np.testing.assert_allclose(after[name], lam, rtol=1e-12)


def test_a_model_merges_by_the_probabilities_of_some_rows():
    rng = np.random.default_rng(3)
    rows, labels = _clusters(rng, [40, 40])
    model, probabilities = Model(30, 3, 1.0), np.full((80, 3), 0.5)
    probabilities[:, 1] = 0.0
    probabilities[labels == 1] = [0.0, 1.0, 0.0]  # components 0 and 2 have half of each row of the first cluster
    lam = _after(rows, probabilities, model)
    change = model.rearrangement(
        lam.__getitem__, Look(Documents.from_matrix(rows), lambda: {"responsibilities": probabilities})
    )
    assert change is not None
    assert change.pairs == ((0, 2),)


def test_one_component_has_nobody_to_be_merged_with():
    model = Model(6, 3, 1.0)
    probabilities = np.eye(3)[np.zeros(10, dtype=int)]
    assert merging(model.blocks(), _after(np.ones((10, 6)), probabilities, model), probabilities) is None


def test_draws_are_looked_at_as_probabilities():
    assert Gibbs().expected() == Exact()
    assert Exact().expected() == Exact()


def test_the_engine_merges_every_so_many_sweeps_and_goes_on_the_same_from_any_state():
    rng = np.random.default_rng(4)
    rows, labels = _clusters(rng, [30, 30])
    documents, model = Documents.from_matrix(rows), Model(30, 4, 1.0)
    start = _after(rows, np.eye(4)[labels + 2 * (np.arange(60) % 2)], model)  # each cluster in two
    infos, states = [], []
    problem = Problem(
        model, Gibbs(), SsviA(averaging=3.0), ConstantSchedule(0.1), 60, rearranges=(2.0, 5.0), rearranges_every=2
    )
    end = engine.run(
        problem, engine.State(0, 0, 0, start), documents, sweeps=6, batch_size=30,
        callbacks=[lambda s, i: infos.append(i) or states.append(s)],
    )  # fmt: skip
    assert [info.merged for info in infos if info.merged] == [2]
    assert infos[3].merged == 2  # after the second sweep
    again = engine.run(problem, states[4].complete(), documents, sweeps=6, batch_size=30)
    np.testing.assert_array_equal(again.estimate["components"], end.estimate["components"])


def test_an_estimator_merges_if_it_is_told_to_and_reports_it():
    rows = load_digits().data[:300] > 7
    options = {"n_components": 40, "max_iter": 60, "random_state": 0}
    apart = BernoulliMixture(**options).fit(rows)
    fits = [BernoulliMixture(merge_copies=True, n_jobs=jobs, **options).fit(rows) for jobs in (1, 2)]
    np.testing.assert_array_equal(fits[0].means_, fits[1].means_)
    merged = sum(info.merged for info in fits[0].history_)
    assert merged > 0
    assert sum(info.merged for info in apart.history_) == 0
    assert fits[0].n_active_ < apart.n_active_
    np.testing.assert_allclose(fits[0].weights_.sum(), 1.0)
