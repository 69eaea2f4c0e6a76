from dataclasses import replace

import numpy as np
import pytest

from ssvi import BernoulliMixture, GammaProcessNMF, GaussianMixture, LatentDirichletAllocation
from ssvi.report import components
from ssvi.report.components import Components, image_shape

COUNTS = np.random.default_rng(0).poisson(0.6, (80, 16))


def _fitted(kind):
    data = (COUNTS > 0).astype(int) if kind is BernoulliMixture else COUNTS
    return kind(4, max_iter=2, random_state=1).fit(data)


def test_topics_are_those_of_the_model_the_largest_first():
    lda = _fitted(LatentDirichletAllocation)
    parts = Components.of(lda)
    assert np.all(np.diff(parts.shares) <= 0)
    np.testing.assert_allclose(parts.rows, lda.topic_word_[parts.numbers])
    np.testing.assert_allclose(parts.shares.sum(), 1.0)
    np.testing.assert_allclose(parts.overall.sum(), 1.0)


@pytest.mark.parametrize("kind", [LatentDirichletAllocation, BernoulliMixture, GammaProcessNMF])
def test_deviations_are_those_of_draws_from_q(kind):
    """Against 4,000 draws: a standard deviation's own error is about 1/90 of it, times 6, and more for heavy tails."""
    model = _fitted(kind)
    parts, rng = Components.of(model), np.random.default_rng(2)
    lam = model._state.estimate
    if kind is LatentDirichletAllocation:
        draws = np.array([rng.dirichlet(lam["topics"][parts.numbers[0]]) for _ in range(4_000)])
    elif kind is BernoulliMixture:
        draws = rng.beta(*np.moveaxis(lam["components"][parts.numbers[0]], -1, 0), size=(4_000, 16))
    else:
        shape, rate = np.moveaxis(lam["dictionary"][parts.numbers[0]], -1, 0)
        draws = rng.gamma(shape, 1 / rate, size=(4_000, 16)) / model.components_[parts.numbers[0]].sum()
    np.testing.assert_allclose(draws.std(axis=0), parts.deviations[0], rtol=0.25)


def test_shares_of_factors_are_shares_of_the_counts():
    """Against activations times spectra, row by row: the two are estimates of one thing, a hundredth apart at most."""
    rng = np.random.default_rng(3)
    spectra = np.kron(np.eye(3), np.full((1, 5), 6.0))
    counts = rng.poisson(rng.gamma(0.5, [4.0, 1.0, 0.3], (300, 3)) @ spectra)
    nmf = GammaProcessNMF(8, max_iter=60, random_state=0).fit(counts)
    found = nmf.transform(counts).sum(axis=0) * nmf.components_.sum(axis=1)
    np.testing.assert_allclose(nmf.summarize_components()[0], found / found.sum(), atol=0.01)


def test_only_components_in_use_are_taken_where_a_model_lets_go_of_some():
    blocks = np.kron(np.eye(2, dtype=int), np.ones((20, 8), dtype=int))
    mixture = BernoulliMixture(6, max_iter=50, random_state=0).fit(blocks)
    assert mixture.n_active_ == 2
    used, every = Components.used_by(mixture), Components.of(mixture)
    assert len(every.shares) == 6
    np.testing.assert_array_equal(used.numbers, every.numbers[:2])
    np.testing.assert_array_equal(used.rows, every.rows[:2])
    lda = _fitted(LatentDirichletAllocation)
    assert len(Components.used_by(lda).shares) == 4


def test_candidates_hold_the_first_words_for_every_weight():
    parts = Components.of(_fitted(LatentDirichletAllocation))
    found = set(parts.candidates(0))
    assert parts.rows[0].argmax() in found
    assert (parts.rows[0] / parts.overall).argmax() in found


def test_distances_are_jensen_shannon():
    parts = Components.of(_fitted(LatentDirichletAllocation))
    p, q = parts.rows[0], parts.rows[2]
    middle = (p + q) / 2
    expected = 0.5 * (p * np.log(p / middle)).sum() + 0.5 * (q * np.log(q / middle)).sum()
    distances = parts.distances()
    np.testing.assert_allclose(distances[0, 2] ** 2, expected, rtol=1e-9)
    np.testing.assert_allclose(distances, distances.T, atol=1e-9)


def test_the_rarest_columns_count_as_one_where_all_would_take_too_long(monkeypatch):
    parts = Components.of(_fitted(LatentDirichletAllocation))
    exact = parts.distances()
    monkeypatch.setattr(components, "_MOST_LOGARITHMS", 1)
    wide = replace(parts, rows=np.hstack([parts.rows, np.full((4, 200), 1e-6)]))
    # 216 columns become 100: what is joined has a weight of 2e-4, which a squared distance can lose times log 2.
    np.testing.assert_allclose(wide.distances() ** 2, exact**2, atol=3e-4)
    lumped = components._lumped(wide.rows / wide.rows.sum(axis=1, keepdims=True))
    assert lumped.shape == (4, 100)
    np.testing.assert_allclose(lumped.sum(axis=1), 1.0)


def test_likeness_is_one_for_the_same_and_nought_for_strangers():
    apart = replace(Components.of(_fitted(LatentDirichletAllocation)), rows=np.eye(16)[[0, 1, 2, 0]])
    likeness = apart.likeness(apart.distances())
    np.testing.assert_allclose(likeness[0], [1.0, 0.0, 0.0, 1.0], atol=1e-9)


def test_images_are_squares_or_what_was_said():
    assert image_shape(784, None) == (28, 28)
    assert image_shape(12, None) is None
    assert image_shape(12, (3, 4)) == (3, 4)
    with pytest.raises(ValueError, match="images of 5 x 5 do not fit rows of 12 columns"):
        image_shape(12, (5, 5))


def _clusters():
    """Two clusters that differ in the second column alone, in which one of them is below 0."""
    rng = np.random.default_rng(4)
    rows = np.concatenate([rng.normal([5.0, -3.0, 0.0], 0.3, (60, 3)), rng.normal([5.0, 3.0, 0.0], 0.3, (40, 3))])
    return GaussianMixture(2, max_iter=100, random_state=0, verbose=0).fit(rows)


def test_means_are_ranked_by_how_far_they_are_from_all_whatever_their_sign():
    parts = Components.of(_clusters())
    assert parts.are_means
    assert (parts.ranked(0)[0], parts.ranked(1)[0]) == (1, 1)
    assert (parts.candidates(0)[0], parts.candidates(1)[0]) == (1, 1)
    np.testing.assert_allclose(parts.rows[:, 1], [-3.0, 3.0], atol=0.2)
    np.testing.assert_allclose(parts.distances(), [[0.0, 1.0], [1.0, 0.0]])


def test_clusters_that_are_all_alike_have_no_distance():
    parts = replace(Components.of(_clusters()), rows=np.ones((2, 3)), overall=np.ones(3))
    assert not parts.distances().any()
    assert not parts.standing(0).any()


def test_columns_that_a_label_says():
    parts = Components.of(_fitted(LatentDirichletAllocation))
    names = [f"word{v}" for v in range(16)]
    label = parts.labels(names)[1]
    assert [names[v] for v in parts.said_by(1, label, names)] == label.split(", ")
    assert parts.said_by(1, "topic 3", None) == []
    given = replace(parts, given=("", "word1 and more", "", ""))
    assert given.said_by(1, "word1 and more", names) == []
    assert given.said_by(0, given.labels(names)[0], names)


def test_a_page_about_means_begins_with_the_largest():
    assert Components.of(_fitted(GaussianMixture)).worth_reading_first() == 0
