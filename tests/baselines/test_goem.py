"""G-OEM: its step against a plain computation with the same random numbers, and its path against what is known."""

import numpy as np
import pytest
from tests.tiny import enumerate_document

from ssvi import engine, tasks
from ssvi.backends import Threads
from ssvi.backends.shards import shards
from ssvi.baselines import Goem
from ssvi.batches.documents import Documents
from ssvi.local_steps.lda.gibbs import Gibbs
from ssvi.models.lda import LDA
from ssvi.numerics.random import derive_key, derive_keys, next_bits
from ssvi.schedules import ConstantSchedule

MODEL = LDA(6, np.array([0.3, 0.5, 0.2]), 0.1)
COUNTS = np.array([[3, 0, 1, 0, 2, 0], [0, 2, 0, 2, 0, 0], [0, 0, 0, 0, 0, 0], [1, 1, 1, 1, 1, 0]])
TOKENS = [np.repeat(np.arange(6), row) for row in COUNTS]
PRECISE = Gibbs(sweeps=6, kept=3, statistics="drawn", precision="float64")


class _PlainChain:
    """One document's Gibbs sampler, in so many words."""

    def __init__(self, tokens):
        self.tokens, self.topics, self.tally = tokens, [None] * len(tokens), np.zeros(3)

    def sweep(self, beta, state):
        """Draw each token's topic given the others', with 24 bits of the stream for each; return the stream's state."""
        for n, word in enumerate(self.tokens):
            if self.topics[n] is not None:
                self.tally[self.topics[n]] -= 1
            bits, state = next_bits(np.uint64(state))
            masses = np.cumsum((self.tally + MODEL.alpha) * beta[:, word])
            self.topics[n] = int(np.searchsorted(masses, (int(bits) >> 40) / 2**24 * masses[-1], side="right"))
            self.tally[self.topics[n]] += 1
        return state

    def counts(self):
        """Return how often each word has each topic."""
        counts = np.zeros((3, 6))
        np.add.at(counts, (self.topics, self.tokens), 1)
        return counts


def _normalised(lam):
    return lam / lam.sum(axis=1, keepdims=True)


def _plain_step(smoothed, number, rho, population):
    """Return topics x words s + smoothing, times N, after a step without boosting."""
    keys = derive_keys(derive_key(4, "documents", number), len(TOKENS))
    total = np.zeros((3, 6))
    for tokens, state in zip(TOKENS, keys, strict=True):
        chain = _PlainChain(tokens)
        for sweep in range(6):
            state = chain.sweep(_normalised(smoothed), state)
            total += chain.counts() / 3 if sweep >= 3 else 0
    return (1 - rho) * smoothed + rho * (0.1 + population / len(TOKENS) * total)


def _plain_boosted_step(smoothed, number, rho, population):
    """Return the same after a step whose topics move after every sweep."""
    chains, now, total = [_PlainChain(tokens) for tokens in TOKENS], smoothed, np.zeros((3, 6))
    for sweep in range(6):
        for chain, key in zip(chains, derive_keys(derive_key(4, "documents", number, sweep), 4), strict=True):
            chain.sweep(_normalised(now), key)
        counts = sum(chain.counts() for chain in chains)
        now = (1 - rho) * smoothed + rho * (0.1 + population / len(TOKENS) * counts)
        total += counts / 3 if sweep >= 3 else 0
    return (1 - rho) * smoothed + rho * (0.1 + population / len(TOKENS) * total)


@pytest.mark.parametrize(("boosted", "plain"), [(False, _plain_step), (True, _plain_boosted_step)])
def test_steps_are_those_of_a_plain_computation(boosted, plain):
    """Three steps with sizes 1, 2^-1/2 and 3^-1/2 on a minibatch that stands for ten documents."""
    algorithm = Goem(MODEL, population=10, local_step=PRECISE, averaging=1.0, boosted=boosted)
    state = algorithm.init(4)
    smoothed, path = state.parameters["topics"], []
    for number in (1, 2, 3):
        smoothed = plain(smoothed, number, number**-0.5, 10)
        path.append(smoothed)
    batches = (Documents.from_matrix(COUNTS) for _ in range(3))
    state = engine.follow(algorithm, state, batches)
    np.testing.assert_allclose(state.parameters["topics"], smoothed, rtol=1e-12)
    average = (path[0] + 2 * path[1] + 3 * path[2]) / 6
    np.testing.assert_allclose(algorithm.mean_topics(state), _normalised(average), rtol=1e-12)
    assert (state.step, state.documents_seen) == (3, 12)


