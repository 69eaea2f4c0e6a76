import numpy as np
import pytest
from scipy import special
from tests.tiny import bag, enumerate_document, pairs_of_topics

from ssvi.backends import Threads
from ssvi.evaluation import Bound, mean_field_elbo, structured_elbo
from ssvi.local_steps.lda.mean_field import MeanField
from ssvi.models.lda import LDA

ALPHA = np.array([0.4, 0.9])
MODEL = LDA(2, ALPHA, 0.8)
TOKENS = [[0, 0, 1], [1], [0, 1, 1, 1, 0], []]
LAM = {"topics": np.array([[3.1, 0.9], [1.2, 2.8]])}
EXACT_STEP = MeanField(max_rounds=500, tolerance=1e-10, precision="float64")


def _log_evidence(nodes=30):
    """log of the integral of p(w | beta) over the prior of both topics, by Gauss-Jacobi quadrature."""
    x, weight = special.roots_jacobi(nodes, MODEL.eta - 1, MODEL.eta - 1)
    p, weight = (1 + x) / 2, weight / weight.sum()
    logs = sum(enumerate_document(tokens, pairs_of_topics(p, p), ALPHA)[0] for tokens in TOKENS)
    return np.log(weight @ np.exp(logs) @ weight)


def _plain_mean_field_elbo(rounds=500):
    """The same bound with every expectation written out, from the definitions."""
    lam = LAM["topics"]
    t = special.digamma(lam) - special.digamma(lam.sum(axis=1, keepdims=True))
    eta = np.full_like(lam, MODEL.eta)

    def log_norm(x):
        return special.gammaln(x).sum(axis=-1) - special.gammaln(x.sum(axis=-1))

    bound = ((eta - lam) * t).sum() + (log_norm(lam) - log_norm(eta)).sum()
    for tokens in TOKENS:
        counts = np.bincount(np.array(tokens, dtype=int), minlength=2)
        gamma = ALPHA + counts.sum() / 2
        for _ in range(rounds):
            phi = np.exp(t + special.digamma(gamma)[:, None])
            phi /= phi.sum(axis=0)
            gamma = ALPHA + phi @ counts
        expected_log = special.digamma(gamma) - special.digamma(gamma.sum())
        phi = np.exp(t + expected_log[:, None])
        phi /= phi.sum(axis=0)
        bound += (counts * (phi * (t + expected_log[:, None] - np.log(phi))).sum(axis=0)).sum()
        bound += ((ALPHA - gamma) * expected_log).sum() - log_norm(ALPHA) + log_norm(gamma)
    return bound


def test_the_mean_field_bound_is_what_its_definition_says():
    bound = mean_field_elbo(MODEL, LAM, bag(TOKENS, 2), local_step=EXACT_STEP)
    assert bound.value == pytest.approx(_plain_mean_field_elbo(), rel=1e-9)
    assert (bound.standard_error, bound.n_words) == (0.0, 9.0)
    assert bound.per_word == pytest.approx(bound.value / 9)


def test_bounds_are_in_order():
    """mean-field <= structured <= log evidence, the structured one within 4 of its standard errors (3e-5)."""
    mean_field = mean_field_elbo(MODEL, LAM, bag(TOKENS, 2), local_step=EXACT_STEP)
    structured = structured_elbo(MODEL, LAM, bag(TOKENS, 2), draws=400, local_step=EXACT_STEP)
    evidence = _log_evidence()
    assert mean_field.value < structured.value + 4 * structured.standard_error
    assert structured.value - 4 * structured.standard_error < evidence
    assert mean_field.value < evidence
    assert 0 < structured.standard_error < 0.1


def test_bounds_do_not_depend_on_threads():
    model = LDA.example()
    _, documents = model.simulate(np.random.default_rng(0), 200)
    parameters = model.init(np.random.default_rng(1))
    results = []
    for n_jobs in (1, 3):
        with Threads(n_jobs) as backend:
            results.append(
                (
                    mean_field_elbo(model, parameters, documents, backend=backend),
                    structured_elbo(model, parameters, documents, draws=3, backend=backend),
                )
            )
    assert results[0] == results[1]


def test_a_standard_error_needs_two_draws():
    with pytest.raises(ValueError, match="draws must be 2 or more"):
        structured_elbo(MODEL, LAM, bag(TOKENS, 2), draws=1)


def test_no_words_no_figure_per_word():
    assert np.isnan(Bound(0.0, 0.0, 0.0).per_word)
