"""The estimator of Gaussian mixtures: scikit-learn's ways, missing entries, any units, honest errors."""

import numpy as np
import pytest
from scipy import sparse, special, stats
from sklearn.utils import get_tags

import ssvi
from ssvi import GaussianMixture
from ssvi.numerics.random import derive_key, derive_keys

KINDS = ["full", "tied", "diag", "spherical"]
RNG = np.random.default_rng(0)
CENTRES = np.array([[0.0, 0.0, 0.0], [6.0, 0.0, -5.0], [0.0, 7.0, 5.0]])
LABELS = RNG.integers(0, 3, 400)
ROWS = CENTRES[LABELS] + RNG.normal(size=(400, 3))
HELD_OUT = CENTRES[RNG.integers(0, 3, 2_000)] + RNG.normal(size=(2_000, 3))


def _mixture(**options):
    return GaussianMixture(**{"n_components": 6, "max_iter": 120, "random_state": 0, **options})


def _agreement(labels):
    return sum(np.bincount(LABELS[labels == k]).max() for k in np.unique(labels)) / len(labels)


def _is_sensible(model, rows):
    """Nothing that a user sees is NaN or infinite."""
    for value in (model.weights_, model.means_, model.covariances_, model.precisions_, *model.summarize_components()):
        assert np.isfinite(value).all()
    assert np.isfinite(model.score_samples(rows)).all()
    np.testing.assert_allclose(model.predict_proba(rows).sum(axis=1), 1.0)
    assert np.isfinite(model.sample(20)[0]).all()


