"""One enormous count beside ordinary ones: single precision keeps what the others say, or one sentence refuses."""

import numpy as np
import pytest

from ssvi.backends import Threads
from ssvi.batches.documents import Documents
from ssvi.local_steps.lda.cvb0 import Cvb0
from ssvi.local_steps.lda.mean_field import MeanField
from ssvi.models.lda import LDA
from ssvi.numerics.random import derive_keys

N_TOPICS, N_WORDS = 8, 12
MODEL = LDA(N_WORDS, np.full(N_TOPICS, 0.1), 0.1)


def _run(step, counts):
    topics = np.random.default_rng(0).dirichlet(np.full(N_WORDS, 0.2), N_TOPICS) + 1e-6
    views = {"topics": np.log(topics)}
    result = Threads().map_reduce(step, MODEL, views, Documents.from_matrix(counts), derive_keys(0, len(counts)))
    return np.asarray(result.eta_hat["topics"], dtype=float), result.local["weights"]


def _counts(large):
    counts = np.random.default_rng(1).poisson(3.0, (1, N_WORDS)).astype(float)
    counts[0, 4] = large
    return counts


@pytest.mark.parametrize("large", [1e6, 1e9, 1e15])
@pytest.mark.parametrize("kind", [MeanField, Cvb0])
def test_one_enormous_count_does_as_in_double_precision(kind, large):
    counts, others = _counts(large), np.arange(N_WORDS) != 4
    single, single_weights = _run(kind(precision="float32", max_rounds=300), counts)
    double, double_weights = _run(kind(precision="float64", max_rounds=300), counts)
    np.testing.assert_allclose(single[:, others], double[:, others], atol=1e-3)
    np.testing.assert_allclose(single[:, 4], double[:, 4], rtol=1e-5, atol=1e-6 * large)
    np.testing.assert_allclose(single_weights, double_weights, rtol=0.02)


@pytest.mark.parametrize("large", [1e6, 1e9, 1e15])
def test_expected_counts_are_the_sum_of_the_words(large):
    """CVB0 carries a document's expected counts along: those of rare topics must not be what rounding left behind."""
    statistics, weights = _run(Cvb0(), _counts(large))
    expected = MODEL.alpha + statistics.sum(axis=1)
    np.testing.assert_allclose(weights[0], expected / expected.sum(), rtol=1e-5)


@pytest.mark.parametrize("step", [MeanField(), Cvb0()])
def test_what_is_no_count_any_more_is_refused_in_one_sentence(step):
    counts = np.ones((3, N_WORDS))
    counts[1, 4] = 1e16
    documents = Documents.from_matrix(counts)
    with pytest.raises(ValueError, match=r"the count at row 1, column 4 is 1e\+16, and numbers over 9e\+15 do not"):
        step.check(documents)
    with pytest.raises(ValueError, match="the count at row 0, column 4"):
        step.check(documents.slice(1, 3))
    step.check(documents.slice(0, 1))
