import numpy as np
from scipy.spatial.distance import cdist

from ssvi.models.seeding import _closer, _nearest, k_means


def test_every_point_goes_to_its_nearest_seed():
    rng = np.random.default_rng(0)
    points, seeds = rng.normal(size=(1_300, 3)), rng.normal(size=(7, 3))
    columns = np.ascontiguousarray(points.T)
    labels, squares = _nearest(columns, seeds)
    away = cdist(points, seeds, "sqeuclidean")
    np.testing.assert_array_equal(labels, away.argmin(axis=1))
    np.testing.assert_allclose(squares, away.min(axis=1))
    fewer = _nearest(columns, seeds[:6])[1]
    np.testing.assert_allclose(_closer(columns, seeds[6], fewer), squares)


def test_clusters_that_lie_apart_are_found():
    rng = np.random.default_rng(1)
    truth = np.repeat(np.arange(6), 40)
    points = 20.0 * rng.normal(size=(6, 2))[truth] + rng.normal(size=(240, 2)) * 0.1
    labels = k_means(points, 6, rng)
    pairs = set(zip(truth.tolist(), labels.tolist(), strict=True))
    assert len(pairs) == 6
    assert len({label for _, label in pairs}) == 6


def test_a_mean_of_each_cluster_is_nearest_to_its_own_points():
    """Where k-means has settled, no point wants to go elsewhere."""
    rng = np.random.default_rng(2)
    points = rng.normal(size=(60, 2))
    labels = k_means(points, 3, rng)
    means = np.stack([points[labels == k].mean(axis=0) for k in range(3)])
    np.testing.assert_array_equal(cdist(points, means).argmin(axis=1), labels)
