"""The factorisation estimator: scikit-learn's ways, any data, honest errors."""

import numpy as np
import pandas
import pytest
from scipy import sparse

from ssvi import GammaProcessNMF
from ssvi.local_steps.gamma_process_nmf.gibbs import Gibbs

RNG = np.random.default_rng(0)
SPECTRA = RNG.gamma(0.3, 1.0, (3, 15)) + 0.01
COUNTS = RNG.poisson(RNG.gamma(0.3, 10.0, (200, 3)) @ SPECTRA)
MASK = RNG.uniform(size=COUNTS.shape) < 0.1


def _nmf(**options):
    return GammaProcessNMF(**{"n_components": 8, "max_iter": 60, "random_state": 0, **options})


def _error(model, counts=COUNTS):
    """The mean absolute error of the reconstruction, relative to that of the column means; 0.39 for K = 2."""
    return (
        np.abs(model.inverse_transform(model.transform(counts)) - counts).mean()
        / np.abs(counts - counts.mean(axis=0)).mean()
    )


@pytest.mark.parametrize("local_step", ["gibbs", "mean_field"])
@pytest.mark.parametrize("global_step", ["ssvi_a", "ssvi", "mean_field", "map"])
def test_every_pair_of_steps_finds_a_factorisation(global_step, local_step):
    model = _nmf(global_step=global_step, local_step=local_step).fit(COUNTS)
    assert _error(model) < 0.33


def test_it_finds_the_spectra_and_how_many_there_are():
    model = _nmf(max_iter=200, polish=100).fit(COUNTS)
    assert model.n_active_ == 3
    strong = np.argsort(model.weights_)[-3:]
    correlations = np.corrcoef(SPECTRA, model.components_[strong])[:3, 3:]
    np.testing.assert_array_less(0.98, correlations.max(axis=1))


def test_minibatches_find_them_too():
    model = _nmf(learning_method="online", batch_size=50, max_iter=30).fit(COUNTS)
    assert _error(model) < 0.33


def test_the_polish_clears_what_draws_keep_half_alive():
    rough, polished = (_nmf(max_iter=30, polish=polish, tol=0.0).fit(COUNTS) for polish in (0, 40))
    assert polished.n_active_ <= rough.n_active_
    assert rough.n_iter_ == 30
    assert polished.n_iter_ == polished.n_batch_iter_ == 70
    assert np.isnan(rough.bound_)
    assert np.isfinite(polished.bound_)


def test_transform_has_the_weights_in_it_and_means_are_near_the_data():
    model = _nmf().fit(COUNTS)
    activations = model.transform(COUNTS)
    assert activations.shape == (200, 8)
    np.testing.assert_allclose(model.inverse_transform(activations), activations @ model.components_)
    np.testing.assert_allclose((activations @ model.components_).sum(), COUNTS.sum(), rtol=0.05)
    np.testing.assert_array_equal(model.transform(COUNTS[5:6]), activations[5:6])


def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads(many_tasks):
    options = {"learning_method": "online", "batch_size": 64, "max_iter": 2, "polish": 2}
    for local_step in ("gibbs", "mean_field"):
        fits = [_nmf(n_jobs=n, local_step=local_step, **options).fit(COUNTS) for n in (1, 2, 4)]
        for other in fits[1:]:
            np.testing.assert_array_equal(fits[0].components_, other.components_)
            np.testing.assert_array_equal(fits[0].transform(COUNTS), other.transform(COUNTS))


def test_missing_entries_are_filled_in_better_than_by_the_column_means():
    model = _nmf(max_iter=150).fit(COUNTS, mask=MASK)
    filled = model.inverse_transform(model.transform(COUNTS, mask=MASK))
    ours = np.abs(filled - COUNTS)[MASK].mean()
    plain = np.abs(COUNTS.mean(axis=0) - COUNTS)[MASK].mean()
    assert ours < 0.5 * plain


