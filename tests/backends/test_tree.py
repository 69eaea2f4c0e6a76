"""Sums in a tree, and the branches of it that others add up."""

import numpy as np
import pytest

from ssvi.backends.blocks import Found, cut_blocks, groups_of, merge, merge_packed
from ssvi.backends.packing import add_counts, pack
from ssvi.backends.parcels import wrap
from ssvi.backends.shards import shards, sum_in_tree
from ssvi.batches.documents import Documents
from ssvi.batches.rows import DenseRows
from ssvi.local_steps.base import LocalResult


def results(count, dtype=np.float32, seed=0):
    rng = np.random.default_rng(seed)
    for n in range(count):
        values = (100 * rng.lognormal(0, 3, (5, 3))).astype(dtype)
        yield LocalResult({"block": values}, {"number": np.array([n])}, float(rng.normal()))


def in_branches(values):
    """The sum as it is described: the largest power of two below the number, and the rest."""
    if len(values) == 1:
        return values[0]
    first = 1 << (len(values) - 1).bit_length() - 1
    return in_branches(values[:first]) + in_branches(values[first:])


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 15, 16, 23])
def test_the_tree_is_the_one_that_is_described(count):
    total, given = sum_in_tree(results(count)), list(results(count))
    expected = in_branches([result.eta_hat["block"].astype(float) for result in given])
    np.testing.assert_array_equal(total.eta_hat["block"], expected)
    assert total.eta_hat["block"].dtype == np.float64
    assert total.bound == in_branches([result.bound for result in given])
    np.testing.assert_array_equal(total.local["number"], np.arange(count))


def test_results_are_left_as_they_are():
    given = list(results(5, dtype=np.float64))
    before = [result.eta_hat["block"].copy() for result in given]
    sum_in_tree(given)
    for result, values in zip(given, before, strict=True):
        np.testing.assert_array_equal(result.eta_hat["block"], values)


@pytest.mark.parametrize("count", [1, 5, 13, 16, 50])
@pytest.mark.parametrize("workers", [1, 2, 3, 8, 100])
@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_blocks_add_up_to_the_same_bits(count, workers, dtype):
    given = list(results(count, dtype))
    expected = sum_in_tree(given)
    blocks = cut_blocks([slice(n, n + 1) for n in range(count)], workers)
    assert len(blocks) <= workers
    found = []
    for block in blocks:
        own = sum_in_tree(given[block[0].start : block[-1].stop])
        found.append(Found({name: pack(value) for name, value in own.eta_hat.items()}, own.local, own.bound))
    halves = [merge_packed(found[start : start + 8]) for start in range(0, len(found), 8)]
    for total in (merge(found), merge(halves)):
        np.testing.assert_array_equal(total.eta_hat["block"], expected.eta_hat["block"])
        assert total.bound == expected.bound
        np.testing.assert_array_equal(total.local["number"], expected.local["number"])


def test_statistics_that_some_do_not_have_are_zeros():
    one = LocalResult({"a": np.ones(2)})
    both = LocalResult({"a": np.ones(2), "b": np.arange(2.0)})
    for given in ([one, both, one], [both, one], [one, one, one, both]):
        total = sum_in_tree(given)
        np.testing.assert_array_equal(total.eta_hat["a"], np.full(2, len(given)))
        np.testing.assert_array_equal(total.eta_hat["b"], np.arange(2.0))


ARRAYS = {
    "few rows": np.eye(50)[[3, 3, 7]].T,
    "all rows": np.random.default_rng(0).normal(size=(4, 3, 2)),
    "whole": np.array([[0, 0], [255, 1], [256, 0], [70_000, 0], [2**40, 5], [0, 0]]),
    "negative": np.array([[0, -1], [0, 0]]),
    "a vector": np.arange(5),
    "nothing": np.zeros((0, 3)),
    "zeros": np.zeros((4, 3), np.int32),
}


@pytest.mark.parametrize("array", ARRAYS.values(), ids=ARRAYS)
def test_packing_keeps_every_number(array):
    packed = pack(array)
    np.testing.assert_array_equal(packed.unpack(), array)
    assert packed.unpack().dtype == array.dtype
    total = np.ones_like(array)
    packed.add_to(total)
    np.testing.assert_array_equal(total, array + 1)


def test_counts_travel_in_few_bytes():
    counts = np.random.default_rng(0).poisson(1.0, (1_000, 100)).astype(np.int32)
    counts[::2] = 0
    counts[1] = 100_000
    assert pack(counts).size < 0.14 * counts.nbytes  # a byte a count for half of the words, and their numbers


def test_counts_whose_sum_is_too_large_for_their_type():
    large = pack(np.array([[2**31 - 1, 1]], np.int32))
    assert add_counts([large]).dtype == np.int32
    np.testing.assert_array_equal(add_counts([large, large]), [[2**32 - 2, 2]])


def test_doubles_whose_sums_are_exact_are_added_as_they_are():
    parts = [pack(np.array([[0.25, 2.0**-24], [0.0, 0.0], [1.0, 3.0]])) for _ in range(3)]
    np.testing.assert_array_equal(add_counts(parts), [[0.75, 3 * 2.0**-24], [0.0, 0.0], [3.0, 9.0]])


def test_parcels_arrive_as_they_were_and_can_be_written_to():
    sent = {"numbers": np.arange(10.0), "columns": np.asfortranarray(np.ones((3, 2))), "text": "x"}
    parcel = wrap(sent)
    arrived = parcel.open()
    assert arrived["numbers"].flags.writeable
    assert arrived["columns"].flags.f_contiguous
    arrived["numbers"][:] = 0  # and nobody else's numbers change
    np.testing.assert_array_equal(parcel.open()["numbers"], sent["numbers"])
    assert 128 <= parcel.size < 600


def test_groups_are_sent_without_the_others():
    documents = Documents.from_matrix(np.random.default_rng(0).poisson(0.5, (1_000, 30)))
    rows = DenseRows(np.zeros((1_000, 30)))
    for batch in (documents, rows):
        assert wrap(groups_of(batch, 10, 20)).size < 0.05 * wrap(batch).size
        assert len(groups_of(batch, 10, 20)) == 10


def test_large_minibatches_have_more_shards():
    assert len(shards(np.full(8_000, 100))) == 16
    assert len(shards(np.full(1_000_000, 100))) == 1541
