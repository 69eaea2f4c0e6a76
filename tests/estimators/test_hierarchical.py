"""Multilevel regressions on published tables, in the hands of people, and with data that are not as they should be."""

import numpy as np
import pytest
from sklearn.base import clone
from tests.tables import cbpp, sleepstudy

import ssvi
from ssvi import HierarchicalLinearRegression, HierarchicalLogisticRegression, HierarchicalProbitRegression

KINDS = pytest.mark.parametrize("kind", [HierarchicalLogisticRegression, HierarchicalProbitRegression])
RNG = np.random.default_rng(0)
GROUPS = np.repeat(np.arange(12), 5)
X = RNG.normal(size=(60, 2))
Y = X[:, 0] + RNG.normal(size=12)[GROUPS] + RNG.normal(0.0, 0.5, 60)
CLASSES = np.where(Y > 0, "yes", "no")


@pytest.fixture(scope="module")
def sleep():
    return HierarchicalLinearRegression(formula="Reaction ~ Days + (1 + Days | Subject)", random_state=0).fit(
        sleepstudy()
    )


def test_sleepstudy_has_the_estimates_of_lme4(sleep):
    """REML: 251.405 (6.825) and 10.467 (1.546), deviations 24.74 and 5.92, residual 25.59."""
    assert sleep.coefficient_names_ == ["Intercept", "Days"]
    assert np.all(np.abs(sleep.coefficients_ - [251.405, 10.467]) < 0.1 * np.array([6.825, 1.546]))
    np.testing.assert_allclose(sleep.deviations_, [24.74, 5.92], rtol=0.1)
    assert sleep.noise_deviation_ == pytest.approx(25.59, rel=0.1)


def test_a_summary_has_every_global_parameter(sleep):
    table = sleep.summary(level=0.8)
    assert list(table.columns) == ["mean", "sd", "10%", "50%", "90%"]
    assert list(table.index) == [
        "Intercept", "Days", "sd(Intercept)", "sd(Days)", "corr(Intercept, Days)", "sd(noise)",
    ]  # fmt: skip
    assert np.all(np.diff(table[["10%", "50%", "90%"]].to_numpy(), axis=1) > 0)
    # A long Gibbs run: 7.57, 1.72 for coefficients, 27.5 (7.0) and 6.57 (1.51) for deviations, 25.9 (1.54) for noise.
    np.testing.assert_allclose(table["sd"], [7.57, 1.72, 7.0, 1.51, 0.27, 1.54], rtol=0.3)
    np.testing.assert_allclose(table["50%"].iloc[2:4], [26.7, 6.37], rtol=0.05)
    effects = sleep.group_effects()
    assert len(effects) == 36
    assert effects.loc[(308, "Days"), "mean"] == pytest.approx(9.2, abs=0.6)  # lme4: 9.199


def test_groups_known_unknown_and_average(sleep):
    rows = sleepstudy().iloc[[0, 9]]
    known, spread = sleep.predict(rows, return_std=True)
    average = sleep.predict(rows.drop(columns="Subject"))
    other, wider = sleep.predict(rows.assign(Subject=999), return_std=True)
    np.testing.assert_allclose(average, sleep.summary()["mean"].iloc[:2] @ [[1, 1], [0, 9]])
    np.testing.assert_allclose(other, average)
    assert known[1] > average[1] + 40.0
    assert np.all(wider > spread)
    np.testing.assert_allclose(sleep.predict(rows.assign(Subject=999), unseen="average"), average)
    with pytest.raises(ValueError, match="the group 999 was not in the data of the fit"):
        sleep.predict(rows.assign(Subject=999), unseen="error")


def test_cbpp_at_the_mode_has_the_estimates_of_lme4():
    """Laplace: -1.398 (0.231), -0.992 (0.303), -1.128 (0.323), -1.580 (0.422), herds 0.642."""
    model = HierarchicalLogisticRegression(
        formula="incidence | trials(size) ~ period + (1 | herd)", global_step="map", local_step="laplace", max_iter=100
    ).fit(cbpp())
    off = np.abs(model.coefficients_ - [-1.398, -0.992, -1.128, -1.580])
    assert np.all(off < 0.1 * np.array([0.231, 0.303, 0.323, 0.422]))
    assert model.deviations_[0] == pytest.approx(0.642, rel=0.15)


def test_cbpp_by_draws_has_the_estimates_of_lme4():
    """The same by SSVI: medians of the posterior, whose means are up to 0.13 standard errors away."""
    model = HierarchicalLogisticRegression(
        formula="incidence | trials(size) ~ period + (1 | herd)", random_state=0
    ).fit(cbpp())  # fmt: skip
    assert model.reweighed_
    off = np.abs(model.coefficients_ - [-1.398, -0.992, -1.128, -1.580])
    assert np.all(off < 0.1 * np.array([0.231, 0.303, 0.323, 0.422]))
    assert model.deviations_[0] == pytest.approx(0.642, rel=0.15)
    # A Gibbs run of 60,000 sweeps; with draws worth 2,000, 0.1 deviations are four standard errors (1e-4 each).
    gibbs = np.array([[-1.421, -0.999, -1.142, -1.634, 0.765], [0.265, 0.312, 0.334, 0.445, 0.230]])
    table = model.summary()
    assert np.all(np.abs(table["mean"] - gibbs[0]) < 0.1 * gibbs[1])
    np.testing.assert_allclose(table["sd"], gibbs[1], rtol=0.1)


