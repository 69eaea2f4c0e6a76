"""The mixture estimator: scikit-learn's ways, any data, honest errors."""

import numpy as np
import pytest
from scipy import sparse, special, stats

import ssvi
from ssvi import BernoulliMixture
from ssvi.global_steps.ssvi import Ssvi
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.bernoulli_mixture.exact import Exact
from ssvi.local_steps.lda.gibbs import Gibbs as LdaGibbs

RNG = np.random.default_rng(0)
PROTOTYPES = RNG.uniform(size=(4, 20)) < 0.5
LABELS = RNG.integers(0, 4, 600)
ROWS = (PROTOTYPES[LABELS] ^ (RNG.uniform(size=(600, 20)) < 0.05)).astype(int)


def _mixture(**options):
    return BernoulliMixture(**{"n_components": 12, "max_iter": 150, "random_state": 0, **options})


def _agreement(labels):
    """The share of rows whose cluster's most frequent label is theirs."""
    return sum(np.bincount(LABELS[labels == k]).max() for k in np.unique(labels)) / len(labels)


@pytest.mark.parametrize("local_step", ["gibbs", "exact"])
@pytest.mark.parametrize("global_step", ["ssvi_a", "ssvi", "mean_field", "map"])
def test_every_pair_of_steps_finds_well_separated_clusters(global_step, local_step):
    model = _mixture(global_step=global_step, local_step=local_step).fit(ROWS)
    assert _agreement(model.predict(ROWS)) > 0.95
    assert model.score(ROWS) > -0.6 * ROWS.shape[1]  # one cluster alone has -0.69 a feature


def test_it_finds_how_many_clusters_there_are():
    model = _mixture(max_iter=400).fit(ROWS)
    assert model.n_active_ == 4
    strong = model.weights_ > 0.05
    assert strong.sum() == 4
    distances = np.abs(model.means_[strong][:, None] - PROTOTYPES).mean(axis=2)
    np.testing.assert_array_less(distances.min(axis=0), 0.1)


def test_minibatches_find_them_too():
    model = _mixture(learning_method="online", batch_size=100, max_iter=40).fit(ROWS)
    assert model.n_batch_iter_ == 240
    assert _agreement(model.predict(ROWS)) > 0.95


def test_probabilities_are_those_of_the_fitted_mixture():
    model = _mixture().fit(ROWS)
    joint = np.log(model.weights_) + stats.bernoulli.logpmf(ROWS[:50, None], model.means_).sum(axis=2)
    evidence = special.logsumexp(joint, axis=1)
    np.testing.assert_allclose(model.score_samples(ROWS[:50]), evidence, rtol=1e-10)
    np.testing.assert_allclose(model.predict_proba(ROWS[:50]), np.exp(joint - evidence[:, None]), atol=1e-12)
    np.testing.assert_array_equal(model.predict(ROWS[:50]), joint.argmax(axis=1))
    assert model.score(ROWS[:50]) == pytest.approx(evidence.mean())


def test_snapshots_average_the_predictions_of_states_along_the_fit():
    kept = []

    def watch(state, info):
        if info.step in (75, 100, 125, 150):
            lam = state.parameters
            means = lam["components"][..., 0] / lam["components"].sum(axis=-1)
            kept.append(
                np.log(lam["weights"][0] / lam["weights"].sum())
                + stats.bernoulli.logpmf(ROWS[:30, None], means).sum(axis=2)
            )

    model = _mixture(snapshots=4, callbacks=[watch]).fit(ROWS)
    each = special.logsumexp(kept, axis=2)
    np.testing.assert_allclose(model.score_samples(ROWS[:30]), special.logsumexp(each, axis=0) - np.log(4), rtol=1e-9)
    # Jensen: the average over states is at least the mean of their scores.
    assert model.score(ROWS[:30]) > each.mean()
    after = model.partial_fit(ROWS)
    joint = np.log(after.weights_) + stats.bernoulli.logpmf(ROWS[:30, None], after.means_).sum(axis=2)
    np.testing.assert_allclose(after.score_samples(ROWS[:30]), special.logsumexp(joint, axis=1), rtol=1e-9)
    plain = _mixture(global_step="mean_field", local_step="exact")
    np.testing.assert_array_equal(
        plain.fit(ROWS).score_samples(ROWS), plain.set_params(snapshots=5).fit(ROWS).score_samples(ROWS)
    )


