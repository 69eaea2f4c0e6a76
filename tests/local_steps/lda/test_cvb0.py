import numpy as np
import pytest
from tests.tiny import bag, enumerate_document

from ssvi.backends import Threads
from ssvi.batches.documents import Documents
from ssvi.local_steps.lda.cvb0 import Cvb0
from ssvi.models.lda import LDA
from ssvi.numerics.random import derive_keys

RNG = np.random.default_rng(0)
BETA = RNG.dirichlet(np.full(6, 0.5), 3)
ALPHA = np.array([0.2, 0.5, 1.1])
DOCUMENTS = [[0, 0, 1], [2, 3, 4, 5, 5], [1], []]


def _run(step, documents, beta=BETA, alpha=ALPHA):
    model = LDA(beta.shape[1], alpha, 1.0)
    return Threads().map_reduce(step, model, {"topics": np.log(beta)}, documents, derive_keys(0, len(documents)))


def _plain(counts, beta, alpha, rounds):
    """CVB0 on one document in the obvious way: one distribution a word, own token left out."""
    words = np.flatnonzero(counts)
    gamma, expected = np.zeros((len(counts), len(alpha))), np.zeros(len(alpha))
    for _ in range(rounds):
        for v in words:
            expected -= counts[v] * gamma[v]
            others = expected + (counts[v] - min(1.0, counts[v])) * gamma[v]
            fresh = (others + alpha) * beta[:, v]
            gamma[v] = fresh / fresh.sum()
            expected += counts[v] * gamma[v]
    return expected, (gamma * counts[:, None]).T


@pytest.mark.parametrize("rounds", [1, 3, 30])
def test_agrees_with_the_plain_updates(rounds):
    documents = bag(DOCUMENTS, 6)
    result = _run(Cvb0(max_rounds=rounds, tolerance=0.0, precision="float64"), documents)
    counts = [np.bincount(np.array(tokens, dtype=int), minlength=6).astype(float) for tokens in DOCUMENTS]
    plain = [_plain(count, BETA, ALPHA, rounds) for count in counts]
    theta = np.array([(ALPHA + expected) / (ALPHA + expected).sum() for expected, _ in plain])
    np.testing.assert_allclose(result.local["weights"], theta, rtol=1e-9)
    np.testing.assert_allclose(result.eta_hat["topics"], sum(stat for _, stat in plain), rtol=1e-9, atol=1e-12)
    assert result.bound is None


def test_one_token_documents_are_exact():
    """With one token nothing is approximated: q(z) is alpha_k beta_kw, normalised."""
    for word in range(6):
        _, expected = enumerate_document([word], BETA, ALPHA)
        result = _run(Cvb0(precision="float64"), bag([[word]], 6))
        np.testing.assert_allclose(result.eta_hat["topics"], expected, rtol=1e-10, atol=1e-15)


def test_close_to_the_exact_conditional_on_small_documents():
    """CVB0 is an approximation; on six tokens it is within 0.1 of the exact expected counts."""
    _, expected = enumerate_document([0, 0, 1, 2, 4, 5], BETA, ALPHA)
    result = _run(Cvb0(precision="float64", tolerance=1e-9), bag([[0, 0, 1, 2, 4, 5]], 6))
    assert np.abs(result.eta_hat["topics"] - expected).max() < 0.1


def test_single_precision_is_close_to_double():
    rng = np.random.default_rng(1)
    beta, alpha = rng.dirichlet(np.full(200, 0.1), 20), np.full(20, 0.1)
    documents = Documents.from_matrix(rng.poisson(0.3, (50, 200)))
    single = _run(Cvb0(max_rounds=20, tolerance=0.0), documents, beta, alpha)
    double = _run(Cvb0(max_rounds=20, tolerance=0.0, precision="float64"), documents, beta, alpha)
    np.testing.assert_allclose(single.local["weights"], double.local["weights"], atol=5e-4)


def test_fractions_below_one_leave_all_of_themselves_out():
    """A single word of weight 0.4 sees nothing but the prior."""
    result = _run(Cvb0(precision="float64"), Documents.from_matrix(np.array([[0.4, 0, 0, 0, 0, 0]])))
    weight = ALPHA * BETA[:, 0]
    np.testing.assert_allclose(result.eta_hat["topics"][:, 0], 0.4 * weight / weight.sum(), rtol=1e-9)
