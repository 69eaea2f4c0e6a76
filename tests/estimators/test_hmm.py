"""HiddenMarkovModel: what it takes, what it says, and what it refuses."""

import re

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import ssvi
from ssvi import HiddenMarkovModel

RNG = np.random.default_rng(0)
STATES = np.repeat(np.arange(12) % 3, 25)
X = RNG.normal(5.0 * np.stack([STATES, -STATES], axis=1), 1.0)
LENGTHS = [120, 1, 179]


@pytest.fixture(scope="module")
def fitted():
    return HiddenMarkovModel(3, random_state=0, max_iter=20).fit(X, LENGTHS)


def test_states_and_their_answers(fitted):
    path = fitted.predict(X, LENGTHS)
    assert all(len(set(path[k == STATES])) == 1 for k in range(3))
    order = [path[k == STATES][0] for k in range(3)]
    np.testing.assert_allclose(fitted.means_[order, 0], [0.0, 5.0, 10.0], atol=0.4)
    np.testing.assert_allclose(fitted.covars_[:, 0, 0], 1.0, atol=0.4)
    np.testing.assert_allclose(fitted.transmat_.sum(axis=1), 1.0)
    shares = fitted.predict_proba(X, LENGTHS)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(shares.argmax(axis=1), path)
    logs = fitted.score_samples(X, LENGTHS)
    assert fitted.score(X, LENGTHS) == pytest.approx(logs.mean())
    assert fitted.decode(X, LENGTHS)[0] <= logs.sum()
    assert fitted.n_active_ == 3
    rows, states = fitted.sample(500, random_state=1)
    assert rows.shape == (500, 2)
    np.testing.assert_allclose(rows[states == order[2]].mean(axis=0), [10.0, -10.0], atol=0.6)


def test_the_log_probability_is_that_of_a_plain_forward_recursion_over_predictive_densities(fitted):
    rows = X[:40]
    scores = fitted._model().emission.predictive(fitted._state.estimate)(fitted._scaling().apply(rows))
    logs = np.log(fitted.startprob_) + scores[0]
    for row in scores[1:]:
        logs = np.logaddexp.reduce(logs[:, None] + np.log(fitted.transmat_), axis=0) + row
    total = np.logaddexp.reduce(logs) - 40 * np.log(fitted._scaling().unit).sum()
    assert fitted.score_samples(rows).sum() == pytest.approx(total)


def test_a_key_does_what_lengths_do(fitted):
    names = np.repeat(["c", "a", "b"], LENGTHS)
    frame = pd.DataFrame(X, columns=["up", "down"]).assign(name=names)
    by_name = HiddenMarkovModel(3, random_state=0, max_iter=20).fit(frame, groups="name")
    np.testing.assert_array_equal(by_name.means_, fitted.means_)
    assert by_name.feature_names_in_.tolist() == ["up", "down"]
    mixed = np.arange(len(X)).reshape(3, -1).T.ravel()  # rows of a key need not stand together
    keys = names[mixed]
    order = np.concatenate([np.flatnonzero(keys == name) for name in dict.fromkeys(keys)])
    wanted = fitted.predict(X[mixed][order], [int((keys == name).sum()) for name in dict.fromkeys(keys)])
    np.testing.assert_array_equal(fitted.predict(X[mixed], groups=keys)[order], wanted)


def test_values_that_are_missing_cost_little():
    holes = X.copy()
    holes[RNG.random(holes.shape) < 0.3] = np.nan
    holes[30:40] = np.nan
    model = HiddenMarkovModel(3, random_state=0, max_iter=20).fit(holes, LENGTHS)
    np.testing.assert_allclose(np.sort(model.means_[:, 0]), [0.0, 5.0, 10.0], atol=0.6)
    assert (model.predict(holes, LENGTHS)[30:40] == model.predict(X, LENGTHS)[29]).all()
    assert np.isfinite(model.score(holes, LENGTHS))


@pytest.mark.parametrize("step", ["ssvi", "ssvi_a", "mean_field", "map"])
def test_all_global_steps_by_minibatches_of_subchains(step):
    model = HiddenMarkovModel(3, global_step=step, batch_size=60, max_iter=8, random_state=0, n_init=2).fit(X)
    assert model.n_batch_iter_ == 8 * 5
    np.testing.assert_allclose(np.sort(model.means_[:, 0]), [0.0, 5.0, 10.0], atol=0.6)


def test_partial_fit_counts_time_points():
    model = HiddenMarkovModel(3, random_state=0, batch_size=150)
    for _ in range(3):
        model.partial_fit(X, LENGTHS)
    np.testing.assert_allclose(np.sort(model.means_[:, 0]), [0.0, 5.0, 10.0], atol=0.8)
    assert model._n_distinct == 3 * 6  # in subchains of 64 at most


