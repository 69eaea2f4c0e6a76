"""Estimators whose priors are learned: what may be given, what is shown, and what a file keeps."""

import numpy as np
import pytest
from sklearn.base import clone

import ssvi
from ssvi import (
    BernoulliMixture,
    CorrelatedTopicModel,
    FactorialHMM,
    GammaProcessNMF,
    GaussianMixture,
    HiddenMarkovModel,
    HierarchicalLinearRegression,
    HierarchicalLogisticRegression,
    LatentDirichletAllocation,
    LinearDynamicalSystem,
)
from ssvi.models.emissions import PoissonEmission
from ssvi.models.hmm import HMM

RNG = np.random.default_rng(0)
COUNTS = RNG.poisson(RNG.gamma(0.3, 3.0, (60, 3)) @ RNG.dirichlet(np.full(12, 0.3), 3) * 5)
COUNTS[COUNTS.sum(axis=1) == 0, 0] = 1
BINARY = (RNG.random((60, 8)) < np.repeat([[0.1], [0.8]], 30, axis=0)).astype(int)
REAL = np.concatenate([RNG.normal(0.0, 1.0, (40, 2)), RNG.normal(6.0, 1.0, (20, 2))])
AUTO = [
    (
        LatentDirichletAllocation(3, doc_topic_prior="asymmetric", topic_word_prior="auto"),
        COUNTS,
        ("doc_topic_prior_", "topic_word_prior_"),
    ),
    (
        BernoulliMixture(6, weight_concentration_prior="auto", mean_prior="auto"),
        BINARY,
        ("weight_concentration_prior_", "mean_prior_"),
    ),
    (
        GaussianMixture(
            5,
            weight_concentration_prior="auto",
            mean_precision_prior="auto",
            degrees_of_freedom_prior="auto",
            covariance_prior="auto",
        ),
        REAL,
        ("covariance_prior_", "weight_concentration_prior_", "mean_precision_prior_", "degrees_of_freedom_prior_"),
    ),
    (
        HiddenMarkovModel(
            3,
            covariance_type="diag",
            startprob_prior="auto",
            transmat_prior="auto",
            stickiness="auto",
            mean_precision_prior="auto",
            degrees_of_freedom_prior="auto",
            covariance_prior="auto",
            transmat_prior_type="dirichlet_process",
            weight_concentration_prior="auto",
        ),
        REAL,
        (
            "covariance_prior_",
            "startprob_prior_",
            "transmat_prior_",
            "stickiness_",
            "weight_concentration_prior_",
            "mean_precision_prior_",
            "degrees_of_freedom_prior_",
        ),
    ),
    (HiddenMarkovModel(3, emission="bernoulli", emission_prior="auto"), BINARY, ("emission_prior_",)),
    (HiddenMarkovModel(3, emission="poisson", emission_prior="auto"), COUNTS, ("emission_prior_",)),
    (HiddenMarkovModel(3, emission="multinomial", emission_prior="auto"), COUNTS, ("emission_prior_",)),
    (HiddenMarkovModel(3, emission="categorical", emission_prior="auto"), COUNTS[:, :1], ("emission_prior_",)),
    (
        FactorialHMM(
            2,
            startprob_prior="auto",
            transmat_prior="auto",
            stickiness="auto",
            level_strength_prior="auto",
            noise_variance_prior="auto",
        ),
        REAL,
        ("startprob_prior_", "transmat_prior_", "stickiness_", "level_strength_prior_", "noise_variance_prior_"),
    ),
    (FactorialHMM(2, emission="poisson", rate_shape_prior="auto"), COUNTS, ("rate_shape_prior_",)),
    (
        LinearDynamicalSystem(
            2, transition_strength_prior="auto", loading_strength_prior="auto", noise_variance_prior="auto"
        ),
        REAL,
        ("transition_strength_prior_", "loading_strength_prior_", "noise_variance_prior_"),
    ),
    (CorrelatedTopicModel(3, topic_word_prior="auto"), COUNTS, ("topic_word_prior_",)),
    (
        GammaProcessNMF(
            6, dictionary_shape="auto", activation_shape="auto", weight_concentration_prior="auto", inverse_scale="auto"
        ),
        COUNTS,
        ("dictionary_shape_", "activation_shape_", "weight_concentration_prior_", "inverse_scale_"),
    ),
]
GIVEN = {"mean_prior_": (0.5, 0.7), "covariance_prior_": np.diag([1.5, 0.5]), "degrees_of_freedom_prior_": 4.5}


