import numpy as np
import pandas as pd
import pytest

import ssvi
from ssvi import LinearDynamicalSystem
from ssvi.backends import Threads
from ssvi.batches import Sequences
from ssvi.data.series import nile
from ssvi.evaluation.lds import filtered, log_probabilities, smoothed
from ssvi.models.lds import LDS, Dynamics

ANGLE = 0.3


@pytest.fixture(scope="module")
def waves():
    """Two columns of a slow turn with noise, one stretch missing."""
    t, rng = np.arange(300), np.random.default_rng(0)
    signal = np.stack([10.0 + 2.0 * np.sin(ANGLE * t), 100.0 * np.cos(ANGLE * t)], axis=1)
    rows = signal + rng.normal(size=signal.shape) * [0.3, 15.0]
    rows[100:110] = np.nan
    rows[150, 0] = np.nan
    return signal, rows


@pytest.fixture(scope="module")
def fitted(waves):
    return LinearDynamicalSystem(2, random_state=0).fit(waves[1])


def local_level(level, noise):
    one, none = np.ones((1, 1)), np.zeros((1, 0))
    return Dynamics(np.zeros(1), None, one, none, level * one, one, none, np.zeros(1), noise * one)


def test_the_local_level_of_the_nile_has_its_known_log_likelihood():
    """What KFAS gives at these variances, with a diffuse start."""
    model, data = LDS(1, 1), Sequences.from_lengths(nile())
    views = model.statistics(local_level(1469.178, 15098.53))
    assert log_probabilities(model, views, data, Threads())[0] == pytest.approx(-632.5456, abs=5e-5)
    past, all_ = (look(model, views | {}, data) for look in (_filtered, _smoothed))
    np.testing.assert_allclose(past[0][-1], all_[0][-1])
    assert (all_[1] <= past[1] + 1e-9).all()


def _filtered(model, views, data):
    found = filtered(model, {**views, "start": _proper_start(model, views)}, data)
    return found.states[:, 0], found.covariances[:, 0, 0]


def _smoothed(model, views, data):
    found = smoothed(model, {**views, "start": _proper_start(model, views)}, data)
    return found.states[:, 0], found.covariances[:, 0, 0]


def _proper_start(model, views):
    known = local_level(1.0, 1.0)._replace(start_covariance=1e7 * np.ones((1, 1)))
    return model.statistics(known)["start"]


def test_dynamics_are_found(fitted, waves):
    turns = np.linalg.eigvals(fitted.transition_)
    np.testing.assert_allclose(np.sort(np.angle(turns)), [-ANGLE, ANGLE], atol=0.02)
    np.testing.assert_allclose(np.sqrt(fitted.noise_covariance_), [0.3, 15.0], rtol=0.2)
    assert fitted.offset_.shape == (2,)
    assert fitted.loadings_.shape == (2, 2)
    assert fitted.state_covariance_.shape == (2, 2)
    assert fitted.score(waves[1]) > fitted.score(waves[1][::-1] * [1.0, 2.0])


def test_what_is_missing_is_filled_in(fitted, waves):
    found = fitted.smooth(waves[1])
    errors = found.means[100:110] - waves[0][100:110]
    assert (np.abs(errors) < [0.6, 30.0]).all()
    assert (found.deviations[100:110] > found.deviations[60:70]).all()
    past = fitted.filter(waves[1])
    np.testing.assert_allclose(past.states[-1], found.states[-1], rtol=1e-6)
    assert (past.deviations >= found.deviations - 1e-9).all()


