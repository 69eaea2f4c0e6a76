import pickle

import numpy as np
import pytest

from ssvi.batches.minibatches import equal_cuts
from ssvi.batches.places import WINDOW, in_order, places

SIZES = np.array([7, 0, 12, 3, 12, 9] * 15)  # more blocks than a window has, some of them empty


def rows_of(place):
    return [(piece.block, row) for piece in place.pieces for row in piece.rows.tolist()]


@pytest.mark.parametrize("batch_size", [1, 10, 64, 300, 5_000])
def test_every_row_comes_once_a_sweep_in_minibatches_of_equal_sizes(batch_size):
    found = list(places(SIZES, batch_size, 3, 1))
    every = [row for place in found for row in rows_of(place)]
    assert sorted(every) == [(block, row) for block, size in enumerate(SIZES) for row in range(size)]
    assert [len(place) for place in found] == np.diff(equal_cuts(SIZES.sum(), batch_size)).tolist()


def test_the_order_is_a_function_of_seed_sweep_and_sizes():
    def order(*arguments):
        return [rows_of(place) for place in places(SIZES, 50, *arguments)]

    assert order(0, 0) == order(0, 0)
    assert order(0, 0) != order(1, 0)
    assert order(0, 0) != order(0, 1)


@pytest.mark.parametrize("first", [1, 5, 12])
def test_a_sweep_goes_on_from_the_middle(first):
    whole = [rows_of(place) for place in places(SIZES, 50, 0, 2)]
    assert [rows_of(place) for place in places(SIZES, 50, 0, 2, first)] == whole[first:]


def test_minibatches_have_rows_of_many_blocks_and_of_one_window():
    sizes = np.full(4 * WINDOW, 100)
    found = list(places(sizes, 1_600, 0, 0))  # two minibatches a window
    # Of 32 blocks of 100, half of the rows are chosen: that one block is left out has a chance of 2^-100.
    assert all({piece.block for piece in place.pieces} == {piece.block for piece in found[i ^ 1].pieces}
               and len(place.pieces) == WINDOW for i, place in enumerate(found))  # fmt: skip


def test_the_first_minibatch_is_as_likely_to_have_any_row():
    sizes, times = np.array([5, 1, 4]), np.zeros(10)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    for seed in range(2_000):
        for block, row in rows_of(next(places(sizes, 5, seed, 0))):
            times[starts[block] + row] += 1
    # Each is a binomial count of 2,000 trials of chance 0.5: 5 standard deviations are 112, a chance of 6e-6 in all.
    assert np.abs(times - 1_000).max() < 112


def test_a_place_is_cut_and_sent():
    place = next(places(SIZES, 200, 0, 0))
    assert rows_of(place.slice(13, 120)) == rows_of(place)[13:120]
    assert len(place.slice(0, 0)) == 0
    assert rows_of(pickle.loads(pickle.dumps(place))) == rows_of(place)


@pytest.mark.parametrize(("start", "stop"), [(0, 645), (0, 7), (7, 8), (6, 30), (640, 645), (5, 5)])
def test_rows_as_they_are_stored(start, stop):
    every = [(block, row) for block, size in enumerate(SIZES) for row in range(size)]
    assert rows_of(in_order(SIZES, start, stop)) == every[start:stop]