@pytest.mark.parametrize("boosted", [False, True])
def test_without_averaging_the_estimate_is_the_last(boosted):
    algorithm = Goem(MODEL, population=4, local_step=PRECISE, averaging=0.0, boosted=boosted)
    state = engine.follow(algorithm, algorithm.init(0), [Documents.from_matrix(COUNTS)])
    np.testing.assert_allclose(algorithm.mean_topics(state), _normalised(state.parameters["topics"]))
    assert not len(state.averages)


def test_a_boosted_chain_samples_the_conditional():
    """With steps so small that the topics stay, 4,000 copies of a document have their exact expected counts.

    Each copy's counts of its last sweep are one draw (of at most 2 tokens a word, so of a variance of at most 1),
    nearly free of their start after 20 sweeps: 9 comparisons at 5 standard errors, a chance of failing under 6e-6.
    """
    model = LDA(3, np.array([0.3, 0.5, 0.2]), 0.1)
    lam = np.array([[5.0, 1.0, 1.0], [1.0, 4.0, 2.0], [1.0, 1.0, 3.0]])
    step = Goem(
        model, 1, ConstantSchedule(1e-9), Gibbs(sweeps=20, kept=1, precision="float64"), averaging=0.0, boosted=True
    )
    batch = Documents.from_matrix(np.tile([[2, 1, 1]], (4_000, 1)))
    state = engine.State(3, 0, 0, {"topics": lam})
    moved = step.step(state, batch)[0].parameters["topics"]
    found = (moved - (1 - 1e-9) * lam) / 1e-9 - 0.1  # the mean counts of a document
    _, expected = enumerate_document([0, 0, 1, 2], _normalised(lam), model.alpha)
    assert np.abs(found - expected).max() < 5 / np.sqrt(4_000) + 1e-5  # and what is lost in the differences


@pytest.mark.parametrize("boosted", [False, True])
def test_any_number_of_threads_gives_the_same_bits(many_tasks, boosted):
    model = LDA.example()
    _, documents = model.simulate(np.random.default_rng(1), 300)
    assert len(tasks.row_tasks((4, 30))) == 4
    assert len(shards(documents.costs()[:100])) == 8
    states = []
    for jobs in (1, 2):
        with Threads(jobs) as backend:
            algorithm = Goem(model, len(documents), boosted=boosted, backend=backend)
            states.append(engine.run(algorithm, algorithm.init(0), documents, sweeps=2, batch_size=100))
    np.testing.assert_array_equal(states[0].parameters["topics"], states[1].parameters["topics"])
    np.testing.assert_array_equal(states[0].averages["topics"], states[1].averages["topics"])
    assert states[0].step == 6


@pytest.mark.parametrize("boosted", [False, True])
def test_a_fit_in_two_halves_has_the_same_bits(boosted):
    model = LDA.example()
    _, documents = model.simulate(np.random.default_rng(1), 90)
    algorithm = Goem(model, 90, boosted=boosted)
    whole = engine.run(algorithm, algorithm.init(0), documents, sweeps=4, batch_size=30)
    half = engine.run(algorithm, algorithm.init(0), documents, sweeps=2, batch_size=30)
    half = engine.run(algorithm, half, documents, sweeps=4, batch_size=30)
    np.testing.assert_array_equal(whole.parameters["topics"], half.parameters["topics"])
    np.testing.assert_array_equal(whole.averages["topics"], half.averages["topics"])


@pytest.mark.parametrize("bad", [{"averaging": -1.0}, {"boosted": "yes"}])
def test_settings_that_make_no_sense_are_refused(bad):
    with pytest.raises(ValueError, match=f"{next(iter(bad))} must be "):
        Goem(MODEL, 10, **bad)
