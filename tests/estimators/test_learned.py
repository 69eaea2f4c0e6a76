"""Estimators whose priors are learned: what may be given, what is shown, and what a file keeps."""

import numpy as np
import pytest

import ssvi
from ssvi import BernoulliMixture, GammaProcessNMF, GaussianMixture, LatentDirichletAllocation

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
    (GaussianMixture(5, weight_concentration_prior="auto"), REAL, ("weight_concentration_prior_",)),
    (
        GammaProcessNMF(
            6, dictionary_shape="auto", activation_shape="auto", weight_concentration_prior="auto", inverse_scale="auto"
        ),
        COUNTS,
        ("dictionary_shape_", "activation_shape_", "weight_concentration_prior_", "inverse_scale_"),
    ),
]


def _values(estimator, names):
    return {name: np.array(getattr(estimator, name)) for name in names}


@pytest.mark.parametrize(("estimator", "data", "names"), AUTO, ids=lambda value: type(value).__name__)
def test_learned_values_are_shown_kept_in_files_and_learned_further(estimator, data, names, tmp_path):
    fitted = estimator.set_params(max_iter=4, random_state=0).fit(data)
    learned = _values(fitted, names)
    assert all(np.isfinite(value).all() and (value > 0).all() for value in learned.values())
    fitted.save(tmp_path / "model")
    again = ssvi.load(tmp_path / "model")
    np.testing.assert_equal(_values(again, names), learned)
    np.testing.assert_array_equal(again.score(data), fitted.score(data))
    again.set_params(total_samples=len(data)).partial_fit(data)  # a sweep
    assert all(not np.array_equal(value, learned[name]) for name, value in _values(again, names).items())
    with pytest.raises(ValueError, match="changed since this model was fitted"):
        again.set_params(**{names[-1][:-1]: 0.5 if names[-1] != "mean_prior_" else (1.0, 1.0)}).partial_fit(data)


@pytest.mark.parametrize(("estimator", "data", "names"), AUTO, ids=lambda value: type(value).__name__)
def test_what_is_given_is_shown_as_it_was_given(estimator, data, names):
    given = {name[:-1]: (0.5, 0.7) if name == "mean_prior_" else 0.3 for name in names}
    fitted = type(estimator)(3, max_iter=2, random_state=0, **given).fit(data)
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