def test_samples_come_from_the_fitted_mixture():
    """20,000 rows: 20 means within 5 standard errors, a chance of failing under 2e-5."""
    model = _mixture().fit(ROWS)
    rows, labels = model.sample(20_000)
    expected = model.weights_ @ model.means_
    assert np.all(np.abs(rows.mean(axis=0) - expected) < 5 * np.sqrt(expected * (1 - expected) / 20_000))
    assert set(np.unique(rows)) == {0, 1}
    assert labels.shape == (20_000,)
    np.testing.assert_array_equal(model.sample(5)[0], model.sample(5)[0])
    assert not np.array_equal(model.sample(50, random_state=1)[0], model.sample(50, random_state=2)[0])


def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(many_tasks):
    options = {"learning_method": "online", "batch_size": 64, "max_iter": 3}
    for local_step in ("gibbs", "exact"):
        fits = [_mixture(n_jobs=n, local_step=local_step, **options).fit(ROWS) for n in (1, 2, 4)]
        for other in fits[1:]:
            np.testing.assert_array_equal(fits[0].means_, other.means_)
            np.testing.assert_array_equal(fits[0].predict_proba(ROWS), other.predict_proba(ROWS))
            np.testing.assert_array_equal(fits[0].score_samples(ROWS), other.score_samples(ROWS))


def test_partial_fit_goes_on_and_keeps_to_its_model():
    model = _mixture(batch_size=100)
    for start in range(0, 600, 200):
        model.partial_fit(ROWS[start : start + 200])
    assert model.n_batch_iter_ == 6
    assert model.history_[-1].documents_seen == 600
    before = model.means_
    with pytest.raises(ValueError, match="n_components changed since this model was fitted"):
        model.set_params(n_components=5).partial_fit(ROWS)
    np.testing.assert_array_equal(model.means_, before)
    model.set_params(n_components=12)
    with pytest.raises(ValueError, match="20 features"):
        model.partial_fit(ROWS[:, :7])


def test_coordinate_ascent_stops_when_it_has_settled_and_its_bound_grows():
    model = _mixture(global_step="mean_field", local_step="exact", max_iter=500).fit(ROWS)
    assert model.converged_
    assert model.n_iter_ < 500
    shorter = _mixture(global_step="mean_field", local_step="exact", max_iter=3).fit(ROWS)
    assert not shorter.converged_
    assert shorter.bound_ < model.bound_ < model.score(ROWS)


@pytest.mark.parametrize("global_step", ["mean_field", "map", "ssvi_a"])
def test_components_that_start_at_equal_rows_come_apart(global_step):
    rows = np.repeat([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]], 30, axis=0)
    model = _mixture(global_step=global_step, local_step="exact", max_iter=400).fit(rows)
    first, second = model.predict(rows[[0, -1]])
    assert first != second
    assert model.score(rows) > -2.0  # one cluster alone has -4.2
    stream = _mixture(n_components=20, global_step=global_step, local_step="exact").partial_fit(ROWS[:1])
    for _ in range(10):
        stream.partial_fit(ROWS)
    assert len(np.unique(stream.predict(ROWS))) >= 3


def test_the_schedule_of_whole_steps_follows_the_given_decay():
    sizes = [info.step_size for info in _mixture(max_iter=60, learning_decay=0.5).fit(ROWS).history_]
    np.testing.assert_allclose(sizes, [min(1.0, (20 / step) ** 0.5) for step in range(1, 61)])


def test_what_a_fit_reports():
    model = _mixture(max_iter=7, global_step="ssvi_a").fit(ROWS)
    assert [info.step for info in model.history_] == list(range(1, 8))
    assert model.history_[0].step_size == 1.0
    assert model.n_iter_ == model.n_batch_iter_ == 7
    assert np.isnan(model.bound_)  # of drawn components there is none
    assert _mixture(max_iter=7).fit(ROWS).bound_ < 0.0
    seen = []
    _mixture(callbacks=[lambda state, info: seen.append(info.step) or len(seen) == 3]).fit(ROWS)
    assert seen == [1, 2, 3]


@pytest.mark.parametrize("kind", [bool, np.float32, np.uint8, sparse.csr_array, sparse.csc_array])
def test_zeros_and_ones_of_any_kind(kind):
    data = kind(ROWS) if isinstance(kind, type) and issubclass(kind, sparse.sparray) else ROWS.astype(kind)
    np.testing.assert_array_equal(_mixture(max_iter=3).fit(data).means_, _mixture(max_iter=3).fit(ROWS).means_)