def test_a_formula_is_the_design_that_one_writes_by_hand(sleep):
    frame = sleepstudy()
    by_hand = HierarchicalLinearRegression(varying="all", max_iter=5, random_state=0)
    by_hand.fit(frame[["Days"]], frame["Reaction"], frame["Subject"])
    again = clone(sleep).set_params(max_iter=5).fit(frame)
    np.testing.assert_array_equal(again.coefficients_, by_hand.coefficients_)
    assert by_hand.coefficient_names_ == ["Intercept", "Days"]


@KINDS
def test_text_labels_and_probabilities(kind):
    model = kind(max_iter=30, random_state=0).fit(X, CLASSES, GROUPS)
    assert model.classes_.tolist() == ["no", "yes"]
    shares = model.predict_proba(X, GROUPS)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (model.predict(X, GROUPS) == CLASSES).mean() > 0.8
    # What is drawn from the population is less sure than the average group.
    unseen, average = model.predict_proba(X, np.full(60, -5)), model.predict_proba(X)
    assert np.all(np.abs(unseen - 0.5) <= np.abs(average - 0.5) + 1e-12)
    assert set(model.summary().index) == {"Intercept", "x0", "x1", "sd(Intercept)"}


def test_trials_are_as_many_rows():
    """A row of three trials is three rows of the same group: the same mode, from another start."""
    successes = RNG.integers(0, 4, 60)
    counted = HierarchicalLogisticRegression(local_step="variational", global_step="map", max_iter=40)
    single = clone(counted)
    counted.fit(X, successes, GROUPS, trials=np.full(60, 3))
    rows = np.repeat(np.arange(60), 3)
    single.fit(X[rows], (np.tile([0, 1, 2], 60) < successes[rows]).astype(int), GROUPS[rows])
    np.testing.assert_allclose(single.coefficients_, counted.coefficients_, atol=2e-3)


def test_partial_fit_adds_groups_and_files_keep_them(tmp_path):
    labels = np.array([f"school {g}" for g in GROUPS])
    model = HierarchicalLinearRegression(random_state=0)
    model.partial_fit(X[:30], Y[:30], labels[:30]).partial_fit(X[30:], Y[30:], labels[30:])
    assert model.groups_.tolist() == [f"school {g}" for g in range(12)]
    model.save(tmp_path / "m.ssvi")
    again = ssvi.load(tmp_path / "m.ssvi")
    np.testing.assert_array_equal(again.predict(X, labels), model.predict(X, labels))
    np.testing.assert_array_equal(again.summary().to_numpy(), model.summary().to_numpy())
    again.partial_fit(X[:5], Y[:5], labels[:5])
    assert len(again.groups_) == 12


def test_one_pass_in_parts_finds_deviations_and_noise():
    """2,000 groups of 5 rows: the standard errors of the three are 0.02, 0.01 and 0.01, and steps still add noise."""
    rng = np.random.default_rng(5)
    model = HierarchicalLinearRegression(varying="all", random_state=0)
    for part in range(20):
        labels = np.repeat(np.arange(100), 5) + 100 * part
        x, effects = rng.normal(size=500), rng.normal(size=(100, 2)) * [1.0, 0.5]
        own = effects[labels - 100 * part]
        model.partial_fit(x[:, None], 1.0 + own[:, 0] + (0.5 + own[:, 1]) * x + rng.normal(size=500), labels)
    found = [*model.deviations_, model.noise_deviation_]
    np.testing.assert_allclose(found, [1.0, 0.5, 1.0], atol=0.08)


def test_known_noise_is_taken_as_it_is():
    """Without groups and with a weak prior: weighted least squares, with their errors."""
    deviations = RNG.uniform(0.2, 2.0, 60)
    model = HierarchicalLinearRegression(random_state=0).fit(X, Y, noise_deviation=deviations)
    design = np.column_stack([np.ones(60), X]) / deviations[:, None]
    covariance = np.linalg.inv(design.T @ design)
    np.testing.assert_allclose(model.coefficients_, covariance @ design.T @ (Y / deviations), rtol=0.01, atol=0.005)
    np.testing.assert_allclose(model.summary()["sd"], np.sqrt(np.diag(covariance)), rtol=0.05)
    with pytest.raises(ValueError, match="noise_deviation must be given for all rows"):
        model.partial_fit(X, Y)