def test_a_dirichlet_process_lets_go_of_states():
    model = HiddenMarkovModel(
        8, transmat_prior_type="dirichlet_process", stickiness=2.0, random_state=0, max_iter=60
    ).fit(X)
    assert model.n_active_ == 3


def test_symbols_and_their_names():
    symbols = 2 * (STATES > 0) + RNG.integers(2, size=300)
    model = HiddenMarkovModel(2, emission="categorical", random_state=0, max_iter=10).fit(symbols[:, None])
    assert model.symbols_ == ["0", "1", "2", "3"]
    model.keep_symbols("abcd")
    assert model.emissionprob_.shape == (2, 4)
    with pytest.raises(ValueError, match=r"^the symbol 4 in row 1 is none that the model has, 0 to 3: set"):
        model.score([[0], [4]])
    wider = HiddenMarkovModel(2, emission="categorical", n_symbols=6, random_state=0, max_iter=2).fit(symbols[:, None])
    assert np.isfinite(wider.score([[0], [5]]))
    assert not hasattr(HiddenMarkovModel(2, max_iter=2).fit(X), "symbols_")


BAD = {
    "lengths that do not add up": (X, [100, 100], "lengths add up to 200, and there are 300 rows"),
    "length 0": (X, [0, 300], "sequence 0 has length 0"),
    "a negative length": (X, [-1, 301], "lengths must be whole numbers"),
    "all values missing": (np.full((20, 2), np.nan), None, "all values are missing"),
    "infinite": (np.where(X > 12, np.inf, X), None, "infinity"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_data_is_refused_in_a_sentence_and_changes_nothing(name, fitted):
    rows, lengths, message = BAD[name]
    before = fitted._state
    fresh = HiddenMarkovModel(3)
    with pytest.raises(ValueError, match=re.escape(message)):
        fresh.fit(rows, lengths)
    assert not hasattr(fresh, "n_features_in_")
    if name != "all values missing":
        with pytest.raises(ValueError, match=re.escape(message)):
            fitted.partial_fit(rows, lengths)
    assert fitted._state is before


@pytest.mark.parametrize(
    ("emission", "value", "message"),
    [
        ("bernoulli", 2.0, "Bernoulli emissions must be 0 or 1, and there is 2 in row 3, column 0"),
        ("poisson", -1.0, "Poisson emissions must be whole numbers of 0 or more, and there is -1 in row 3"),
        ("multinomial", np.nan, "row 3 has some of its counts and lacks others"),
        ("categorical", 0.0, "symbols stand in one column, and there are 2"),
    ],
)
def test_rows_that_states_cannot_show_are_refused(emission, value, message):
    rows = np.ones((10, 2))
    rows[3, 0] = value
    with pytest.raises(ValueError, match=re.escape(message)):
        HiddenMarkovModel(2, emission=emission).fit(rows)


@pytest.mark.parametrize(
    "rows",
    [np.ones((50, 2)), np.repeat(X[:, :1], 2, axis=1)[:60], X[:1], np.array([[0.0, 0.0], [1e9, 0.0]] * 20)],
    ids=["constant", "singular", "one time point", "far apart"],
)
def test_degenerate_rows_have_a_posterior(rows):
    model = HiddenMarkovModel(3, random_state=0, max_iter=5).fit(rows)  # where states die, too
    assert np.isfinite(model.score(rows))
    assert np.isfinite(model.means_).all()
    assert (model.predict(rows) >= 0).all()


def test_other_forms_of_data_and_names_that_are_wrong(fitted):
    np.testing.assert_array_equal(fitted.predict(sparse.csr_array(X), LENGTHS), fitted.predict(X, LENGTHS))
    with pytest.raises(ValueError, match="give lengths or groups, not both"):
        fitted.predict(X, LENGTHS, groups=np.zeros(300))
    with pytest.raises(ValueError, match="X is no data frame"):
        fitted.predict(X, groups="name")
    with pytest.raises(ValueError, match="there is no column 'who'"):
        fitted.predict(pd.DataFrame(X), groups="who")
    with pytest.raises(AttributeError, match="see means_"):
        fitted.emissionprob_  # noqa: B018 - a property that is not there


def test_a_file_keeps_it_all(fitted, tmp_path):
    fitted.save(tmp_path / "m.ssvi")
    again = ssvi.load(tmp_path / "m.ssvi")
    np.testing.assert_array_equal(again.predict(X, LENGTHS), fitted.predict(X, LENGTHS))
    assert again.score(X, LENGTHS) == fitted.score(X, LENGTHS)
    again.partial_fit(X, LENGTHS)