def test_binarize():
    values = ROWS * 0.7 + 0.1
    with pytest.raises(ValueError, match=r"needs zeros and ones, and there is 0\.[18]"):
        _mixture(binarize=None).fit(values)
    reference = _mixture(max_iter=3, binarize=None).fit(ROWS)
    np.testing.assert_array_equal(_mixture(max_iter=3, binarize=0.5).fit(values).means_, reference.means_)


def test_zeros_everywhere_and_more_components_than_rows_are_no_trouble():
    model = _mixture().fit(np.zeros((30, 5)))
    np.testing.assert_allclose(model.weights_ @ model.means_, 0.0, atol=0.1)
    model = _mixture(n_components=50).fit(ROWS[:3])
    assert 1 <= model.n_active_ <= 3
    assert np.isfinite(model.score(ROWS))
    assert np.isfinite(_mixture().fit(ROWS[:1]).score(ROWS))


BAD_PARAMETERS = [
    ({"n_components": 0}, "n_components must be an integer of 1 or more, not 0"),
    ({"weight_concentration_prior": -1.0}, "weight_concentration_prior must be a positive number"),
    ({"mean_prior": (1.0, 0.0)}, r"mean_prior must be two positive numbers, not \(1.0, 0.0\)"),
    ({"mean_prior": 1.0}, "mean_prior must be two positive numbers"),
    ({"binarize": "yes"}, "binarize must be a number, or None"),
    ({"active_share": 2.0}, "active_share must be from 0 to 1"),
    ({"tol": -1.0}, "tol must be a number of 0 or more"),
    ({"max_iter": 0}, "max_iter must be an integer of 1 or more"),
    ({"local_step": "cvb0"}, "local_step 'cvb0' is not known; the known ones are 'exact', 'gibbs'"),
    ({"local_step": LdaGibbs()}, "is for the model 'lda', and this one is 'bernoulli_mixture'"),
    ({"global_step": "em"}, "global_step 'em' is not known"),
]


@pytest.mark.parametrize(("options", "message"), BAD_PARAMETERS)
def test_bad_parameters_are_refused_in_one_sentence(options, message):
    model = _mixture(**options)
    with pytest.raises(ValueError, match=message):
        model.fit(ROWS)
    assert not hasattr(model, "_state")


def test_bad_data_changes_nothing():
    model = _mixture(max_iter=3).fit(ROWS)
    before = model.means_
    bad = [(np.full((3, 20), np.nan), "NaN"), (np.full((3, 20), "word"), "string"), (np.ones((0, 20)), "0 sample")]
    for rows, message in bad:
        with pytest.raises(ValueError, match=message):
            model.fit(rows)
    np.testing.assert_array_equal(model.means_, before)


def test_full_ssvi_by_name_brings_its_correction_in_over_a_fit_of_whole_steps():
    by_name = _mixture(global_step="ssvi", max_iter=30).fit(ROWS)
    by_hand = _mixture(global_step=Ssvi(correction_sweeps=30, control_variate=True, averaging=7.0), max_iter=30).fit(
        ROWS
    )
    np.testing.assert_array_equal(by_name.means_, by_hand.means_)


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ({}, {"global_step": "ssvi", "local_step": "exact"}),
        ({"learning_method": "online"}, {"global_step": "ssvi_a", "local_step": "gibbs", "learning_method": "online"}),
        ({"global_step": "ssvi_a"}, {"global_step": "ssvi_a", "local_step": "gibbs"}),
        ({"global_step": SsviA()}, {"global_step": "ssvi_a", "local_step": "gibbs"}),
        ({"global_step": "mean_field"}, {"global_step": "mean_field", "local_step": "exact"}),
        ({"local_step": "gibbs"}, {"global_step": "ssvi", "local_step": "gibbs"}),
    ],
)
def test_what_auto_means(given, meant):
    fits = [_mixture(max_iter=5, **options).fit(ROWS) for options in (given, meant)]
    np.testing.assert_array_equal(fits[0].means_, fits[1].means_)


def test_what_auto_means_for_a_stream():
    named = _mixture(global_step="ssvi_a", local_step="gibbs").partial_fit(ROWS)
    np.testing.assert_array_equal(_mixture().partial_fit(ROWS).means_, named.means_)


def test_instances_of_steps_are_taken_as_they_are():
    options = {"global_step": Ssvi(control_variate=True), "local_step": Exact()}
    assert np.isfinite(_mixture(max_iter=5, **options).fit(ROWS).score(ROWS))


def test_it_is_at_the_top():
    assert ssvi.BernoulliMixture is BernoulliMixture