@pytest.mark.parametrize("form", ["nan", "masked array", "both", "sparse mask", "all sparse", "frame", "list"])
def test_the_value_of_a_missing_entry_does_not_matter(form):
    reference = _nmf(max_iter=3, polish=2).fit(np.where(MASK, 0, COUNTS), mask=MASK)
    model = _nmf(max_iter=3, polish=2)
    if form == "nan":
        model.fit(np.where(MASK, np.nan, COUNTS), mask=MASK)
    elif form == "masked array":
        model.fit(np.ma.masked_array(np.where(MASK, 99, COUNTS), MASK))
    elif form == "both":
        left, right = MASK.copy(), MASK.copy()
        left[:, 7:], right[:, :7] = False, False
        model.fit(np.ma.masked_array(np.where(MASK, np.nan, COUNTS), left), mask=sparse.csr_array(right))
    elif form == "frame":
        model.fit(pandas.DataFrame(np.where(MASK, np.nan, COUNTS)), mask=pandas.DataFrame(MASK))
    elif form == "list":
        model.fit(np.where(MASK, np.nan, COUNTS).tolist(), mask=MASK.tolist())
    else:
        data = sparse.csr_array(np.where(MASK, np.nan, COUNTS)) if form == "all sparse" else COUNTS
        model.fit(data, mask=sparse.csr_array(MASK))
    np.testing.assert_array_equal(model.components_, reference.components_)


def test_missing_entries_in_some_shards_only(many_tasks):
    mask = np.zeros_like(MASK)
    mask[150:, 3] = True
    model = _nmf(max_iter=3, polish=2).fit(COUNTS, mask=mask)
    np.testing.assert_array_equal(model.transform(COUNTS, mask=mask)[:150], model.transform(COUNTS)[:150])
    assert np.isnan(model.score(COUNTS, mask=np.ones_like(MASK)))


def test_very_sparse_activations_do_not_stop_it():
    """With a small shape every draw of a frame's activations can underflow."""
    counts = RNG.poisson(0.2, (100, 4)) + np.eye(100, 4, dtype=int)
    for size in (1, 3):
        model = _nmf(n_components=size, activation_shape=0.005, max_iter=20).fit(counts)
        assert np.isfinite(model.components_).all()


@pytest.mark.parametrize("scale", [1e-200, 1e9, 1e18])
def test_values_of_any_size_fit(scale):
    for global_step in ("ssvi_a", "mean_field", "ssvi"):
        model = _nmf(max_iter=5, polish=2, global_step=global_step).fit(COUNTS * scale)
        assert np.isfinite(model.transform(COUNTS * scale)).all()


def test_a_callback_that_says_stop_ends_it_without_a_polish():
    seen = []
    model = _nmf(callbacks=[lambda state, info: seen.append(info.step) or info.step == 4]).fit(COUNTS)
    assert seen == [1, 2, 3, 4]
    assert model.n_iter_ == 4


def test_rows_and_columns_of_zeros():
    counts = COUNTS.copy()
    counts[:, 4] = counts[17] = 0
    model = _nmf().fit(counts)
    activations = model.transform(counts)
    assert np.isfinite(model.components_).all()
    assert np.isfinite(activations).all()
    assert (activations @ model.components_)[17].sum() < 0.05 * counts.sum(axis=1).mean()
    assert (activations @ model.components_)[:, 4].mean() < 0.05


def test_real_values_are_taken_as_they_are():
    """Halved data hold half the evidence and have half the means."""
    whole, halves = (_nmf(max_iter=150).fit(COUNTS * scale) for scale in (1.0, 0.5))
    assert halves.inverse_scale_ == pytest.approx(2 * whole.inverse_scale_)
    assert _error(halves, COUNTS * 0.5) < 0.33
    assert _error(_nmf(local_step=Gibbs(split="drawn")).fit(COUNTS * 0.5), COUNTS * 0.5) < 0.33


def test_the_score_tells_a_fit_from_a_worse_one():
    good, bad = _nmf(max_iter=150).fit(COUNTS[:150]), _nmf(n_components=1).fit(COUNTS[:150])
    assert good.score(COUNTS[150:]) > bad.score(COUNTS[150:]) + 0.1
    assert np.isfinite(good.score(COUNTS, mask=MASK))


