"""Local steps of the hidden Markov model against sums over all paths, differences and simulation."""

import numpy as np
import pytest

from ssvi.backends import Threads
from ssvi.batches import Sequences, Subchains
from ssvi.local_steps.hmm.chains import best_path, smooth_windows
from ssvi.local_steps.hmm.exact import Exact
from ssvi.local_steps.hmm.gibbs import Gibbs
from ssvi.local_steps.hmm.mean_field import MeanField, ascend_windows
from ssvi.local_steps.hmm.states import shifted
from ssvi.local_steps.hmm.views import ChainView
from ssvi.local_steps.hmm.windows import windows_of
from ssvi.models.emissions import CategoricalEmission, GaussianEmission
from ssvi.models.hmm import HMM
from ssvi.numerics.random import derive_keys

from .tiny_chains import EMISSIONS, enumerated, log_likelihoods, made

RNG = np.random.default_rng(5)


def _run(step, model, views, data, keys=None):
    return Threads().map_reduce(step, model, views, data, derive_keys(3, len(data)) if keys is None else keys)


@pytest.mark.parametrize("name", EMISSIONS)
def test_the_exact_step_is_the_sum_over_all_paths(name):
    model, values, data = made(name)
    views = model.statistics_of(values)
    found = _run(Exact(), model, views, data)
    total, start, counts = 0.0, np.zeros(3), np.zeros((3, 3))
    for n, rows in enumerate(data):
        log_p, shares, own = enumerated(views["start"][0], views["transitions"], log_likelihoods(model, values, rows))
        total, start, counts = total + log_p, start + shares[0], counts + own
        np.testing.assert_allclose(found.local["states"][n], shares.mean(axis=0), rtol=1e-9, atol=1e-12)
    assert found.bound == pytest.approx(total, rel=1e-10)
    np.testing.assert_allclose(found.eta_hat["start"][0], start, rtol=1e-9)
    np.testing.assert_allclose(found.eta_hat["transitions"], counts, rtol=1e-9, atol=1e-13)


@pytest.mark.parametrize("name", EMISSIONS)
def test_statistics_are_the_slope_of_the_bound(name):
    """Of every block, missing entries included, at a view that is no probability: E[log p] of some lambda."""
    model, _, data = made(name, seed=1)
    lam = model.init(np.random.default_rng(2))
    other = model.init(np.random.default_rng(3))
    views = {key: block.family.mean_stats(lam[key]) for key, block in model.blocks().items()}
    found = _run(Exact(), model, views, data)
    for key, block in model.blocks().items():
        way = block.family.mean_stats(other[key]) - views[key]
        ends = [_run(Exact(), model, views | {key: views[key] + step * way}, data).bound for step in (1e-5, -1e-5)]
        terms = found.eta_hat[key] * way
        assert (ends[0] - ends[1]) / 2e-5 == pytest.approx(terms.sum(), rel=1e-5, abs=1e-6 * np.abs(terms).sum())


@pytest.mark.parametrize("name", ["full", "categorical"])
def test_drawn_paths_have_the_exact_probabilities(name):
    """6 standard errors on 30 numbers at most: a chance of failing under 1e-7."""
    model, values, data = made(name, seed=2)
    views, repeats = model.statistics_of(values), 3_000
    exact = _run(Exact(), model, views, data)
    many = data.take(np.tile(np.arange(len(data)), repeats))
    keys = derive_keys(4, len(many))
    parts = [
        _run(Gibbs(), model, views, many.slice(start, start + 200), keys[start : start + 200])
        for start in range(0, len(many), 200)
    ]
    for key, expected in exact.eta_hat.items():
        drawn = np.array([part.eta_hat[key] for part in parts]) / 50.0  # each part has every sequence fifty times
        # What happens once in ten thousand draws may not happen at all, and has no deviation then.
        error = np.maximum(drawn.std(axis=0) / np.sqrt(len(drawn)), np.sqrt(np.abs(expected) / repeats))
        assert (np.abs(drawn.mean(axis=0) - expected) < 6 * error).all(), key


