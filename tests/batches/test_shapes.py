"""What every kind of batch must do: be counted, cut and taken apart, with the data of each group unchanged."""

import numpy as np
import pytest
from scipy import sparse

from ssvi.batches.documents import Documents
from ssvi.batches.frames import Frames
from ssvi.batches.groups import Groups
from ssvi.batches.ratings import Ratings
from ssvi.batches.rows import DenseRows
from ssvi.batches.sequences import Sequences

RNG = np.random.default_rng(0)


def _ratings():
    cells = RNG.permutation(7 * 5)[:15]
    return Ratings.from_triples(cells // 5, cells % 5, RNG.integers(0, 3, 15), (7, 5))


BATCHES = {
    "rows": DenseRows.from_matrix(RNG.normal(size=(7, 3))),
    "sequences": Sequences.from_lengths(RNG.normal(size=(20, 2)), [3, 0, 5, 1, 1, 4, 6]),
    "ratings": _ratings(),
    "groups": Groups.from_table(RNG.normal(size=(20, 2)), RNG.normal(size=20), RNG.permutation(np.arange(20) % 7))[1],
}


def _content(batch):
    """Return what belongs to each group, as lists."""
    if isinstance(batch, DenseRows):
        return batch.values.tolist()
    if isinstance(batch, Ratings):
        cut = [slice(a, b) for a, b in zip(batch.indptr[:-1], batch.indptr[1:], strict=True)]
        return [(batch.items[own].tolist(), batch.values[own].tolist()) for own in cut]
    if isinstance(batch, Sequences):
        return [own.tolist() for own in batch]
    return [tuple(part.tolist() for part in group) for group in batch]


@pytest.fixture(params=sorted(BATCHES))
def batch(request):
    return BATCHES[request.param]


def test_slices_and_taken_groups_have_the_data_of_their_groups(batch):
    content = _content(batch)
    assert len(batch) == len(batch.costs()) == len(content) == 7
    assert _content(batch.slice(2, 5)) == content[2:5]
    order = np.array([4, 0, 0, 6])
    assert _content(batch.take(order)) == [content[n] for n in order]
    assert _content(batch.slice(2, 7).take(np.array([3, 1]))) == [content[5], content[3]]
    assert batch.slice(2, 5).costs().tolist() == batch.costs()[2:5].tolist()
    assert len(batch.slice(3, 3)) == 0


def _plain(group):
    return tuple(part.tolist() for part in group) if isinstance(group, tuple) else group.tolist()


def test_groups_are_handed_out_one_by_one(batch):
    assert [_plain(batch.group(n)) for n in range(7)] == _content(batch)
    assert _plain(batch.slice(2, 5).group(1)) == _content(batch)[3]


def test_documents_and_frames_are_handed_out_one_by_one():
    table = np.array([[0, 2, 1], [0, 0, 0], [3, 0, 4]])
    assert [_plain(Documents.from_matrix(table).slice(1, 3).group(n)) for n in (0, 1)] == [([], []), ([0, 2], [3, 4])]
    frames = Frames.from_matrix(table, table == 4)
    assert [_plain(frames.group(n)) for n in (0, 2)] == [([1, 2], [2, 1], []), ([0], [3], [2])]


def test_a_rating_of_zero_is_a_rating():
    dense = np.array([[0.0, np.nan, 2.0], [np.nan, np.nan, np.nan], [1.0, 0.0, np.nan]])
    stored = sparse.csr_array(([0.0, 2.0, 1.0, 0.0], ([0, 0, 2, 2], [0, 2, 0, 1])), shape=(3, 3))
    for batch in (Ratings.from_matrix(dense), Ratings.from_matrix(stored)):
        assert _content(batch) == [([0, 2], [0.0, 2.0]), ([], []), ([0, 1], [1.0, 0.0])]
        assert batch.touched().tolist() == [0, 1, 2]
        assert batch.slice(2, 3).touched().tolist() == [0, 1]


@pytest.mark.parametrize(
    ("users", "items", "values", "message"),
    [
        ([0, 0], [1, 1], [2, 3], "user 0 has rated item 1 twice"),
        ([0, 9], [1, 1], [2, 3], "users must be from 0 to 1"),
        ([0, -1], [1, 1], [2, 3], "users must be from 0"),
        ([0], [1, 1], [2, 3], "lists of one length"),
    ],
)
def test_bad_ratings_are_refused(users, items, values, message):
    with pytest.raises(ValueError, match=message):
        Ratings.from_triples(users, items, values, (2, 2))


def test_sequences_by_keys_keep_their_order():
    names, batch = Sequences.from_keys([1.0, 2.0, 3.0, 4.0, 5.0], ["b", "a", "b", "c", "a"])
    assert names.tolist() == ["b", "a", "c"]
    assert _content(batch) == [[[1.0], [3.0]], [[2.0], [5.0]], [[4.0]]]


@pytest.mark.parametrize("lengths", [[2, 2], [-1, 6], [2.5, 2.5], [[5]]])
def test_lengths_that_do_not_fit_are_refused(lengths):
    with pytest.raises(ValueError, match="lengths"):
        Sequences.from_lengths(np.zeros((5, 1)), lengths)


def test_tables_of_other_lengths_are_refused():
    with pytest.raises(ValueError, match="each row needs one"):
        Sequences.from_keys(np.zeros(3), ["a", "b"])
    with pytest.raises(ValueError, match="inputs, outputs and groups"):
        Groups.from_table(np.zeros((3, 1)), np.zeros(2), [0, 1, 1])


def test_patterns_hold_every_row_once():
    values = RNG.normal(size=(50, 3))
    values[RNG.random((50, 3)) < 0.4] = np.nan
    batch = DenseRows.from_matrix(values)
    found = batch.patterns()
    assert sorted(np.concatenate([rows for _, rows in found]).tolist()) == list(range(50))
    assert found[0][0].all()
    for known, rows in found:
        assert (~np.isnan(values[rows]) == known).all()


def test_a_mask_hides_what_stands_there_and_leaves_the_table_alone():
    table = np.ones((2, 2))
    batch = DenseRows.from_matrix(table, mask=[[True, False], [False, False]])
    assert batch.missing.tolist() == [[True, False], [False, False]]
    assert (table == 1).all()


def test_streams_follow_from_the_content_of_rows():
    rows = np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0], [0.0, 3.0], [-0.0, 3.0], [np.nan, 3.0]])
    keys = DenseRows.from_matrix(rows).content_keys(5)
    assert keys[0] == keys[2]
    assert keys[3] == keys[4]
    assert len(set(keys.tolist())) == 4
    assert (DenseRows.from_matrix(rows).content_keys(6) != keys).all()
