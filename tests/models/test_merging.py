"""Which components are near-copies, and what becomes of topics that are."""

import numpy as np

from ssvi.models.hdp import HDP
from ssvi.models.merging import cosines, distinct_shares, near_copies


def test_each_copy_joins_the_first_that_it_is_alike_to_and_takes_none_itself():
    likeness = np.eye(4)
    likeness[0, 1] = likeness[1, 0] = likeness[1, 2] = likeness[2, 1] = 0.95  # 0 and 2 are not alike
    assert near_copies(likeness, [0, 1, 2, 3], 0.9) == [(0, 1)]
    assert near_copies(likeness, [1, 0, 2, 3], 0.9) == [(1, 0), (1, 2)]
    assert near_copies(likeness, [3], 0.9) == []


def test_cosines_of_rows_of_zeros_are_numbers():
    np.testing.assert_allclose(cosines(np.array([[1.0, 0.0], [3.0, 3.0], [0.0, 0.0]])), [
        [1.0, np.sqrt(0.5), 0.0], [np.sqrt(0.5), 1.0, 0.0], [0.0, 0.0, 0.0],
    ])  # fmt: skip


def test_a_copy_keeps_its_own_words_and_one_that_is_the_same_but_for_noise_keeps_none():
    rng = np.random.default_rng(0)
    common, own = 1_000.0 * rng.dirichlet(np.full(20, 5.0)), np.zeros(10)
    whole = np.append(common, own)
    own[4:8] = 40.0
    shares = distinct_shares(np.append(0.5 * common, own), whole)
    np.testing.assert_allclose(shares[24:28], 1.0)
    assert not shares[:24].any()
    assert not shares[28:].any()
    for _ in range(50):  # counts of two draws from one distribution, of 1,000 and 500 tokens
        assert not distinct_shares(rng.poisson(0.5 * whole).astype(float), rng.poisson(whole).astype(float)).any()
    assert not distinct_shares(np.zeros(30), whole).any()
    assert not distinct_shares(whole, np.zeros(30)).any()


def test_noise_of_many_rare_words_is_no_word_of_ones_own():
    """Two samples of 20,000 words by Zipf's law, one of them ten times the other. A seeded one stays, if small."""
    rng, law = np.random.default_rng(1), 1.0 / np.arange(1, 20_001)
    law /= law.sum()
    for _ in range(10):
        few, many = (rng.poisson(size * law).astype(float) for size in (1_000, 10_000))
        assert not distinct_shares(many, few).any()
        assert not distinct_shares(few, many).any()


def test_merged_topics_have_the_words_and_tables_of_both():
    model = HDP(4, 3, 1.0, 1.5, 0.1)
    topics = np.array([[10.0, 5.0, 0.1, 0.1], [20.0, 9.0, 0.2, 0.1], [0.1, 0.1, 7.0, 7.0]])
    parameters = {"weights": np.array([[4.0, 6.0, 3.0]]), "topics": topics}
    change = model.rearrangement(parameters.__getitem__)
    assert change is not None
    assert change.pairs == ((1, 0),)
    merged = change.of(parameters, model.blocks())
    np.testing.assert_allclose(merged["topics"][1], topics[0] + topics[1] - 0.1)
    np.testing.assert_allclose(merged["topics"][0], 0.1)
    np.testing.assert_allclose(merged["weights"], [[0.5, 9.5, 3.0]])
    np.testing.assert_allclose(model.words_held(merged).sum(), model.words_held(parameters).sum())
    assert parameters["weights"][0, 0] == 4.0
    assert model.rearrangement(merged.__getitem__) is None