def _values(estimator, names):
    return {name: np.array(getattr(estimator, name)) for name in names}


@pytest.mark.parametrize(("estimator", "data", "names"), AUTO, ids=lambda value: type(value).__name__)
def test_learned_values_are_shown_kept_in_files_and_learned_further(estimator, data, names, tmp_path):
    fitted = estimator.set_params(max_iter=4, random_state=0).fit(data)
    learned = _values(fitted, names)
    # A covariance has zeros beside its diagonal.
    assert all(np.isfinite(value).all() and (value >= 0).all() and value.any() for value in learned.values())
    fitted.save(tmp_path / "model")
    again = ssvi.load(tmp_path / "model")
    np.testing.assert_equal(_values(again, names), learned)
    np.testing.assert_array_equal(again.score(data), fitted.score(data))
    again.set_params(total_samples=len(data)).partial_fit(data)  # a sweep
    assert all(not np.array_equal(value, learned[name]) for name, value in _values(again, names).items())
    with pytest.raises(ValueError, match="changed since this model was fitted"):
        again.set_params(**{names[-1][:-1]: GIVEN.get(names[-1], 0.5)}).partial_fit(data)


@pytest.mark.parametrize(("estimator", "data", "names"), AUTO, ids=lambda value: type(value).__name__)
def test_what_is_given_is_shown_as_it_was_given(estimator, data, names):
    given = {name[:-1]: GIVEN.get(name, 0.3) for name in names}
    if getattr(estimator, "covariance_type", "full") == "diag":
        given["covariance_prior"] = np.diag(given["covariance_prior"])
    fitted = clone(estimator).set_params(max_iter=2, random_state=0, **given).fit(data)
    for name, value in given.items():
        np.testing.assert_allclose(getattr(fitted, f"{name}_"), value)


@pytest.mark.parametrize(("estimator", "data", "names"), AUTO, ids=lambda value: type(value).__name__)
def test_other_words_are_refused(estimator, data, names):
    for name in names:
        with pytest.raises(ValueError, match=rf"{name[:-1]} must be .*not 'automatic'"):
            type(estimator)(3, **{name[:-1]: "automatic"}).fit(data)


def test_one_alpha_for_all_topics_and_a_dirichlet_distribution_can_be_learned_too():
    alpha = LatentDirichletAllocation(3, doc_topic_prior="symmetric", random_state=0).fit(COUNTS).doc_topic_prior_
    assert len(set(alpha)) == 1
    finite = GaussianMixture(
        3, weight_concentration_prior="auto", weight_concentration_prior_type="dirichlet_distribution", random_state=0
    ).fit(REAL)
    assert finite.weight_concentration_prior_ == finite._model().weight_prior != 1.0


def test_a_file_that_claims_to_have_learned_what_cannot_be_learned_is_refused(tmp_path, monkeypatch):
    fitted = GaussianMixture(3, max_iter=2, random_state=0).fit(REAL)
    fitted._fitted["n_components"] = "auto"
    monkeypatch.setattr("ssvi.files.models._overview", lambda estimator: {"facts": {}, "components": None})
    fitted.save(tmp_path / "model")
    with pytest.raises(ValueError, match="it claims to be larger than the arrays that it holds"):
        ssvi.load(tmp_path / "model")