@pytest.mark.parametrize("local_step", ["gibbs", "exact"])
@pytest.mark.parametrize("global_step", ["ssvi_a", "ssvi", "mean_field", "map"])
def test_every_pair_of_steps_finds_well_separated_clusters(global_step, local_step):
    model = _mixture(global_step=global_step, local_step=local_step).fit(ROWS)
    assert _agreement(model.predict(ROWS)) > 0.98
    # The truth has a mean of -4.257 - log 3 = -5.36 nats a row, and a deviation of 1.2: 2,000 rows tell it to 0.03.
    assert model.score(HELD_OUT) > -5.5


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_finds_how_many_clusters_there_are_and_where(kind):
    model = _mixture(covariance_type=kind, max_iter=500, active_share=0.01).fit(ROWS)
    assert model.n_active_ == 3
    strong = np.flatnonzero(model.weights_ > 0.1)
    assert len(strong) == 3
    distances = np.abs(model.means_[strong][:, None] - CENTRES).max(axis=2)
    # A mean of 130 rows has a deviation of 0.09 in each of 9 coordinates: 0.45 is five of them.
    np.testing.assert_array_less(distances.min(axis=0), 0.45)
    shapes = {"full": (6, 3, 3), "tied": (3, 3), "diag": (6, 3), "spherical": (6,)}
    assert model.covariances_.shape == model.precisions_.shape == shapes[kind]
    dense = model._model().covariance.dense(model.covariances_)[strong]
    np.testing.assert_allclose(np.diagonal(dense, axis1=1, axis2=2), 1.0, atol=0.45)
    inverse = model._model().covariance.dense(model.precisions_)[strong]
    np.testing.assert_allclose(inverse @ dense, np.tile(np.eye(3), (3, 1, 1)), atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_scores_are_the_average_over_draws_from_q(kind):
    """The predictive density against 1,000 draws of weights, means and precisions; six rows, one with a hole.

    The mean of the densities has a standard error that is measured, and five of them are allowed: a chance of failing
    under 6 x 6e-7.
    """
    model = _mixture(n_components=2, covariance_type=kind, max_iter=30).fit(ROWS[:40])
    inner, state = model._model(), model._state.estimate
    rows = ROWS[:6].copy()
    rows[1, 2] = np.nan
    scaled, draws = model._scaling().apply(rows), 1_000
    densities = np.zeros((draws, 6))
    for seed in range(draws):
        views = {}
        for name, block in inner.blocks().items():
            keys = derive_keys(derive_key(seed, name), state[name][..., 0].size)
            views[name] = block.family.draw(state[name], keys).stats
        seen = inner.covariance.gaussians(views["components"])
        precisions = seen.precisions if seen.precisions.ndim == 3 else seen.precisions[:, :, None] * np.eye(3)
        covariances = np.broadcast_to(np.linalg.inv(precisions), (2, 3, 3))
        for n, row in enumerate(scaled):
            known = np.flatnonzero(~np.isnan(row))
            away = row[known] - seen.means[:, known]
            own = covariances[:, known][:, :, known]
            squares = np.einsum("ki,kij,kj->k", away, np.linalg.inv(own), away)
            logs = -0.5 * (squares + np.linalg.slogdet(2 * np.pi * own)[1])
            densities[seed, n] = np.exp(views["weights"][0] + logs).sum()
    units = np.where(np.isnan(rows), 0.0, np.log(model._scaling().unit)).sum(axis=1)
    exact = np.exp(model.score_samples(rows) + units)
    error = densities.std(axis=0, ddof=1) / np.sqrt(draws)
    assert np.all(np.abs(densities.mean(axis=0) - exact) < 5 * error)


def test_probabilities_and_scores_fit_together():
    model = _mixture().fit(ROWS)
    students = model._model().covariance.students(model._state.estimate["components"], 1.0)
    scaled = model._scaling().apply(ROWS[:50])
    joint = np.stack(
        [
            np.log(weight) + stats.multivariate_t.logpdf(scaled, mean, scale, degrees)
            for weight, mean, scale, degrees in zip(model.weights_, *students, strict=True)
        ],
        axis=1,
    )
    np.testing.assert_allclose(model.predict_proba(ROWS[:50]), special.softmax(joint, axis=1), atol=1e-12)
    np.testing.assert_array_equal(model.predict(ROWS[:50]), joint.argmax(axis=1))
    scores = special.logsumexp(joint, axis=1) - np.log(model._scaling().unit).sum()
    np.testing.assert_allclose(model.score_samples(ROWS[:50]), scores, rtol=1e-10)
    assert model.score(ROWS[:50]) == pytest.approx(scores.mean())
    np.testing.assert_array_equal(model.fit_predict(ROWS), model.predict(ROWS))


@pytest.mark.parametrize("kind", KINDS)
def test_units_of_the_data_do_not_matter(kind):
    """Far from 0, and in other units: the same clusters, and the same density but for the units' volume."""
    factors = np.full(3, 1e-3) if kind == "spherical" else np.array([1.0, 1e-6, 1e6])
    there = 1e6 * factors + factors * ROWS
    near, far = _mixture(covariance_type=kind).fit(ROWS), _mixture(covariance_type=kind).fit(there)
    np.testing.assert_array_equal(far.predict(there), near.predict(ROWS))
    np.testing.assert_allclose(far.means_, 1e6 * factors + factors * near.means_, rtol=1e-9)
    shift = np.log(factors).sum()
    np.testing.assert_allclose(far.score_samples(there) + shift, near.score_samples(ROWS), atol=1e-5)
    axes = {"full": np.outer(factors, factors), "tied": np.outer(factors, factors), "diag": factors**2}
    ratio = far.covariances_ / (near.covariances_ * axes.get(kind, 1e-6))
    np.testing.assert_allclose(ratio, 1.0, rtol=1e-3)


@pytest.mark.parametrize("kind", KINDS)
def test_given_priors_are_in_the_units_of_the_data(kind):
    size = {"full": np.diag([4.0, 9.0, 16.0]), "tied": np.diag([4.0, 9.0, 16.0]), "diag": [4.0, 9.0, 16.0]}
    given = {
        "mean_prior": [1.0, 2.0, 3.0], "mean_precision_prior": 0.5, "degrees_of_freedom_prior": 7.0,
        "covariance_prior": size.get(kind, 4.0),
    }  # fmt: skip
    model = _mixture(covariance_type=kind, **given).fit(ROWS)
    inner = model._model()
    prior = np.broadcast_to(inner.blocks()["components"].prior, inner.covariance.shape)
    np.testing.assert_allclose(model._scaling().undo(inner.covariance.means(prior)), np.tile([1.0, 2.0, 3.0], (6, 1)))
    expected = np.broadcast_to(np.asarray(size.get(kind, 4.0)) / 7.0, model.covariances_.shape)
    np.testing.assert_allclose(inner.covariance.covariances(prior) * model._square_units(), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_missing_entries_cost_little(kind):
    """With 30% of entries missing, held-out complete rows score within 0.1 nats of the fit to complete data."""
    rng = np.random.default_rng(1)
    roots = {
        "full": rng.normal(size=(3, 4, 6)) / 2,
        "tied": np.tile(rng.normal(size=(4, 6)) / 2, (3, 1, 1)),
        "diag": rng.gamma(4.0, 0.25, (3, 4, 1)) * np.eye(4),
        "spherical": rng.gamma(4.0, 0.25, (3, 1, 1)) * np.eye(4),
    }[kind]
    centres = 3.0 * rng.normal(size=(3, 4))
    z = rng.integers(0, 3, 3_000)
    rows = centres[z] + np.einsum("nij,nj->ni", roots[z], rng.normal(size=(3_000, roots.shape[2])))
    holes = np.where(rng.random((1_000, 4)) < 0.3, np.nan, rows[:1_000])
    for global_step, local_step in (("ssvi", "exact"), ("ssvi_a", "gibbs"), ("mean_field", "exact")):
        options = {"covariance_type": kind, "global_step": global_step, "local_step": local_step, "max_iter": 100}
        complete = _mixture(**options).fit(rows[:1_000]).score(rows[1_000:])
        assert _mixture(**options).fit(holes).score(rows[1_000:]) > complete - 0.1


def test_a_row_of_which_nothing_is_known_tells_nothing():
    for kind in KINDS:
        options = {"covariance_type": kind, "global_step": "mean_field", "local_step": "exact"}
        plain = _mixture(**options).fit(ROWS)
        holes = _mixture(**options).fit(np.concatenate([ROWS, np.full((50, 3), np.nan)]))
        np.testing.assert_allclose(holes.means_, plain.means_, atol=1e-6)
        np.testing.assert_allclose(holes.weights_, plain.weights_, atol=1e-6)
        empty = np.full((1, 3), np.nan)
        np.testing.assert_allclose(plain.predict_proba(empty)[0], plain.weights_)
        assert plain.score_samples(empty)[0] == pytest.approx(0.0, abs=1e-12)


BAD = {
    "duplicates": np.repeat([[1.0, 2.0], [3.0, 5.0]], 30, axis=0),
    "all the same": np.full((30, 2), 7.0),
    "one row": np.array([[3.0, -2.0]]),
    "a constant column": np.column_stack([RNG.normal(size=50), np.full(50, 4.0)]),
    "a column of zeros": np.column_stack([RNG.normal(size=50), np.zeros(50)]),
    "a missing row": np.concatenate([RNG.normal(size=(40, 2)), np.full((1, 2), np.nan)]),
    "a missing column": np.column_stack([RNG.normal(size=50), np.full(50, np.nan)]),
    "nothing known": np.full((10, 2), np.nan),
    "more components than rows": RNG.normal(size=(3, 2)),
    "far out": 1e140 * RNG.normal(size=(30, 2)),
    "close by": 1e-140 * RNG.normal(size=(30, 2)),
    "two columns that are one": np.repeat(RNG.normal(size=(60, 1)), 2, axis=1),
    "an outlier": np.concatenate([RNG.normal(size=(60, 2)), [[1e9, -1e9]]]),
    "whole numbers": RNG.integers(0, 3, (50, 2)),
}


@pytest.mark.parametrize("what", BAD)
@pytest.mark.parametrize("kind", KINDS)
def test_awkward_data_have_a_sensible_posterior(kind, what):
    for global_step, local_step in (("ssvi_a", "gibbs"), ("ssvi", "exact"), ("mean_field", "exact")):
        options = {"covariance_type": kind, "global_step": global_step, "local_step": local_step, "max_iter": 25}
        model = _mixture(n_components=4, **options).fit(BAD[what])
        _is_sensible(model, BAD[what])
        model.partial_fit(BAD[what])
        _is_sensible(model, BAD[what])


@pytest.mark.parametrize(
    ("options", "rows", "message"),
    [
        ({}, [[1.0, np.inf]], "infinity"),
        ({}, [[1e308, 1.0], [-1e308, 2.0]], "column 0 are too far apart"),
        ({}, 1e-200 * ROWS, "column 0 have a deviation of .*e-200, whose square no computer can hold"),
        ({"covariance_type": "round"}, ROWS, "covariance_type must be 'full', 'tied', 'diag' or 'spherical'"),
        ({"covariance_prior": np.ones((3, 3))}, ROWS, "covariance_prior must be a symmetric, positive definite matrix"),
        ({"covariance_prior": np.eye(2)}, ROWS, "covariance_prior must be 3 x 3 numbers"),
        ({"covariance_prior": 0.0, "covariance_type": "spherical"}, ROWS, "covariance_prior must be positive"),
        (
            {"covariance_prior": [1.0, np.nan, 1.0], "covariance_type": "diag"},
            ROWS,
            "covariance_prior must be positive",
        ),
        ({"mean_prior": [1.0]}, ROWS, "mean_prior must be 3 finite numbers"),
        ({"mean_prior": "here"}, ROWS, "mean_prior must be numbers"),
        ({"degrees_of_freedom_prior": 2.0}, ROWS, "degrees_of_freedom_prior must be more than 2"),
        ({"mean_precision_prior": -1.0}, ROWS, "mean_precision_prior must be a positive number"),
        ({"weight_concentration_prior_type": "none"}, ROWS, "weight_concentration_prior_type must be"),
        ({"n_components": 0}, ROWS, "n_components must be an integer of 1 or more"),
    ],
)
def test_bad_input_is_one_clear_sentence_and_changes_nothing(options, rows, message):
    model = _mixture().fit(ROWS)
    before = model.means_
    with pytest.raises(ValueError, match=message):
        model.set_params(**options).fit(rows)
    np.testing.assert_array_equal(model.means_, before)


def test_a_stream_is_fitted_in_memory_that_does_not_grow():
    """Nothing that a model holds has the length of the data, but a line of history for each step."""
    model = _mixture(batch_size=100)
    sizes = []
    rng = np.random.default_rng(3)
    for _ in range(30):
        model.partial_fit(CENTRES[rng.integers(0, 3, 100)] + rng.normal(size=(100, 3)))
        arrays = [*model._state.estimate.values(), *model._columns.values()]
        sizes.append(sum(array.nbytes for array in arrays))
    assert len(set(sizes)) == 1
    assert model.n_batch_iter_ == len(model.history_) == 30
    assert _agreement(model.predict(ROWS)) > 0.98
    assert model.score(HELD_OUT) > -5.6


def test_partial_fit_keeps_to_its_model_and_its_units():
    model = _mixture().partial_fit(ROWS[:100])
    units = model._columns
    model.partial_fit(1.0 + 2.0 * ROWS[100:])
    assert model._columns is units
    before = model.means_
    for change in ({"covariance_type": "diag"}, {"mean_prior": [0.0, 0.0, 1.0]}, {"n_components": 3}):
        with pytest.raises(ValueError, match="changed since this model was fitted"):
            model.set_params(**change).partial_fit(ROWS)
        model.set_params(covariance_type="full", mean_prior=None, n_components=6)
    np.testing.assert_array_equal(model.means_, before)


def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(many_tasks):
    holes = np.where(np.random.default_rng(4).random(ROWS.shape) < 0.2, np.nan, ROWS)
    for kind in KINDS:
        options = {"covariance_type": kind, "learning_method": "online", "batch_size": 64, "max_iter": 3}
        fits = [_mixture(n_jobs=n, **options).fit(holes) for n in (1, 2)]
        np.testing.assert_array_equal(fits[0].means_, fits[1].means_)
        np.testing.assert_array_equal(fits[0].score_samples(holes), fits[1].score_samples(holes))


def test_samples_have_the_moments_of_the_predictive_density():
    """20,000 rows: three means within 5 standard errors, and scores as of the model's own rows."""
    for kind in KINDS:
        model = _mixture(covariance_type=kind, max_iter=500).fit(ROWS)
        rows, labels = model.sample(20_000)
        expected = model.weights_ @ model.means_
        assert np.all(np.abs(rows.mean(axis=0) - expected) < 5 * rows.std(axis=0) / np.sqrt(20_000))
        assert np.mean(model.predict(rows) == labels) > 0.9
    np.testing.assert_array_equal(model.sample(5)[0], model.sample(5)[0])


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_survives_its_file(kind, tmp_path):
    holes = np.where(np.random.default_rng(4).random(ROWS.shape) < 0.2, np.nan, ROWS)
    model = _mixture(covariance_type=kind, mean_prior=[0.0, 1.0, 2.0]).fit(holes)
    model.save(tmp_path / "mixture.ssvi")
    other = ssvi.load(tmp_path / "mixture.ssvi")
    np.testing.assert_array_equal(other.score_samples(holes), model.score_samples(holes))
    np.testing.assert_array_equal(other.partial_fit(ROWS).means_, model.partial_fit(ROWS).means_)


def test_coordinate_ascent_settles_and_its_bound_grows_and_is_one():
    options = {"global_step": "mean_field", "local_step": "exact"}
    model = _mixture(**options, max_iter=500).fit(ROWS)
    assert model.converged_
    shorter = _mixture(**options, max_iter=3).fit(ROWS)
    assert shorter.bound_ <= model.bound_ < model.score(ROWS)
    bounds = [_mixture(**options, max_iter=n, tol=0.0).fit(ROWS).bound_ for n in range(1, 6)]
    assert np.all(np.diff(bounds) > -1e-9)


def test_sparse_data_and_missing_entries_are_accepted():
    tags = get_tags(GaussianMixture())
    assert tags.input_tags.sparse
    assert tags.input_tags.allow_nan
    counts = np.random.default_rng(0).integers(0, 3, (60, 4))
    dense, thin = _mixture().fit(counts), _mixture().fit(sparse.csr_array(counts))
    np.testing.assert_array_equal(dense.means_, thin.means_)


def test_weights_are_those_of_a_finite_mixture_if_that_is_wanted():
    process, finite = (
        _mixture(weight_concentration_prior_type=kind, weight_concentration_prior=2.0)
        for kind in ("dirichlet_process", "dirichlet_distribution")
    )
    assert process.fit(ROWS)._model().weight_prior == pytest.approx(2.0 / 6)
    assert finite.fit(ROWS)._model().weight_prior == 2.0
