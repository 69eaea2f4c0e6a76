"""Draws, intervals and ArviZ's form of the global parameters, for every estimator."""

import sys

import numpy as np
import pytest
from scipy import stats
from tests.estimators.test_generic import PoissonModel

from ssvi import (
    BernoulliMixture,
    FactorialHMM,
    GammaProcessNMF,
    GaussianMixture,
    HiddenMarkovModel,
    LinearDynamicalSystem,
)
from ssvi.estimators.registry import estimators
from ssvi.families.dirichlet import Dirichlet
from ssvi.families.normal_gamma import NormalGamma
from ssvi.families.normal_wishart import NormalWishart
from ssvi.families.wishart import Wishart
from ssvi.models.base import Block
from ssvi.models.quantities import plain_quantities
from ssvi.testing.estimators import Case

# Attributes that are means under q; others are modes, or inverses of means.
MEANS = (
    "coefficients", "components", "emissionprob", "feedthrough", "levels", "loadings", "means", "offset", "startprob",
    "topic_covariance", "topic_means", "topic_word", "transition", "transmat", "weights",
)  # fmt: skip
COUNT = 2_000


@pytest.fixture(scope="module", params=list(estimators().values()), ids=lambda kind: kind.__name__)
def fitted(request):
    return Case.of(request.param(max_iter=2), None, 0).fitted


def test_draws_have_the_means_that_attributes_tell(fitted):
    """z is above 6 once in 5e8 numbers; the largest fit here has some thousands."""
    draws = fitted.posterior_draws(COUNT)
    compared = [name for name in draws if name in MEANS]
    assert compared
    for name in compared:
        told = np.asarray(getattr(fitted, f"{name}_"))
        assert draws[name].shape == (COUNT, *told.shape)
        errors = draws[name].std(axis=0) / np.sqrt(COUNT)
        assert (np.abs(draws[name].mean(axis=0) - told) <= 6.0 * errors + 1e-9 * np.abs(told)).all(), name


def test_intervals_are_quantiles_of_draws(fitted):
    draws, frame = fitted.posterior_draws(300), fitted.posterior_intervals(0.8, n=300)
    assert list(frame.columns) == ["mean", "sd", "10%", "50%", "90%"]
    assert frame.index.is_unique
    if hasattr(fitted, "coefficient_names_"):  # whose table has names of its own
        wanted = fitted.summary(0.8)
        assert list(frame.index) == list(wanted.index)
        return
    assert len(frame) == sum(values[0].size for values in draws.values())
    name, values = next(iter(draws.items()))
    wanted = np.quantile(values.reshape(300, -1), [0.1, 0.9], axis=0).T
    np.testing.assert_allclose(frame.iloc[: len(wanted)][["10%", "90%"]], wanted)
    assert frame.index[0].startswith(name)


def test_arviz_has_the_same_draws_with_names_for_its_axes(fitted):
    draws, posterior = fitted.posterior_draws(5), fitted.to_arviz(5).posterior
    assert set(posterior.data_vars) == set(draws)
    for name, values in draws.items():
        np.testing.assert_array_equal(posterior[name].values[0], values)
        assert not [dim for dim in posterior[name].dims if dim.startswith(name)]  # which is what ArviZ makes up


def test_words_and_columns_have_their_names():
    pandas = pytest.importorskip("pandas")
    rows = pandas.DataFrame(np.random.default_rng(0).normal(size=(30, 2)), columns=["height", "weight"])
    model = GaussianMixture(2, max_iter=2, random_state=0).fit(rows)
    posterior = model.to_arviz(3).posterior
    assert list(posterior.coords["feature"].values) == ["height", "weight"]
    assert posterior["covariances"].dims[2:] == ("component", "feature", "other_feature")
    assert "covariances[1, height, weight]" in model.posterior_intervals(n=10).index


def test_intervals_are_those_of_the_family():
    """Beta distributions: 20,000 draws have quantiles within 0.02 deviations or so."""
    rows = np.random.default_rng(0).integers(0, 2, (40, 3))
    model = BernoulliMixture(2, max_iter=5, random_state=0).fit(rows)
    lam, frame = model._state.estimate["components"], model.posterior_intervals(0.9, n=20_000)
    exact = stats.beta(lam[..., 0], lam[..., 1])
    found = frame.loc[[f"means[{k}, {d}]" for k in range(2) for d in range(3)]]
    for column, wanted in {"5%": exact.ppf(0.05), "95%": exact.ppf(0.95), "sd": exact.std()}.items():
        np.testing.assert_allclose(found[column], wanted.ravel(), atol=0.06 * exact.std().max())


