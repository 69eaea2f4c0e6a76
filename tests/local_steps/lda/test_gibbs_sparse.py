"""One draw of the kernel for many topics against plain sums over slots and topics."""

import copy

import numpy as np
import pytest

from ssvi.local_steps.lda.gibbs_in_python import resample_sparse
from ssvi.local_steps.lda.gibbs_sparse import TOGETHER, _drop_empty, _resample, prior_sums, to_packed
from ssvi.numerics.compile import kernel
from ssvi.numerics.simd import WIDTH, aligned_zeros


@kernel
def _draw(tally, slots, place, used, lists, weights, alpha, prior, words, running, blocks, old, removed, uniforms, new):
    _resample(
        tally, slots, place, used, lists, weights, alpha, prior, words, running, blocks, old, removed, uniforms, new
    )


class _Lists:
    """Four documents' slots, tallies and places, filled at random, and the weights of seven words."""

    def __init__(self, n_topics, dtype, rng):
        width = -(-(n_topics + 1) // WIDTH) * WIDTH
        capacity = width + WIDTH
        self.n_topics, self.dtype = n_topics, dtype
        self.tally = aligned_zeros((TOGETHER, capacity), dtype)
        self.slots = aligned_zeros((TOGETHER, capacity), np.uint32)
        self.place = np.full((TOGETHER, n_topics + 1), capacity - 1, np.uint32)
        self.slots[:] = n_topics
        self.used = rng.integers(1, n_topics + 1, size=TOGETHER).astype(np.uint64)
        for d, used in enumerate(self.used.astype(int)):
            self.slots[d, :used] = rng.permutation(n_topics)[:used]
            self.place[d, self.slots[d, :used]] = np.arange(used)
            self.tally[d, :used] = rng.poisson(1.0, used)  # some have lost their last token
        self.alpha, rows = aligned_zeros((width,), dtype), aligned_zeros((7, width), dtype)
        self.alpha[:n_topics] = rng.gamma(1.0, 0.2, n_topics) + 1e-3
        rows[:, :n_topics] = rng.gamma(0.3, 1.0, (7, n_topics))
        rows[:, :n_topics] = np.maximum(rows[:, :n_topics] / rows.max(axis=1, keepdims=True), 1e-4)
        self.weights = rows
        if dtype == np.float32:
            self.weights = aligned_zeros(rows.shape, np.uint16)
            to_packed(rows, self.weights)
        self.rounded = rows[:, :n_topics].astype(float)
        self.prior = aligned_zeros((7, -(-width // WIDTH // WIDTH) * WIDTH), dtype)
        prior_sums(rows, self.alpha, self.prior)

    def draw(self, words, old, uniforms, draw=_draw):
        """Draw for one token of each document; return the topics."""
        new = np.zeros(TOGETHER, np.uint64)
        running = aligned_zeros((TOGETHER * self.tally.shape[1],), self.dtype)
        blocks = np.uint64(-(-int(self.used.max()) // WIDTH))
        lists = np.arange(TOGETHER, dtype=np.uint64)
        draw(
            self.tally, self.slots, self.place, self.used, lists, self.weights, self.alpha, self.prior, words, running,
            blocks, old, self.dtype(1), uniforms, new,
        )  # fmt: skip
        return new.astype(int)

    def plain(self, d, word, old, uniform):
        """Return the topic that plain sums lead to: slots by (number mod 16, number div 16), then the prior."""
        used = int(self.used[d])
        topics, counts = self.slots[d, :used].astype(int), self.tally[d, :used].astype(float)
        counts[int(self.place[d, old])] -= 1
        order = np.lexsort((np.arange(used) // WIDTH, np.arange(used) % WIDTH))
        row = self.rounded[word]
        masses = np.concatenate([(counts * row[topics])[order], self.alpha[: self.n_topics].astype(float) * row])
        sums = np.cumsum(masses)
        where = min(np.searchsorted(sums, uniform * sums[-1], side="right"), len(sums) - 1)
        return topics[order[where]] if where < used else where - used


def _tokens(lists, rng):
    """Put a token of some word into each document; return words, topics and random numbers."""
    words = rng.integers(7, size=TOGETHER).astype(np.uint64)
    old = np.array([lists.slots[d, rng.integers(int(lists.used[d]))] for d in range(TOGETHER)], np.uint64)
    for d in range(TOGETHER):
        lists.tally[d, int(lists.place[d, int(old[d])])] += 1
    return words, old, rng.random(TOGETHER).astype(lists.dtype)


@pytest.mark.parametrize("n_topics", [1, 5, 15, 16, 17, 100, 321, 1_000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_draw_falls_where_plain_sums_say(n_topics, dtype):
    """200 draws of four documents each; single precision may tip a draw that lies within 2e-5 of a boundary."""
    rng = np.random.default_rng(n_topics)
    tipped = 0
    for _ in range(200):
        lists = _Lists(n_topics, dtype, rng)
        words, old, uniforms = _tokens(lists, rng)
        expected = [
            [lists.plain(d, int(words[d]), int(old[d]), float(uniforms[d]) + shift) for shift in (0.0, -2e-5, 2e-5)]
            for d in range(TOGETHER)
        ]
        before = lists.tally.sum(axis=1)
        new = lists.draw(words, old, uniforms)
        np.testing.assert_array_equal(lists.tally.sum(axis=1), before)
        for d in range(TOGETHER):
            assert new[d] in expected[d]
            tipped += new[d] != expected[d][0]
            slot = int(lists.place[d, new[d]])
            assert slot < int(lists.used[d])
            assert lists.slots[d, slot] == new[d]
            assert lists.tally[d, slot] >= 1
    assert tipped <= (20 if dtype == np.float32 else 1)


@pytest.mark.parametrize("n_topics", [1, 16, 40, 321])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_plain_python_draws_the_same(n_topics, dtype):
    """50 draws of four documents each, in double precision all equal; single precision may tip one."""
    rng = np.random.default_rng(n_topics)
    tipped = 0
    for _ in range(50):
        lists = _Lists(n_topics, dtype, rng)
        words, old, uniforms = _tokens(lists, rng)
        twin = copy.deepcopy(lists)
        if (lists.draw(words, old, uniforms) != twin.draw(words, old, uniforms, resample_sparse)).any():
            tipped += 1
            continue
        for name in ("tally", "slots", "place", "used"):
            np.testing.assert_array_equal(getattr(lists, name), getattr(twin, name))
    assert tipped <= (1 if dtype == np.float32 else 0)


def test_topics_without_tokens_give_up_their_slots():
    tally, slots = np.array([2.0, 0, 1, 0, 0, 0]), np.array([4, 1, 3, 0, 9, 9], np.uint32)
    place = np.array([3, 1, 5, 2, 0], np.uint32)
    assert _drop_empty(tally, slots, place, 4, 9) == 2
    np.testing.assert_array_equal(tally, [2, 1, 0, 0, 0, 0])
    np.testing.assert_array_equal(slots, [4, 3, 9, 9, 9, 9])
    np.testing.assert_array_equal(place, [5, 5, 5, 1, 0])
