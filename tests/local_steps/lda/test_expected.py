"""Counts of tokens by their probabilities, against plain sums."""

from dataclasses import replace

import numpy as np
import pytest
from tests.tiny import bag

from ssvi.backends import Threads
from ssvi.backends.shards import cut_views
from ssvi.local_steps.lda import expected
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.local_steps.lda.gibbs_sparse import prior_sums, to_packed
from ssvi.models.lda import LDA
from ssvi.numerics.random import derive_keys
from ssvi.numerics.simd import WIDTH, aligned_zeros

TOPICS = [1, 5, 16, 17, 50, 330]
NUMBERS = pytest.mark.parametrize("dtype", [np.float32, np.float64])


class _Document:
    """A document's words and topics after a sweep, weights of seven words, and what plain sums make of them."""

    def __init__(self, n_topics, dtype, rng, spare=0):
        width = -(-(n_topics + spare) // WIDTH) * WIDTH
        self.n_topics, self.width, self.dtype = n_topics, width, dtype
        self.alpha, self.weights = aligned_zeros((width,), dtype), aligned_zeros((7, width), dtype)
        self.alpha[:n_topics] = rng.gamma(1.0, 0.2, n_topics) + 1e-3
        weights = rng.gamma(0.3, 1.0, (7, n_topics)).astype(dtype)
        self.weights[:, :n_topics] = np.maximum(weights / weights.max(axis=1, keepdims=True), 1e-8)
        self.words = np.sort(rng.integers(7, size=40)).astype(np.uint32)
        self.topics = rng.choice(min(n_topics, 6), size=40).astype(np.uint32)
        self.counts = np.bincount(self.topics, minlength=n_topics).astype(float)

    def plain(self, weights):
        """Return the sum of all tokens' probabilities, words x topics."""
        sums = np.zeros((7, self.n_topics))
        for word, topic in zip(self.words, self.topics, strict=True):
            others = self.counts.copy()
            others[topic] -= 1
            masses = (others + self.alpha[: self.n_topics]) * weights[word, : self.n_topics].astype(float)
            sums[word] += masses / masses.sum()
        return sums


@pytest.mark.parametrize("n_topics", TOPICS)
@NUMBERS
def test_dense_counts_are_the_plain_sums(n_topics, dtype, monkeypatch):
    """A row of statistics beside those of the document's words stays as it is."""
    document = _Document(n_topics, dtype, np.random.default_rng(n_topics))
    begin = 3 * document.width  # as if others were before it
    tally = aligned_zeros((4 * document.width,), dtype)
    tally[begin : begin + n_topics] = document.counts
    given = (document.words, document.topics, 40, tally, begin, document.alpha, document.weights.reshape(-1))
    masses, statistics = aligned_zeros((document.width,), dtype), aligned_zeros((7, document.width), np.float64)
    expected.add_expected(*given, masses, statistics)
    tolerance = 1e-5 if dtype == np.float32 else 1e-6  # of sums of multiples of 2^-24
    np.testing.assert_allclose(statistics[:, :n_topics], document.plain(document.weights), atol=tolerance)
    assert not statistics[:, n_topics:].any()
    np.testing.assert_array_equal(statistics * 2.0**24 % 1.0, 0.0)
    twin = np.zeros_like(statistics)
    monkeypatch.setattr(expected, "_add", expected._add_in_python)
    getattr(expected.add_expected, "py_func", expected.add_expected)(*given, masses, twin)
    np.testing.assert_allclose(twin, statistics, atol=tolerance)


@pytest.mark.parametrize("n_topics", TOPICS)
@NUMBERS
def test_sparse_counts_and_what_the_prior_has_are_the_plain_sums(n_topics, dtype):
    """With the weights that single precision packs into 16 bits."""
    rng = np.random.default_rng(n_topics)
    document = _Document(n_topics, dtype, rng, spare=1)
    weights = document.weights
    if dtype == np.float32:
        weights = np.zeros(document.weights.shape, np.uint16)
        to_packed(document.weights, weights)
    prior = aligned_zeros((7, -(-document.width // WIDTH // WIDTH) * WIDTH), dtype)
    prior_sums(document.weights, document.alpha, prior)
    own = np.flatnonzero(document.counts)
    slots, tally = np.full(document.width, n_topics, np.uint32), np.zeros(document.width, dtype)
    place = np.full(n_topics + 1, document.width - 1, np.uint32)
    slots[: len(own)] = rng.permutation(own)
    tally[: len(own)], place[slots[: len(own)]] = document.counts[slots[: len(own)]], np.arange(len(own))
    statistics, from_prior = np.zeros((7, n_topics)), np.zeros(7)
    expected.add_expected_sparse(
        document.words, document.topics, 40, tally, slots, place, len(own), weights, prior,
        document.width // WIDTH - 1, np.zeros(document.width), statistics, from_prior,
    )  # fmt: skip
    for sums in (statistics, from_prior):
        np.testing.assert_array_equal(sums * 2.0**24 % 1.0, 0.0)
    totals = np.ascontiguousarray(prior[:, document.width // WIDTH - 1])
    expected.with_prior(statistics, from_prior, weights, document.alpha, totals)
    np.testing.assert_allclose(statistics, document.plain(document.weights), atol=1e-5)


@pytest.mark.parametrize("kernel", ["dense", "sparse"])
def test_they_have_far_less_noise_than_drawn_ones(kernel):
    """Documents of two topics that share words, 200 runs of each: less than a third of the variance of one sweep."""
    beta = np.array([[0.4, 0.4, 0.1, 0.1], [0.1, 0.2, 0.3, 0.4], [0.25, 0.25, 0.25, 0.25]])
    documents, model = bag([[0, 1, 2, 3, 0, 1], [2, 3, 3], [1, 1]] * 4, 4), LDA(4, np.full(3, 0.5), 1.0)

    def variance(step):
        runs = [
            Threads().map_reduce(step, model, {"topics": np.log(beta)}, documents, derive_keys(seed, 12))
            for seed in range(200)
        ]
        return np.var([run.eta_hat["topics"] for run in runs], axis=0).sum()

    step = Gibbs(sweeps=10, kept=1, kernel=kernel)
    assert variance(step) < variance(replace(step, statistics="drawn")) / 3


@pytest.mark.parametrize("n_topics", [20, 340])
def test_shards_add_up_to_the_same_bits_in_any_order(n_topics):
    rng = np.random.default_rng(3)
    model, step = LDA(40, np.full(n_topics, 0.1), 1.0), Gibbs(sweeps=3)
    documents = bag([rng.integers(40, size=30) for _ in range(50)], 40)
    views = {"topics": np.log(rng.dirichlet(np.ones(40), n_topics))}
    prepared = step.prepare(model, cut_views(step, views, documents), documents)
    keys, shards = derive_keys(0, 50), [slice(0, 7), slice(7, 30), slice(30, 50)]

    def count(order):
        into = step.zeros(model, prepared)
        for shard in order:
            step.count(model, prepared, shard.start, shard.stop, keys[shard], into)
        return into

    first = count(shards)
    for order in (shards[::-1], [shards[1], shards[2], shards[0]]):
        for name, sums in count(order).items():
            np.testing.assert_array_equal(sums, first[name])