def test_a_forecast_has_means_intervals_and_draws(fitted, waves):
    ahead = fitted.forecast(8, n_draws=300)
    t = np.arange(300, 308)
    expected = np.stack([10.0 + 2.0 * np.sin(ANGLE * t), 100.0 * np.cos(ANGLE * t)], axis=1)
    assert (np.abs(ahead.mean - expected) < [0.8, 40.0]).all()
    assert ahead.draws.shape == (300, 8, 2)
    assert ((ahead.lower < ahead.mean) & (ahead.mean < ahead.upper)).all()
    narrow = fitted.forecast(8, n_draws=300, level=0.5)
    assert (narrow.upper - narrow.lower < ahead.upper - ahead.lower).all()
    again = fitted.forecast(8, waves[1][-1000:], n_draws=300)
    np.testing.assert_allclose(again.mean, ahead.mean)
    several = fitted.forecast(3, waves[1][:100], lengths=[60, 40], n_draws=5)
    assert several.mean.shape == (2, 3, 2)
    assert several.draws.shape == (5, 2, 3, 2)


def test_nine_of_ten_futures_lie_in_ninety_percent_intervals():
    """400 futures of 50 sequences, far from independent: a share below 0.8 or above 0.97 is far outside of chance."""
    rng = np.random.default_rng(1)
    model = LDS(1, 1)
    known = Dynamics(
        np.zeros(1), np.ones((1, 1)), np.full((1, 1), 0.9), np.zeros((1, 0)), np.full((1, 1), 0.2), np.ones((1, 1)),
        np.zeros((1, 0)), np.zeros(1), np.full((1, 1), 0.3),
    )  # fmt: skip
    rows = model.sample(known, rng, np.full(50, 48), np.zeros((50 * 48, 0)))[1].reshape(50, 48, 1)
    seen, future = rows[:, :40].reshape(-1, 1), rows[:, 40:]
    fitted = LinearDynamicalSystem(1, random_state=0, max_iter=60).fit(seen, np.full(50, 40))
    ahead = fitted.forecast(8, seen, np.full(50, 40))
    share = ((ahead.lower < future) & (future < ahead.upper)).mean()
    assert 0.8 < share < 0.97


def test_inputs_are_used():
    rng = np.random.default_rng(2)
    pulses = (rng.random((400, 1)) < 0.1).astype(float) * 5.0
    level = np.zeros(400)
    for t in range(1, 400):
        level[t] = 0.8 * level[t - 1] + 0.5 * pulses[t, 0]
    rows = level[:, None] + 0.1 * rng.normal(size=(400, 1))
    with_inputs = LinearDynamicalSystem(1, random_state=0).fit(rows[:300], inputs=pulses[:300])
    without = LinearDynamicalSystem(1, random_state=0).fit(rows[:300])
    assert with_inputs.score(rows[300:], inputs=pulses[300:]) > without.score(rows[300:]) + 0.3
    np.testing.assert_allclose(with_inputs.transition_, 0.8, atol=0.05)
    effect = with_inputs.loadings_ @ with_inputs.input_transition_ + with_inputs.feedthrough_
    np.testing.assert_allclose(effect, 0.5, atol=0.05)
    future = np.zeros((5, 1))
    future[0] = 5.0
    pushed, calm = (with_inputs.forecast(5, future_inputs=values).mean for values in (future, np.zeros((5, 1))))
    np.testing.assert_allclose((pushed - calm)[:, 0], 2.5 * 0.8 ** np.arange(5), atol=0.4)
    frame = pd.DataFrame({"y": rows[:300, 0], "u": pulses[:300, 0]})
    short = LinearDynamicalSystem(1, max_iter=2, random_state=0)
    plain = short.fit(rows[:300], inputs=pulses[:300]).transition_.copy()
    np.testing.assert_array_equal(short.fit(frame, inputs=["u"]).transition_, plain)
    assert with_inputs.sample(20, inputs=pulses[:20])[0].shape == (20, 1)
    with pytest.raises(ValueError, match="the model has 1 inputs: give `future_inputs` of the 3 steps to come"):
        with_inputs.forecast(3)
    with pytest.raises(ValueError, match="the model has 1 inputs, and 0 are given"):
        with_inputs.score(rows)
    with pytest.raises(ValueError, match="there are 2 rows of inputs for 400 time points"):
        with_inputs.score(rows, inputs=pulses[:2])


