import numpy as np
import pytest
from scipy import special

from ssvi.families.symmetric import pack
from ssvi.models.ctm import CTM

COVARIANCE = np.array([[2.0, 1.0, 0.0], [1.0, 1.0, 0.2], [0.0, 0.2, 0.5]])


def parameters_at(model, mean, covariance, degrees=1_000.0):
    scatter = covariance * (degrees - model.n_topics - 1.0)
    lam = model.family.natural(mean, np.array(degrees), scatter, np.array(degrees))
    return {"topics": np.ones((model.n_topics, model.n_words)), "weights": lam[None]}


def test_moments_are_those_of_mu_and_sigma_under_q():
    model, mean = CTM(5, 3, 0.1), np.array([0.3, -1.0, 2.0])
    found = model.moments(parameters_at(model, mean, COVARIANCE))
    np.testing.assert_allclose(found[0], mean)
    np.testing.assert_allclose(found[1], COVARIANCE)


def test_what_documents_cannot_tell_is_no_part_of_the_covariance():
    model = CTM(5, 3, 0.1)
    shifted = COVARIANCE + 7.0  # the same number added to all log weights of a document
    for covariance in (COVARIANCE, shifted):
        found = model.covariance(parameters_at(model, np.zeros(3), covariance))
        np.testing.assert_allclose(found.sum(axis=0), 0.0, atol=1e-9)
    np.testing.assert_allclose(found, model.covariance(parameters_at(model, np.zeros(3), COVARIANCE)), atol=1e-9)
    correlations = model.correlations(parameters_at(model, np.zeros(3), shifted))
    np.testing.assert_allclose(np.diag(correlations), 1.0)


def test_the_prior_expects_independent_weights_of_its_variance():
    model = CTM(5, 3, 0.1, variance=2.5, degrees=9.0)
    prior = {"topics": np.ones((3, 5)), "weights": model.blocks()["weights"].prior}
    np.testing.assert_allclose(model.moments(prior)[1], 2.5 * np.eye(3))


def test_simulated_documents_have_the_weights_they_were_given():
    # Topics without common words: words count topics. 4 standard errors of 4,000 documents are 0.02 or less.
    model, mean = CTM(3, 3, 0.1), np.array([0.5, 0.0, -0.5])
    weights = np.concatenate([mean, pack(np.linalg.inv(COVARIANCE))])[None]
    rng = np.random.default_rng(2)
    values, documents = model.simulate(rng, 4_000, 60.0, values={"topics": np.eye(3), "weights": weights})
    shares = documents.to_matrix().toarray() / documents.lengths()[:, None]
    expected = special.softmax(rng.multivariate_normal(mean, COVARIANCE, 100_000), axis=1)
    np.testing.assert_allclose(shares.mean(axis=0), expected.mean(axis=0), atol=0.02)
    assert values["weights"] is weights


def test_too_few_degrees_are_refused():
    with pytest.raises(ValueError, match="degrees must be more than the number of topics"):
        CTM(5, 3, 0.1, degrees=4.0)
