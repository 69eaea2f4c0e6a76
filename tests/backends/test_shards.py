import numpy as np
import pytest

from ssvi.backends.shards import shards, shards_of
from ssvi.local_steps.hmm.exact import Exact


@pytest.mark.parametrize("n", [1, 63, 64, 128, 1000, 5000])
def test_shards_cover_everything_once_in_order(n):
    costs = np.random.default_rng(n).integers(0, 1000, n)
    cut = shards(costs)
    assert [piece.start for piece in cut[1:]] == [piece.stop for piece in cut[:-1]]
    assert (cut[0].start, cut[-1].stop) == (0, n)
    assert len(cut) <= max(16, costs.sum() / 65_000)


def test_shards_have_about_equal_cost():
    costs = np.random.default_rng(0).integers(1, 100, 2000)
    totals = [costs[piece].sum() for piece in shards(costs)]
    assert max(totals) < 1.1 * np.mean(totals)
    assert len(totals) == 8  # of 15 that are worth it: two, four and eight workers have equal shares


def test_one_giant_document_is_a_shard_like_any_other():
    costs = np.ones(300, dtype=int)
    costs[150] = 10**9
    assert sum(piece.stop - piece.start for piece in shards(costs)) == 300


def test_few_long_groups_are_spread_over_shards():
    """Twenty sequences of 10,000 points each have work for every worker."""
    assert len(shards(np.full(20, 10_000))) == 16
    assert len(shards(np.full(3, 10_000))) == 3
    assert len(shards(np.array([10**9]))) == 1


def test_a_step_that_takes_long_for_a_unit_has_more_shards():
    """Forty sequences of 250 time points are work for several threads, though as many tokens are not."""
    costs = np.full(40, 250)
    assert len(shards(costs)) == 1
    assert len(shards_of(Exact(), costs)) == 4


def test_a_step_with_several_groups_in_hand_has_company_for_the_longest():
    """A document as long as a quarter of a minibatch: eight shards would leave it alone in its own."""
    costs = np.full(1_000, 100)
    assert len(shards(costs, 8)) == len(shards(costs)) == 8
    costs[0] = 30_000
    assert len(shards(costs, 8)) == 4
    assert len(shards(costs)) > 4
