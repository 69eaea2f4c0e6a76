import numpy as np
import pytest

import ssvi
from ssvi import FactorialHMM
from ssvi.local_steps.fhmm.gibbs import Gibbs


@pytest.fixture(scope="module")
def house():
    """Two appliances, on and off, in one meter and a second one that sees one of them; one stretch missing."""
    rng = np.random.default_rng(0)
    first, second = (np.cumsum(rng.random(600) < share) % 2 for share in (0.03, 0.05))
    rows = np.stack([2.0 * first + 5.0 * second, 3.0 * second], axis=1) + 0.3 * rng.normal(size=(600, 2))
    rows[100:110] = np.nan
    rows[200:220, 0] = np.nan
    return np.stack([first, second], axis=1), rows


@pytest.fixture(scope="module")
def fitted(house):
    return FactorialHMM(2, n_states=2, random_state=0).fit(house[1], [300, 300])


def agreement(found, states):
    """The share of time points at which each true chain is told by some chain, its states in either order."""
    shares = [[max((own == true).mean(), (own != true).mean()) for own in found.T] for true in states.T]
    return np.max(shares, axis=1)


def test_chains_are_told_apart(house, fitted):
    states, rows = house
    steps = np.sort(np.abs(np.diff(fitted.levels_[:, :, 0])).ravel())
    np.testing.assert_allclose(steps, [2.0, 5.0], atol=0.2)
    path = fitted.predict(rows, [300, 300])
    known = ~np.isnan(rows).all(axis=1)
    assert (agreement(path[known], states[known]) > 0.97).all()
    np.testing.assert_allclose(np.sqrt(fitted.noise_covariance_), 0.3, rtol=0.2)
    shares = fitted.predict_proba(rows, [300, 300])
    assert shares.shape == (600, 2, 2)
    np.testing.assert_allclose(shares.sum(axis=2), 1.0)
    assert shares[105].max() < shares[50].max() + 1e-9
    np.testing.assert_allclose(fitted.transmat_.sum(axis=2), 1.0)
    np.testing.assert_allclose(fitted.startprob_.sum(axis=1), 1.0)
    assert fitted.score(rows, [300, 300]) > fitted.score(rows + 1.0, [300, 300])


@pytest.mark.parametrize("global_step", ["ssvi", "ssvi_a", "mean_field", "map"])
@pytest.mark.parametrize("local_step", ["exact", "mean_field", Gibbs(sweeps=3, kept=1)])
def test_all_steps_fit(house, fitted, global_step, local_step):
    model = FactorialHMM(
        2, n_states=2, global_step=global_step, local_step=local_step, max_iter=15, random_state=0, n_init=3
    ).fit(house[1])
    assert model.score(house[1]) > fitted.score(house[1]) - 0.2


def test_counts_add_up():
    rng = np.random.default_rng(3)
    first, second = (np.cumsum(rng.random(800) < 0.05) % 2 for _ in range(2))
    rates = np.stack([2.0 + 10.0 * first, 1.0 + 6.0 * second, 1.0 + 10.0 * first + 6.0 * second], axis=1)
    counts = rng.poisson(rates).astype(float)
    counts[5] = np.nan
    model = FactorialHMM(2, n_states=2, emission="poisson", random_state=0).fit(counts)
    assert (agreement(model.predict(counts), np.stack([first, second], axis=1)) > 0.9).all()
    total = model.levels_.max(axis=1).sum(axis=0)
    np.testing.assert_allclose(total, [12.0, 7.0, 17.0], rtol=0.2)
    with pytest.raises(ValueError, match="Poisson emissions need counts"):
        model.score(counts - 0.5)
    with pytest.raises(ValueError, match="Poisson emissions need counts"):
        FactorialHMM(2, emission="poisson").fit(-counts)
    with pytest.raises(AttributeError, match="no noise covariance"):
        _ = model.noise_covariance_


def test_many_chains_are_fitted_and_scored_by_bounds():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3))
    model = FactorialHMM(11, n_states=2, random_state=0, max_iter=3, n_init=1).fit(rows)
    assert np.isfinite(model.score(rows))
    score, path = model.decode(rows)
    assert np.isfinite(score)
    assert path.shape == (60, 11)


def test_a_file_a_sample_and_partial_fit(house, fitted, tmp_path):
    fitted.save(tmp_path / "house.ssvi")
    again = ssvi.load(tmp_path / "house.ssvi")
    np.testing.assert_array_equal(again.predict(house[1]), fitted.predict(house[1]))
    rows, states = fitted.sample(50, random_state=1)
    assert rows.shape == (50, 2)
    assert states.shape == (50, 2)
    steps = again.n_batch_iter_
    assert again.partial_fit(house[1]).n_batch_iter_ == steps + 1


@pytest.mark.parametrize(
    ("rows", "lengths", "message"),
    [
        (np.zeros((5, 1)), [2, 2], "lengths add up to 4, and there are 5 rows"),
        (np.zeros((5, 1)), [5, 0], "sequence 1 has length 0"),
        (np.full((5, 1), np.nan), None, "all values are missing"),
    ],
)
def test_bad_data_is_said(rows, lengths, message):
    with pytest.raises(ValueError, match=message):
        FactorialHMM(2).fit(rows, lengths)


@pytest.mark.parametrize("rows", [np.ones((1, 1)), np.full((30, 2), 7.0)], ids=["one point", "constant"])
def test_poor_data_has_a_posterior_all_the_same(rows):
    model = FactorialHMM(2, random_state=0, max_iter=5).fit(rows)
    assert np.isfinite(model.score(rows))
    assert np.isfinite(model.levels_).all()