def test_the_spread_of_many_coefficients_is_learned_and_helps():
    """Thirty coefficients of the same size, in units of their columns, from few rows; the intercept stays free.

    Thirty numbers tell their deviation to 13%, and their noise hides a little more of it.
    """
    rng = np.random.default_rng(0)
    widths = rng.uniform(0.2, 5.0, 30)
    rows, slopes = widths * rng.normal(size=(150, 30)), 0.5 * rng.normal(size=30) / widths
    chance = 1.0 / (1.0 + np.exp(-(1.0 + rows @ slopes)))
    ways = {
        HierarchicalLinearRegression: 30.0 + rows @ slopes + 2.0 * rng.normal(size=150),
        HierarchicalLogisticRegression: (rng.random(150) < chance).astype(int),
    }
    for kind, y in ways.items():
        learned = kind(coefficient_scale="auto", random_state=0).fit(rows, y)
        plain = kind(random_state=0).fit(rows, y)
        off, off_plain = (np.linalg.norm((model.coefficients_[1:] - slopes) * widths) for model in (learned, plain))
        assert off < off_plain * (1.0 if kind is HierarchicalLinearRegression else 0.6)  # 0.93 and 0.34 when written
        scales = learned.coefficient_scale_[1:] * rows.std(axis=0)
        np.testing.assert_allclose(scales, scales[0])
        assert 0.25 < scales[0] < 1.0
        assert learned.coefficient_scale_[0] == plain.coefficient_scale_[0]


def test_priors_of_states_are_recovered_where_states_are_told_apart():
    """Levels of 20 states in 20 columns leave no doubt which state a time point is in.

    380 transitions and 400 rates tell a and the shape to a tenth, 20 of staying the stickiness to a third.
    """
    truth = HMM(20, PoissonEmission(20, 20, 0.4, (6.0,) * 20), 1.0, 0.4, 10.0)
    _, data = truth.simulate(np.random.default_rng(2), 150, lengths=[60] * 150)
    model = HiddenMarkovModel(
        20, emission="poisson", transmat_prior="auto", stickiness="auto", emission_prior="auto", random_state=0
    ).fit(data.values, lengths=[60] * 150)
    np.testing.assert_allclose(model.transmat_prior_, 0.4, rtol=0.25)
    np.testing.assert_allclose(model.stickiness_, 10.0, rtol=0.6)
    np.testing.assert_allclose(model.emission_prior_, 0.4, rtol=0.2)


def test_what_an_earlier_fit_learned_is_nothing_to_a_later_one_of_another_kind_or_width():
    hmm = HiddenMarkovModel(2, covariance_prior="auto", max_iter=2, random_state=0).fit(REAL)
    hmm.set_params(emission="poisson", covariance_prior=None, emission_prior="auto").fit(COUNTS)
    hmm.set_params(emission="multinomial").fit(COUNTS)
    assert hmm.emission_prior_ > 0
    mixture = GaussianMixture(2, degrees_of_freedom_prior="auto", max_iter=2, random_state=0).fit(REAL)
    wide = mixture.fit(RNG.normal(size=(40, 9))).degrees_of_freedom_prior_
    fresh = GaussianMixture(2, degrees_of_freedom_prior="auto", max_iter=2, random_state=0)
    assert wide > 8
    assert fresh.fit(REAL).degrees_of_freedom_prior_ == mixture.fit(REAL).degrees_of_freedom_prior_


def test_the_spread_of_more_coefficients_than_rows_is_that_of_mean_field():
    """What rows say of so many coefficients is no Gaussian by itself after SSVI's steps; both fits know 30 numbers."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(24, 30))
    y = rows @ (0.3 * rng.normal(size=30)) + 0.5 * rng.normal(size=24)
    found = [
        HierarchicalLinearRegression(coefficient_scale="auto", global_step=step, random_state=0).fit(rows, y)
        for step in ("ssvi", "mean_field")
    ]
    spreads = [model._model().spread for model in found]
    assert abs(np.log(spreads[0] / spreads[1])) < 0.3