def test_a_sampler_of_states_and_parameters_has_the_prior_for_its_distribution():
    """Geweke (2004): parameters, states and data drawn in turn, against parameters drawn from the prior.

    5 standard errors, by batch means, on 4 numbers: a chance of failing under 1e-4 for a sound sampler.
    """
    rng, steps = np.random.default_rng(0), 6_000
    model = HMM(2, CategoricalEmission(1, 2, 3, 0.8), 1.2, 0.9, 0.5)
    values, data = model.simulate(rng, 3, lengths=[4, 3, 1])
    kept = []
    for number in range(steps):
        views = model.statistics_of({key: np.maximum(value, 1e-300) for key, value in values.items()})
        chain, windows = ChainView.of(views), windows_of(data, 0, 3)
        emitted, _ = shifted(model.emission.tables(views).scores(windows.values))
        shares, first, counts = np.empty(emitted.shape), np.zeros(2), np.zeros((2, 2))
        smooth_windows(
            emitted, shares, np.ones(8), chain.start, chain.transitions, chain.transposed, windows.places,
            windows.ends, derive_keys(number, 3), True, np.inf, first, counts, np.empty(3, bool),
        )  # fmt: skip
        states, blocks = shares.argmax(axis=1), model.blocks()
        seen = model.emission.tables(views).statistics(data.values, shares, np.zeros(8, np.uint64), True)
        lam = {"start": first[None], "transitions": counts, **seen}
        values = {
            key: np.stack([rng.dirichlet(row) for row in np.broadcast_to(blocks[key].prior, own.shape) + own])
            for key, own in lam.items()
        }
        data = Sequences(data.indptr, model.emission.emit(values, states, rng))
        kept.append([values["start"][0, 0], values["transitions"][0, 0], values["transitions"][1, 0] ** 2,
                     values["symbols"][0, 0]])  # fmt: skip
    means = np.array(kept).reshape(60, -1, 4).mean(axis=1)
    prior = np.array([0.5, 1.4 / 2.3, 0.9 * 1.9 / (2.3 * 3.3), 1.0 / 3.0])
    error = means.std(axis=0, ddof=1) / np.sqrt(60)
    assert (np.abs(means.mean(axis=0) - prior) < 5 * error).all()


def test_mean_field_is_a_fixed_point_with_its_elbo_below_the_exact_one():
    model, values, data = made("full", missing=False)
    views, windows = model.statistics_of(values), windows_of(data, 0, len(data))
    scores, (start, logs) = model.emission.tables(views).scores(windows.values), ChainView.of(views).logs()
    shares, first, counts = np.zeros(scores.shape), np.zeros(3), np.zeros((3, 3))
    bound = ascend_windows(
        scores, start, logs, logs.T.copy(), windows.places, windows.ends, 500, 1e-12, shares, first, counts
    )
    expected = 0.0
    for begin, _, _, end in windows.places:
        for t in range(begin, end):
            own = scores[t] + (shares[t - 1] @ logs if t > begin else start)
            own = own + (logs @ shares[t + 1] if t + 1 < end else 0.0)
            np.testing.assert_allclose(shares[t], np.exp(own - np.logaddexp.reduce(own)), atol=1e-9)
            entropy = -(shares[t] * np.log(np.maximum(shares[t], 1e-300))).sum()
            expected += shares[t] @ (scores[t] + (start if t == begin else shares[t - 1] @ logs)) + entropy
    assert bound == pytest.approx(expected)
    step = _run(MeanField(), model, views, data)
    assert step.bound <= _run(Exact(), model, views, data).bound
    assert step.eta_hat["transitions"].sum() == pytest.approx(sum(data.costs() - 1))


def test_the_most_probable_path_of_wikipedias_example():
    """Weather that nobody sees: walk, shop, clean is sunny, rainy, rainy with probability 0.01344."""
    start, transitions = np.log([0.6, 0.4]), np.log([[0.7, 0.3], [0.4, 0.6]])
    emissions = np.log([[0.1, 0.4, 0.5], [0.6, 0.3, 0.1]])
    path = np.empty(3, np.int64)
    log_p = best_path(np.ascontiguousarray(emissions.T), start, transitions, path)
    assert np.exp(log_p) == pytest.approx(0.01344, rel=1e-12)
    assert path.tolist() == [1, 0, 0]


def test_best_paths_are_those_of_enumeration():
    model, values, data = made("full", seed=4)
    views = model.statistics_of(values)
    for rows in data:
        scores, path = log_likelihoods(model, values, rows), np.empty(len(rows), np.int64)
        log_p = best_path(scores, views["start"][0], views["transitions"], path)
        sharp, _, _ = enumerated(100 * views["start"][0], 100 * views["transitions"], 100 * scores)
        assert log_p == pytest.approx(sharp / 100, abs=0.05)
        own = views["start"][0, path[0]] + scores[np.arange(len(path)), path].sum()
        assert log_p == pytest.approx(own + views["transitions"][path[:-1], path[1:]].sum())


