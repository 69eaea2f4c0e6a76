"""What local steps say of the topics' weights, against enumeration of documents small enough."""

import numpy as np
from scipy.special import gammaln
from tests.tiny import bag, enumerate_document

from ssvi.backends.threads import Threads
from ssvi.local_steps.hdp.gibbs import Gibbs
from ssvi.local_steps.hdp.mean_field import MeanField
from ssvi.local_steps.lda.gibbs import Gibbs as LdaGibbs
from ssvi.models.hdp import HDP
from ssvi.numerics.random import derive_keys

TOKENS = [0, 0, 1, 3, 2, 0]
WEIGHTS = np.array([0.6, 0.3, 0.1])
BETA = np.random.default_rng(3).dirichlet(np.full(4, 0.5), 3)
MODEL = HDP(4, 3, 1.3, 2.0, 0.1)
VIEWS = {"weights": np.log(WEIGHTS)[None], "topics": np.log(BETA)}


def _slope(k, step=1e-5):
    """d log p(w | beta, pi) / d log pi_k, p's first factor Gamma(a) / Gamma(a + n) left as it is, by differences."""
    n, logs = len(TOKENS), []
    for sign in (1.0, -1.0):
        alpha = MODEL.concentration * WEIGHTS * np.exp(sign * step * (np.arange(3) == k))
        total = alpha.sum()
        logs.append(enumerate_document(np.array(TOKENS), BETA, alpha)[0] - gammaln(total) + gammaln(total + n))
    return (logs[0] - logs[1]) / (2.0 * step)


EXACT = np.array([_slope(k) for k in range(3)])


def _run(step, copies, views=VIEWS):
    documents = bag([TOKENS] * copies, 4)
    result = Threads().map_reduce(step, MODEL, views, documents, derive_keys(0, copies))
    return result, result.eta_hat["weights"][0] * result.scale / copies


def test_sampled_tables_have_the_mean_that_enumeration_has():
    """By Fisher's identity it is the slope of log p. The mean of 40,000 samples is off by 0.004; 0.02 are 5 errors."""
    _, tables = _run(Gibbs(30, 1, precision="float64"), 40_000)
    np.testing.assert_allclose(tables, EXACT, atol=0.02)


def test_the_bound_is_below_the_evidence_and_its_slope_is_the_tables():
    step = MeanField(max_rounds=3_000, tolerance=0.0, precision="float64")
    result, tables = _run(step, 1)
    evidence = enumerate_document(np.array(TOKENS), BETA, MODEL.concentration * WEIGHTS)[0]
    assert evidence - 2.0 < result.bound < evidence
    for k in range(3):
        ends = []
        for sign in (1.0, -1.0):
            moved = VIEWS["weights"] + sign * 1e-4 * (np.arange(3) == k)
            ends.append(_run(step, 1, {**VIEWS, "weights": moved})[0].bound)
        np.testing.assert_allclose((ends[0] - ends[1]) / 2e-4, tables[k], rtol=1e-4)


def test_given_the_weights_it_is_lda():
    documents, keys = bag([TOKENS, [1, 1, 2], []], 4), derive_keys(1, 3)
    ours = Threads().map_reduce(Gibbs(8, 3), MODEL, VIEWS, documents, keys)
    lda = MODEL.given(VIEWS["weights"])
    theirs = Threads().map_reduce(LdaGibbs(8, 3), lda, {"topics": VIEWS["topics"]}, documents, keys)
    np.testing.assert_array_equal(ours.eta_hat["topics"], theirs.eta_hat["topics"])
    np.testing.assert_array_equal(ours.local["weights"], theirs.local["weights"])
    np.testing.assert_array_equal(ours.eta_hat["weights"][0], theirs.eta_hat["tables"][:-1])
    assert Gibbs(8, 3).lda_step == LdaGibbs(8, 3)