def test_partial_fit_goes_on_and_keeps_to_its_model():
    model = _nmf(batch_size=50)
    for start in range(0, 200, 100):
        model.partial_fit(COUNTS[start : start + 100])
    assert model.n_batch_iter_ == 4
    assert not model.converged_
    scale = model.inverse_scale_
    assert scale == pytest.approx(1 / COUNTS[:100].mean())
    model.partial_fit(COUNTS * 3)
    assert model.inverse_scale_ == scale
    with pytest.raises(ValueError, match="dictionary_shape changed since this model was fitted"):
        model.set_params(dictionary_shape=1.0).partial_fit(COUNTS)


def test_more_components_than_rows_are_no_trouble():
    model = _nmf(n_components=30).fit(COUNTS[:3])
    assert np.isfinite(model.components_).all()
    assert 1 <= model.n_active_ <= 30


BAD = [
    ({}, {"X": -COUNTS}, "Negative values in data passed to GammaProcessNMF.fit"),
    ({}, {"X": np.zeros((3, 4))}, "There is nothing but zeros in the data passed to GammaProcessNMF.fit"),
    ({}, {"X": np.full((3, 4), np.nan)}, "contains NaN"),
    ({}, {"X": COUNTS, "mask": MASK[:, :3]}, r"mask has shape \(200, 3\), and X has \(200, 15\)"),
    ({}, {"X": COUNTS, "mask": np.ones_like(MASK)}, "There is nothing but zeros"),
    ({}, {"X": np.where(MASK, np.nan, COUNTS), "mask": MASK & False}, "NaN or infinity where the mask does not say"),
    ({}, {"X": np.ma.masked_array(COUNTS, MASK), "mask": MASK[:, :1]}, r"mask has shape \(200, 1\)"),
    ({"n_components": 1.5}, {"X": COUNTS}, "n_components must be an integer of 1 or more, not 1.5"),
    (
        {"dictionary_shape": 0.0},
        {"X": COUNTS},
        'dictionary_shape must be a positive number, or "auto" to learn it, not 0.0',
    ),
    ({"inverse_scale": np.inf}, {"X": COUNTS}, "inverse_scale must be a positive number"),
    ({"polish": -1}, {"X": COUNTS}, "polish must be an integer of 0 or more"),
    ({"local_step": "exact"}, {"X": COUNTS}, "local_step 'exact' is not known; the known ones are 'gibbs'"),
]


@pytest.mark.parametrize(("options", "data", "message"), BAD)
def test_bad_input_gets_one_sentence_and_changes_nothing(options, data, message):
    model = _nmf(max_iter=2, polish=0).fit(COUNTS)
    before = model.components_
    with pytest.raises(ValueError, match=message):
        model.set_params(**options).fit(**data)
    np.testing.assert_array_equal(model.set_params(n_components=8).components_, before)


def test_inverse_transform_wants_one_column_for_each_component():
    model = _nmf(max_iter=2, polish=0).fit(COUNTS)
    with pytest.raises(ValueError, match="X has 3 columns, and there are 8 components"):
        model.inverse_transform(np.ones((2, 3)))


def test_entries_of_one_place_of_a_mask_add_up_before_they_are_true_or_false():
    counts = np.random.default_rng(0).poisson(3.0, (20, 4))
    mask = sparse.csr_array((np.array([2, -2, 1, 1]), np.array([0, 0, 1, 1]), np.array([0, 4] + [4] * 19)), (20, 4))
    given, dense = (GammaProcessNMF(3, max_iter=2, random_state=0).fit(counts, mask=m) for m in (mask, mask.toarray()))
    np.testing.assert_array_equal(given.components_, dense.components_)
    assert mask.nnz == 4


def test_unsound_masks_and_activations_are_refused():
    counts, bad = np.ones((3, 3)), sparse.csr_array(np.eye(3))
    model = GammaProcessNMF(3, max_iter=2, random_state=0).fit(counts)
    bad.indices[1] = -1
    for call in (lambda: model.fit(counts, mask=bad), lambda: model.inverse_transform(bad)):
        with pytest.raises(ValueError, match=r"^the sparse matrix has an entry in column -1, and it has 3 columns: "):
            call()