def test_a_million_time_points_do_not_underflow():
    """Scores of a hundred thousand below 0, states that cannot be told apart for long, and long gaps."""
    model = HMM(3, GaussianEmission(1, 3, "diag"))
    values, _ = model.simulate(np.random.default_rng(1), 1)
    rows = np.random.default_rng(2).normal(0.0, 2.0, (1_000_000, 1))
    rows[::1000] *= 200.0
    rows[300_000:400_000] = np.nan
    data, views = Sequences.from_lengths(rows), model.statistics_of(values)
    found = _run(Exact(), model, views, data)
    assert np.isfinite(found.bound)
    assert found.eta_hat["transitions"].sum() == pytest.approx(999_999, rel=1e-9)
    plain = _plain_forward(views, model.emission.tables(views).scores(rows[:2000]))
    assert _run(Exact(), model, views, Sequences.from_lengths(rows[:2000])).bound == pytest.approx(plain, rel=1e-9)
    drawn = _run(Gibbs(), model, views, data)
    assert drawn.eta_hat["transitions"].sum() == 999_999


def _plain_forward(views, scores):
    """Return log p by the forward recursion, in logarithms throughout."""
    logs = views["start"][0] + scores[0]
    for row in scores[1:]:
        logs = np.logaddexp.reduce(logs[:, None] + views["transitions"], axis=0) + row
    return np.logaddexp.reduce(logs)


@pytest.mark.parametrize("step", [Exact(), Gibbs(), MeanField()], ids=lambda step: step.name)
def test_subchains_add_up_to_their_sequences(step):
    model = HMM(3, GaussianEmission(2, 3), 1.0, 1.0, 4.0)
    values, data = model.simulate(np.random.default_rng(3), 3, lengths=[700, 150, 1])
    data.values[100:105] = data.values[400, 1] = np.nan
    cut, views = Subchains.cut(data, 64), model.statistics_of(values)
    assert len(cut) == 15
    assert sum(map(len, cut)) == 851
    whole = _run(step, model, views, data)
    parts = _run(step, model, views, cut)
    for key, wanted in whole.eta_hat.items():
        if step.name == "gibbs":  # other draws
            assert parts.eta_hat[key].sum() == pytest.approx(wanted.sum(), rel=0.2, abs=5.0)
        else:
            tolerance = 1e-5 if step.name == "exact" else 0.02
            np.testing.assert_allclose(parts.eta_hat[key], wanted, atol=tolerance * np.abs(wanted).max())
    if step.name == "exact":
        assert parts.bound == pytest.approx(whole.bound, abs=1e-3)


def test_a_window_grows_until_its_edges_do_not_matter():
    """States that last for hundreds of time points and hardly show: thirty-two points to either side are too few."""
    model = HMM(2, GaussianEmission(1, 2, "diag"))
    values, _ = model.simulate(np.random.default_rng(0), 1)
    views = model.statistics_of({**values, "transitions": np.array([[0.999, 0.001], [0.001, 0.999]])})
    views["states"] = GaussianEmission(1, 2, "diag").covariance.statistics(np.array([[-0.15], [0.15]]), np.ones((2, 1)))
    rows = np.random.default_rng(1).normal(0.15 * np.sign(np.sin(np.arange(6000) / 300))[:, None], 1.0)
    data = Sequences.from_lengths(rows)
    whole, parts = (_run(Exact(), model, views, batch) for batch in (data, Subchains.cut(data, 100)))
    np.testing.assert_allclose(parts.eta_hat["states"], whole.eta_hat["states"], atol=1e-3 * 6000)
    assert parts.bound == pytest.approx(whole.bound, abs=0.01)


def test_what_is_missing_at_the_end_says_nothing():
    model, values, data = made("full")
    views = model.statistics_of(values)
    rows = np.concatenate([data.values, np.full((5, 2), np.nan)])
    longer = Sequences.from_lengths(rows, [*data.costs()[:-1], data.costs()[-1] + 2, 3])
    first, second = _run(Exact(), model, views, data), _run(Exact(), model, views, longer)
    assert second.bound == pytest.approx(first.bound)
    for key, wanted in first.eta_hat.items():
        np.testing.assert_allclose(second.eta_hat[key], wanted, atol=1e-12)
    np.testing.assert_allclose(second.local["states"][-1], 1.0 / 3.0)