def test_covariances_have_their_exact_mean():
    rows = np.random.default_rng(1).normal(size=(60, 2)) @ [[2.0, 1.0], [0.0, 3.0]]
    model = GaussianMixture(1, max_iter=5, random_state=0).fit(rows)
    usual = NormalWishart(2).standard(model._state.estimate["components"])
    wanted = usual.scatter[0] / (usual.degrees[0] - 3.0) * model._square_units()
    draws = model.posterior_draws(8_000)["covariances"][:, 0]
    np.testing.assert_allclose(draws.mean(axis=0), wanted, atol=6 * draws.std(axis=0).max() / np.sqrt(8_000))


@pytest.mark.parametrize(
    ("kind", "moved", "scaled"),
    [
        (GaussianMixture, "means", "covariances"),
        (HiddenMarkovModel, "means", "covars"),
        (FactorialHMM, None, "noise_covariance"),
        (LinearDynamicalSystem, "offset", "noise_covariance"),
    ],
)
def test_draws_are_in_the_units_of_the_data(kind, moved, scaled):
    rows, units, centre = np.random.default_rng(2).normal(size=(40, 2)), np.array([2.0, 8.0]), np.array([1.0, -3.0])
    plain, other = (kind(2, max_iter=3, random_state=0).fit(own) for own in (rows, centre + units * rows))
    first, second = plain.posterior_draws(20), other.posterior_draws(20)
    if moved:
        np.testing.assert_allclose(second[moved], centre + units * first[moved], rtol=1e-6)
    square = units[:, None] * units if first[scaled].shape[-2:] == (2, 2) and first[scaled].ndim > 2 else units**2
    np.testing.assert_allclose(second[scaled], square * first[scaled], rtol=1e-6)


def test_a_model_of_ones_own_has_draws():
    model = PoissonModel(global_step="mean_field", max_iter=3).fit(np.random.default_rng(0).poisson(3.0, (50, 2)))
    draws = model.posterior_draws(4_000)["rate"]
    lam = model.parameters_["rate"]
    np.testing.assert_allclose(draws.mean(axis=0), lam[:, 0] / lam[:, 1], rtol=0.02)
    np.testing.assert_allclose(draws.std(axis=0), np.sqrt(lam[:, 0]) / lam[:, 1], rtol=0.1)
    assert model.to_arviz(3).posterior["rate"].shape == (1, 3, 2)


def test_blocks_without_a_model_that_names_them_have_the_names_of_their_families():
    blocks = {
        "a": Block(NormalWishart(2), np.zeros(1), (3, 7)),
        "b": Block(NormalGamma(), np.zeros(1), (3, 4)),
        "c": Block(Wishart(2), np.zeros(1), (1, 4)),
        "d": Block(Dirichlet(), np.zeros(1), (1, 4)),
    }
    precision = np.array([4.0, 1.0, 1.0])  # packed: [[4, 1], [1, 1]]
    values = {
        "a": np.tile(np.append([1.0, 2.0], precision), (5, 3, 1)),
        "b": np.tile([1.0, 4.0], (5, 3, 1)),
        "c": np.tile(precision, (5, 1, 1)),
        "d": np.full((5, 1, 4), 0.25),
    }
    found = plain_quantities(blocks, values)
    assert {name: own.draws.shape for name, own in found.items()} == {
        "a_mean": (5, 3, 2), "a_covariance": (5, 3, 2, 2), "b_mean": (5, 3), "b_variance": (5, 3), "c": (5, 1, 2, 2),
        "d": (5, 1, 4),
    }  # fmt: skip
    np.testing.assert_allclose(found["a_covariance"].draws[0, 0], np.linalg.inv([[4.0, 1.0], [1.0, 1.0]]))
    np.testing.assert_allclose(found["b_variance"].draws, 0.25)
    np.testing.assert_allclose(found["c"].draws[0, 0], [[4.0, 1.0], [1.0, 1.0]])


