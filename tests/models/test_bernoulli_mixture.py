"""Starts of the mixture near some data."""

import numpy as np

from ssvi import engine
from ssvi.batches.documents import Documents
from ssvi.models.bernoulli_mixture import BernoulliMixture

ROWS = (np.random.default_rng(0).uniform(size=(40, 12)) < 0.3).astype(int)


def test_components_start_half_way_between_a_row_and_the_mean():
    model = BernoulliMixture(12, 5, 2.0, (0.5, 2.0))
    start = engine.init(model, 3, Documents.from_matrix(ROWS)).parameters
    counts = start["components"] - model.prior
    noise = counts.sum(axis=-1) - 8.0  # 40 rows among 5
    assert np.all(noise > 0)
    assert 0.1 < noise.mean() < 0.3  # two gamma draws of mean 0.1
    rows = 2 * counts[..., 0] / 8.0 - ROWS.mean(axis=0)
    for row in rows:
        assert np.abs(ROWS - row).mean(axis=1).min() < 0.1
    np.testing.assert_allclose(start["weights"], 8.0 + 0.4)


def test_a_start_can_have_more_components_than_there_are_rows():
    model = BernoulliMixture(12, 50, 2.0)
    start = engine.init(model, 0, Documents.from_matrix(ROWS[:3])).parameters
    assert all(block.family.in_domain(start[name]).all() for name, block in model.blocks().items())


def test_seeds_differ_and_repeat():
    model, rows = BernoulliMixture(12, 5, 2.0), Documents.from_matrix(ROWS)
    first, again, other = (engine.init(model, seed, rows).parameters["components"] for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