class TestBadData:
    def test_separable_data_have_a_finite_posterior(self):
        y = (X[:, 0] > 0).astype(int)
        table = HierarchicalLogisticRegression(max_iter=100, random_state=0).fit(X, y, GROUPS).summary()
        assert 1.0 < table.loc["x0", "mean"] < 60.0
        assert np.isfinite(table.to_numpy()).all()

    def test_one_row_a_group(self):
        table = HierarchicalLinearRegression(max_iter=100, random_state=0).fit(X, Y, np.arange(60)).summary()
        assert np.isfinite(table.to_numpy()).all()
        total = np.hypot(table.loc["sd(Intercept)", "50%"], table.loc["sd(noise)", "50%"])
        residual = np.std(Y - X @ np.linalg.lstsq(X, Y, rcond=None)[0])
        assert total == pytest.approx(residual, rel=0.3)

    @pytest.mark.parametrize("kind", [HierarchicalLinearRegression, HierarchicalLogisticRegression])
    def test_constant_and_collinear_columns(self, kind):
        columns = np.column_stack([X[:, 0], X[:, 0], np.full(60, 7.0), np.zeros(60)])
        y = Y if kind is HierarchicalLinearRegression else (Y > 0).astype(int)
        model = kind(max_iter=60, random_state=0).fit(columns, y, GROUPS)
        plain = kind(max_iter=60, random_state=0).fit(X[:, :1], y, GROUPS)
        assert np.isfinite(model.summary().to_numpy()).all()
        np.testing.assert_allclose(model.predict(columns, GROUPS) == y, plain.predict(X[:, :1], GROUPS) == y, atol=0.1)

    def test_columns_of_any_size(self):
        shifted = np.column_stack([2000.0 + 5.0 * X[:, 0], 1e-6 * X[:, 1]])
        model = HierarchicalLinearRegression(max_iter=100, random_state=0).fit(shifted, 1e5 + Y, GROUPS)
        plain = HierarchicalLinearRegression(max_iter=100, random_state=0).fit(X, Y, GROUPS)
        np.testing.assert_allclose(model.coefficients_[1:] * [5.0, 1e-6], plain.coefficients_[1:], atol=0.03)

    @pytest.mark.parametrize(
        ("arguments", "options", "message"),
        [
            ((X, Y, GROUPS[:5]), {}, r"groups must be one label for each of 60 rows, not of shape \(5,\)"),
            ((X, Y, np.where(GROUPS == 3, np.nan, GROUPS)), {}, "groups has no label in row 15"),
            ((X, Y, [None] + ["a"] * 59), {}, "groups has no label in row 0"),
            ((np.where(X > 2, np.nan, X), Y, GROUPS), {}, "Input X contains NaN"),
            ((X, np.where(Y > 1, np.nan, Y), GROUPS), {}, "Input y contains NaN"),
            ((X, None, GROUPS), {}, "requires y to be passed"),
            ((X, Y, GROUPS), {"varying": ["z"]}, "varying has 'z', which is no column: there are Intercept, x0, x1"),
            ((X, Y, GROUPS), {"varying": [7]}, "varying has 7, which is no column"),
            ((X, Y, GROUPS), {"varying": []}, "varying must be some different columns"),
            ((X, Y, GROUPS), {"coefficient_scale": -1.0}, "coefficient_scale must be a positive number"),
            ((X, Y, GROUPS), {"coefficient_scale": [1.0, 2.0]}, "or one for each of 3 columns"),
            ((X, Y, GROUPS), {"deviation_prior": "flat"}, "deviation_prior must be 'half_t' or 'wishart'"),
            ((X, Y, GROUPS), {"formula": "y ~ x"}, "leave out y and groups"),
        ],
    )
    def test_one_sentence_and_nothing_changes(self, arguments, options, message):
        model = HierarchicalLinearRegression(**options)
        before = dict(vars(model))
        with pytest.raises(ValueError, match=message):
            model.fit(*arguments)
        assert vars(model) == before

    @KINDS
    def test_classes_and_trials(self, kind):
        with pytest.raises(ValueError, match="Only binary classification is supported"):
            kind().fit(X, np.arange(60) % 3, GROUPS)
        with pytest.raises(ValueError, match="y has one class only, 1"):
            kind().fit(X, np.ones(60, int), GROUPS)
        with pytest.raises(ValueError, match="row 4 has 9 successes out of 3 trials"):
            kind().fit(X, np.where(np.arange(60) == 4, 9, 1), GROUPS, trials=np.full(60, 3))
        model = kind(max_iter=2).fit(X, CLASSES, GROUPS)
        with pytest.raises(ValueError, match="y has the class maybe, and the model knows no, yes"):
            model.partial_fit(X, np.full(60, "maybe"), GROUPS)

    def test_groups_in_one_place_only(self):
        model = HierarchicalLinearRegression(max_iter=2).fit(X, Y, GROUPS)
        with pytest.raises(ValueError, match="groups are missing"):
            model.partial_fit(X, Y)
        with pytest.raises(ValueError, match="this model was fitted without any"):
            HierarchicalLinearRegression(max_iter=2).fit(X, Y).partial_fit(X, Y, GROUPS)


def test_more_coefficients_than_rows_can_be_fitted():
    """The mode of their posterior has no noise at all: a fit does not begin there."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(24, 30))
    y = rows @ (0.3 * rng.normal(size=30)) + 0.5 * rng.normal(size=24)
    model = HierarchicalLinearRegression(max_iter=30, random_state=0).fit(rows, y)
    assert np.isfinite(model.coefficients_).all()
    assert np.corrcoef(model.predict(rows), y)[0, 1] > 0.9