def test_bad_requests_and_missing_packages_have_one_clear_sentence(monkeypatch):
    model = BernoulliMixture(2, max_iter=2, random_state=0).fit(np.eye(4))
    with pytest.raises(ValueError, match="n must be an integer of 1 or more"):
        model.posterior_draws(0)
    with pytest.raises(ValueError, match="level must be above 0 and below 1"):
        model.posterior_intervals(1.0)
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match=r"to_arviz needs the package ArviZ.*pip install ssvi\[arviz\]"):
        model.to_arviz()


def test_a_sampler_draws_from_the_exact_posterior_where_it_is_known():
    """One component: normal-Wishart. 4,000 draws that are all but independent; 4.5 errors, once in 10^5."""
    rows = np.random.default_rng(3).normal(size=(60, 2)) @ [[2.0, 1.0], [0.0, 3.0]]
    model = GaussianMixture(1, max_iter=5, random_state=0).fit(rows)
    found = model.sample_posterior(rows, 4_000, burn=5, thin=1)
    exact = model.posterior_draws(100_000)
    for name in ("means", "covariances"):
        errors = found.draws[name].std(axis=0) / np.sqrt(4_000)
        assert (np.abs(found.draws[name].mean(axis=0) - exact[name].mean(axis=0)) < 4.5 * errors).all()
        np.testing.assert_allclose(found.draws[name].std(axis=0), exact[name].std(axis=0), rtol=0.08)
    assert (found.intervals()["r_hat"] < 1.01).all()


def test_a_sampler_is_wider_than_q_where_blocks_depend_on_each_other():
    model = GammaProcessNMF(3, max_iter=60, random_state=0)
    counts = np.random.default_rng(4).poisson(
        np.random.default_rng(5).gamma(0.5, 20.0, (40, 3)) @ np.eye(3, 6, 1) + 1.0
    )
    model.fit(counts)
    sampled = model.sample_posterior(counts, 200, burn=100, thin=5)
    frame, q = sampled.intervals(0.9), model.posterior_intervals(0.9)
    assert list(frame.columns) == ["mean", "sd", "5%", "50%", "95%", "r_hat"]
    assert list(frame.index) == list(q.index)
    assert np.median(frame["sd"] / q["sd"]) > 1.3


def test_chains_are_chains_in_arviz():
    rows = np.random.default_rng(0).integers(0, 2, (40, 3))
    model = BernoulliMixture(2, max_iter=5, random_state=0).fit(rows)
    found = model.sample_posterior(rows, 22, chains=4, burn=0, thin=1)
    assert found.draws["means"].shape == (24, 2, 3)
    posterior = found.to_arviz().posterior
    assert posterior.sizes["chain"] == 4
    assert posterior.sizes["draw"] == 6
    np.testing.assert_array_equal(posterior["means"].values.reshape(24, 2, 3), found.draws["means"])


def test_sampling_is_the_same_on_two_threads_and_minds_the_seed():
    rows = np.random.default_rng(0).integers(0, 2, (600, 3))
    model = BernoulliMixture(2, max_iter=5, random_state=0).fit(rows)
    first = model.sample_posterior(rows, 4, burn=1, thin=1).draws["means"]
    np.testing.assert_array_equal(
        first, model.set_params(n_jobs=2).sample_posterior(rows, 4, burn=1, thin=1).draws["means"]
    )
    assert not np.array_equal(first, model.sample_posterior(rows, 4, burn=1, thin=1, random_state=7).draws["means"])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"n": 0}, "n must be an integer of 1 or more, not 0"),
        ({"burn": -1}, "burn must be an integer of 0 or more, not -1"),
        ({"lengths": [3]}, "what sample_posterior is given must be among X, not 'lengths'"),
    ],
)
def test_what_a_sampler_cannot_do_is_said(arguments, sentence):
    rows = np.random.default_rng(0).integers(0, 2, (40, 3))
    model = BernoulliMixture(2, max_iter=5, random_state=0).fit(rows)
    with pytest.raises(ValueError, match=sentence):
        model.sample_posterior(rows, **arguments)


def test_a_model_without_a_sampler_says_so():
    model = PoissonModel(global_step="mean_field", max_iter=3).fit(np.random.default_rng(0).poisson(3.0, (50, 2)))
    with pytest.raises(ValueError, match="there is no sampler of the posterior of this PoissonModel"):
        model.sample_posterior(np.ones((5, 2)))