@pytest.mark.parametrize("global_step", ["ssvi", "ssvi_a", "mean_field", "map"])
@pytest.mark.parametrize("local_step", ["exact", "gibbs"])
def test_all_steps_fit(waves, global_step, local_step):
    model = LinearDynamicalSystem(2, global_step=global_step, local_step=local_step, max_iter=60, random_state=0)
    turns = np.linalg.eigvals(model.fit(waves[1]).transition_)
    np.testing.assert_allclose(np.sort(np.angle(turns)), [-ANGLE, ANGLE], atol=0.05)


def test_minibatches_threads_and_groups_give_the_same_fit(waves):
    rows = np.nan_to_num(waves[1], nan=10.0)
    options = {"learning_method": "online", "batch_size": 60, "max_iter": 3, "random_state": 0}
    by_lengths = LinearDynamicalSystem(2, **options).fit(rows, [100, 200])
    threads = LinearDynamicalSystem(2, n_jobs=2, **options).fit(rows, [100, 200])
    keys = np.repeat(["a", "b"], [100, 200])
    order = np.argsort(np.concatenate([np.arange(100) * 3.0, np.arange(200) * 1.5 + 0.1]), kind="stable")
    by_keys = LinearDynamicalSystem(2, **options).fit(rows[order], groups=keys[order])
    assert by_lengths.n_batch_iter_ > 3  # long sequences are cut
    for other in (threads, by_keys):
        np.testing.assert_array_equal(other.transition_, by_lengths.transition_)
    np.testing.assert_allclose(
        by_keys.smooth(rows[order], groups=keys[order]).means, by_lengths.smooth(rows, [100, 200]).means[order]
    )


def test_a_file_keeps_what_forecasts_need(fitted, tmp_path):
    fitted.save(tmp_path / "waves.ssvi")
    again = ssvi.load(tmp_path / "waves.ssvi")
    np.testing.assert_array_equal(again.forecast(4).draws, fitted.forecast(4).draws)


def test_partial_fit_goes_on(waves):
    rows = waves[1]
    model = LinearDynamicalSystem(2, random_state=0)
    for _ in range(30):
        model.partial_fit(rows[:140]).partial_fit(rows[160:])
    assert np.abs(np.abs(np.angle(np.linalg.eigvals(model.transition_))) - ANGLE).max() < 0.1


@pytest.mark.parametrize(
    ("rows", "lengths", "message"),
    [
        (np.zeros((5, 1)), [2, 2], "lengths add up to 4, and there are 5 rows"),
        (np.zeros((5, 1)), [5, 0], "sequence 1 has length 0"),
        (np.full((5, 1), np.nan), None, "all values are missing"),
        (np.array([[1.0], [np.inf]]), None, "infinit"),
    ],
)
def test_bad_data_is_said_and_changes_nothing(rows, lengths, message):
    model = LinearDynamicalSystem(1)
    with pytest.raises(ValueError, match=message):
        model.fit(rows, lengths)
    assert not hasattr(model, "_state")


@pytest.mark.parametrize(
    "rows",
    [np.ones((1, 1)), np.full((30, 2), 7.0), np.column_stack([np.arange(30.0), np.arange(30.0)])],
    ids=["one point", "constant", "copies"],
)
@pytest.mark.parametrize("noise", ["diag", "full"])
def test_poor_data_has_a_posterior_all_the_same(rows, noise):
    model = LinearDynamicalSystem(2, noise=noise, random_state=0, max_iter=20).fit(rows)
    ahead = model.forecast(3, n_draws=20)
    assert np.isfinite(ahead.mean).all()
    assert np.isfinite(model.score(rows))


def test_bad_parameters_are_said(waves, fitted):
    for name, value in {"noise": "round", "degrees_of_freedom_prior": 1.0, "n_components": 0}.items():
        with pytest.raises(ValueError, match=name):
            LinearDynamicalSystem(**{name: value}).fit(waves[1])
    for options in ({"steps": 0}, {"steps": 2, "level": 1.5}, {"steps": 2, "n_draws": 0}, {"steps": 2, "lengths": [3]}):
        with pytest.raises(ValueError, match=r"steps|level|n_draws|lengths"):
            fitted.forecast(**options)
