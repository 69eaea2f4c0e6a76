"""Where components stand, against distances that a plane has and against planted neighbours."""

import numpy as np
import pytest

from ssvi.report.layout import (
    Tree,
    affinities,
    arrange,
    hierarchy,
    kept_neighbours,
    nearest,
    neighbour_slope,
    neighbours,
    plane,
    principal_axes,
)


def _distances(points):
    return np.linalg.norm(points[:, None] - points, axis=2)


def _themes(themes=6, each=5, seed=0):
    """Return distances in ten dimensions of points about a few centres, and the centre of each."""
    rng = np.random.default_rng(seed)
    own = np.repeat(np.arange(themes), each)
    return _distances(4.0 * rng.normal(size=(themes, 10))[own] + rng.normal(size=(len(own), 10))), own


def test_points_in_a_plane_are_found_again():
    points = np.array([[0.0, 0.0], [3.0, 0.0], [0.0, 4.0], [3.0, 4.0]])
    found, share = principal_axes(_distances(points))
    again = _distances(found)
    np.testing.assert_allclose(again / again[0, 1], _distances(points) / 3.0, atol=1e-9)
    assert np.abs(found).max() == pytest.approx(1.0)
    assert share == pytest.approx(1.0)
    np.testing.assert_array_equal(plane(np.zeros((1, 1))), [[0.0, 0.0]])
    np.testing.assert_array_equal(plane(np.zeros((2, 2))), np.zeros((2, 2)))


def test_the_share_of_two_axes_is_that_of_the_largest_variances():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(40, 5)) * [3.0, 2.0, 1.0, 0.5, 0.2]
    variances = np.sort(np.linalg.svd(points - points.mean(axis=0), compute_uv=False) ** 2)[::-1]
    assert principal_axes(_distances(points))[1] == pytest.approx(variances[:2].sum() / variances.sum(), rel=1e-9)


def test_affinities_have_the_perplexity_that_was_asked_for():
    distances, _ = _themes()
    wanted = affinities(distances.copy(), 8.0)
    assert wanted.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(wanted, wanted.T)
    assert not np.diag(wanted).any()
    # One that is as far from all others belongs to each of them alike.
    even = affinities(1.0 - np.eye(10), 3.0)
    np.testing.assert_allclose(even[~np.eye(10, dtype=bool)], 1 / 90)


def test_the_slope_is_that_of_the_divergence():
    rng = np.random.default_rng(2)
    points, wanted = rng.normal(size=(7, 2)), affinities(_distances(rng.normal(size=(7, 4))), 2.0)

    def divergence(places):
        near = 1.0 / (1.0 + _distances(places) ** 2)
        np.fill_diagonal(near, 0.0)
        near /= near.sum()
        own = wanted > 0
        return (wanted[own] * np.log(wanted[own] / near[own])).sum()

    slope, step = neighbour_slope(wanted, points), 1e-6
    for place in np.ndindex(7, 2):
        ahead, back = points.copy(), points.copy()
        ahead[place] += step
        back[place] -= step
        assert slope[place] == pytest.approx((divergence(ahead) - divergence(back)) / (2 * step), abs=1e-7)


def test_neighbours_stand_together_where_axes_have_no_room_for_all():
    distances, own = _themes(8, 6)
    found, best, share = arrange(distances)
    assert best == "neighbours"
    assert found["neighbours"].kept > found["distances"].kept
    assert 0.0 < share < 0.9
    shown = nearest(_distances(found["neighbours"].points), 5)
    assert np.all(own[shown] == own[:, None])
    again, _, _ = arrange(distances)
    np.testing.assert_array_equal(again["neighbours"].points, found["neighbours"].points)


def test_the_last_digits_of_distances_do_not_change_the_map():
    """Other processors have other last digits, and a descent of 500 steps would make another map of them."""
    rng = np.random.default_rng(4)
    rows = rng.dirichlet(np.full(40, 0.1), size=60)
    distances = np.sqrt(((rows[:, None] - rows) ** 2).sum(axis=2))
    noise = 1.0 + 1e-14 * rng.normal(size=distances.shape)
    noise = np.sqrt(noise * noise.T)
    (one, *_), (other, *_) = arrange(distances), arrange(distances * noise)
    np.testing.assert_allclose(one["neighbours"].points, other["neighbours"].points, atol=1e-9)


def test_copies_are_nearer_than_any_strangers():
    """The map of the first edition moved circles apart: a copy stood further off than strangers did."""
    distances, own = _themes(6, 5)
    order = [*range(30), 4]  # the last is the fifth once more
    distances = distances[np.ix_(order, order)]
    for name, arrangement in arrange(distances)[0].items():
        shown = _distances(arrangement.points)
        assert nearest(shown, 1)[30, 0] == 4, name
        strangers = shown[:30, :30][own[:, None] != own]
        assert shown[4, 30] < strangers.min(), name


def test_few_components_have_one_arrangement():
    distances = _distances(np.random.default_rng(3).normal(size=(5, 3)))
    found, best, _ = arrange(distances)
    assert (list(found), best) == (["distances"], "distances")
    assert arrange(np.zeros((1, 1)))[0]["distances"].kept == 1.0
    assert np.isfinite(neighbours(np.zeros((9, 9)), np.zeros((9, 2)))).all()


def test_kept_neighbours_are_counted():
    line = np.arange(10.0)[:, None] * [1.0, 0.0]
    assert kept_neighbours(_distances(line), line) == 1.0
    # In a ring order that pairs each with the one opposite, some are kept by chance and most are not.
    mixed = line[[0, 5, 1, 6, 2, 7, 3, 8, 4, 9]]

    def five(places, k):
        return set(np.argsort(np.abs(places[:, 0] - places[k, 0]), kind="stable")[1:6])

    brute = np.mean([len(five(line, k) & five(mixed, k)) / 5 for k in range(10)])
    assert kept_neighbours(_distances(line), mixed) == pytest.approx(brute)


def test_the_hierarchy_joins_themes_before_strangers():
    distances, own = _themes(5, 6)
    tree = hierarchy(distances)
    assert np.all(np.diff(tree.heights) >= 0)
    branches = np.array(tree.branches(5))
    for theme in range(5):
        assert len(set(branches[own == theme])) == 1
    assert set(branches) == {1, 2, 3, 4, 5}
    # Themes stand in one piece, and branches are numbered from the top.
    assert np.count_nonzero(np.diff(own[tree.order])) == 4
    assert branches[tree.order[0]] == 1
    assert hierarchy(np.zeros((1, 1))).branches(8) == [1]


def test_fewer_components_than_branches_have_one_each():
    tree = hierarchy(_distances(np.random.default_rng(4).normal(size=(3, 2))))
    assert sorted(tree.branches(8)) == [1, 2, 3]
    assert isinstance(tree, Tree)
