"""Local steps of factorial hidden Markov models: against the enumeration of all paths of all chains."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import special, stats

from ssvi.backends import Threads
from ssvi.batches import Sequences
from ssvi.evaluation.fhmm import best_paths, smoothed
from ssvi.local_steps.fhmm.exact import Exact
from ssvi.local_steps.fhmm.gibbs import Gibbs
from ssvi.local_steps.fhmm.mean_field import MeanField
from ssvi.models.fhmm import FHMM
from ssvi.numerics.random import derive_keys

GAUSSIAN = FHMM.example()
FULL = replace(GAUSSIAN, noise="full")
POISSON = replace(GAUSSIAN, emission="poisson", shape=2.0)
MODELS = pytest.mark.parametrize("model", [GAUSSIAN, FULL, POISSON], ids=["diag", "full", "poisson"])


def case(model, seed=0, lengths=(3, 1)):
    """Parameters of the prior, and short sequences with entries and a time point missing."""
    rng = np.random.default_rng(seed)
    values, data = model.simulate(rng, len(lengths), lengths=np.array(lengths))
    rows = data.values.copy()
    rows[0, 1] = np.nan
    if lengths[0] > 2:
        rows[1] = np.nan
    return values, Sequences(data.indptr, rows)


def log_seen(model, values, row, states):
    """log p of what is known of a row, by the model's definition."""
    known = ~np.isnan(row)
    if model.is_poisson:
        rates = sum(values["emissions"][m, z] for m, z in enumerate(states))
        return stats.poisson.logpmf(row[known], rates[known]).sum()
    coefficients, noise = model.regression.usual(model.regression.family.statistics(values["emissions"]))
    mean = sum(coefficients[:, m * model.n_states + z] for m, z in enumerate(states))
    noise = np.diag(noise) if noise.ndim == 1 else noise
    if not known.any():
        return 0.0
    return stats.multivariate_normal(mean[known], noise[known][:, known]).logpdf(row[known])


def enumerated(model, values, rows):
    """Return all paths of a sequence (paths x time x chains), and the log probability of each with what is seen."""
    joint = list(itertools.product(range(model.n_states), repeat=model.n_chains))
    paths = np.array(list(itertools.product(joint, repeat=len(rows))))
    logs = np.zeros(len(paths))
    for number, path in enumerate(paths):
        for m in range(model.n_chains):
            logs[number] += np.log(values["start"][m, path[0, m]])
            logs[number] += np.log(values["transitions"][m, path[:-1, m], path[1:, m]]).sum()
        logs[number] += sum(log_seen(model, values, row, states) for row, states in zip(rows, path, strict=True))
    return paths, logs


def run(step, model, values, data, seed=0):
    return Threads().map_reduce(step, model, model.statistics_of(values), data, derive_keys(seed, len(data)))


@MODELS
def test_exact_states_are_those_of_the_enumeration(model):
    values, data = case(model)
    found, total = run(Exact(), model, values, data), 0.0
    start, moves = np.zeros((model.n_chains, model.n_states)), np.zeros((model.n_chains, *[model.n_states] * 2))
    shares, most = [], []
    for rows in data:
        paths, logs = enumerated(model, values, rows)
        total += special.logsumexp(logs)
        weights = special.softmax(logs)
        shares.append(np.einsum("p,ptmk->tmk", weights, np.eye(model.n_states)[paths]))
        most.append((logs.max(), paths[logs.argmax()]))
        for m in range(model.n_chains):
            np.add.at(start[m], paths[:, 0, m], weights)
            for t in range(1, len(rows)):
                np.add.at(moves[m], (paths[:, t - 1, m], paths[:, t, m]), weights)
    assert found.bound == pytest.approx(total, rel=1e-10)
    np.testing.assert_allclose(found.eta_hat["start"], start, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.eta_hat["transitions"], moves, rtol=1e-9, atol=1e-12)
    views = model.statistics_of(values)
    np.testing.assert_allclose(smoothed(model, views, data), np.concatenate(shares), atol=1e-12)
    logs, path = best_paths(model, views, data)
    np.testing.assert_allclose(logs, [own[0] for own in most])
    np.testing.assert_array_equal(path, np.concatenate([own[1] for own in most]))


@MODELS
def test_statistics_of_emissions_are_the_slope_of_the_log_probability(model):
    """By differences of what the enumeration gives, along ways that the parameters can move."""
    values, data = case(model, seed=3)
    eta_hat = run(Exact(), model, values, data).eta_hat["emissions"]
    rng, block = np.random.default_rng(1), model.blocks()["emissions"]

    def total(emissions):
        return sum(special.logsumexp(enumerated(model, {**values, "emissions": emissions}, rows)[1]) for rows in data)

    for _ in range(3):
        way = 1e-4 * values["emissions"] * rng.normal(size=values["emissions"].shape)
        ends = [values["emissions"] + sign * way for sign in (1.0, -1.0)]
        stats_change = block.family.statistics(ends[0]) - block.family.statistics(ends[1])
        assert (eta_hat * stats_change).sum() == pytest.approx(total(ends[0]) - total(ends[1]), rel=1e-4, abs=1e-8)


@MODELS
def test_mean_field_is_a_lower_bound_and_exact_for_one_chain(model):
    values, data = case(model, seed=2)
    assert run(MeanField(), model, values, data).bound < run(Exact(), model, values, data).bound
    alone = replace(model, n_chains=1, n_states=3)
    values, data = case(alone, seed=4, lengths=(5, 2))
    found, expected = run(MeanField(), alone, values, data), run(Exact(), alone, values, data)
    assert found.bound == pytest.approx(expected.bound)
    for name, eta_hat in found.eta_hat.items():
        np.testing.assert_allclose(eta_hat, expected.eta_hat[name], rtol=1e-8, atol=1e-10)


@MODELS
def test_drawn_chains_have_the_exact_shares(model):
    """800 copies, 12 sweeps each; means of statistics are within six standard errors (twice in 10^9)."""
    values, data = case(model, seed=5, lengths=(4,))
    views, copies = model.statistics_of(values), data.take(np.zeros(800, dtype=np.int64))
    step, expected = Gibbs(sweeps=12, kept=1), run(Exact(), model, values, data).eta_hat
    parts = 40
    keys, prepared = derive_keys(3, len(copies)), step.prepare(model, views, copies)
    size = len(copies) // parts
    drawn = [step.run(model, prepared, n, n + size, keys[n : n + size]).eta_hat for n in range(0, len(copies), size)]
    for name in expected:
        rows = np.array([own[name] for own in drawn]) / size
        error = rows.std(axis=0) / np.sqrt(parts)
        assert (np.abs(rows.mean(axis=0) - expected[name]) <= 6.0 * error + 1e-9).all(), name


def test_a_posterior_draw_given_drawn_states_comes_from_the_prior_again():
    """Geweke: beta from the prior, y given beta, z given both, beta' given z and y: beta' has the prior's distribution.

    250 rounds, 12 sweeps; means of t may be off by six standard errors (twice in 10^9).
    """
    model, rounds = GAUSSIAN, 250
    rng, blocks = np.random.default_rng(11), model.blocks()
    kept = {name: [] for name in blocks}
    for round_ in range(rounds):
        values, data = model.simulate(rng, 2)
        found = run(Gibbs(sweeps=12, kept=1), model, values, data, seed=round_)
        for name, block in blocks.items():
            lam = block.prior + found.eta_hat[name]
            keys = derive_keys(int(rng.integers(2**63)), lam[..., 0].size)
            kept[name].append(block.family.draw(lam, keys).stats)
    for name, block in blocks.items():
        drawn = np.array(kept[name])
        expected = block.family.mean_stats(np.array(np.broadcast_to(block.prior, block.shape)))
        error = drawn.std(axis=0) / np.sqrt(rounds)
        assert (np.abs(drawn.mean(axis=0) - expected) <= 6.0 * error).all(), name


def test_too_many_combinations_are_said():
    model = FHMM(2, 5, 4)
    values, data = model.simulate(np.random.default_rng(0), 2)
    with pytest.raises(ValueError, match="1,024 combinations, and the exact local step takes 512 at most: use"):
        run(Exact(), model, values, data)


def test_a_hundred_thousand_points_neither_underflow_nor_overflow():
    model = FHMM(2, 2, 3)
    rng = np.random.default_rng(0)
    values, data = model.simulate(rng, 1, lengths=np.array([100_000]))
    for step in (Exact(), MeanField(iterations=3), Gibbs(sweeps=2, kept=1)):
        found = run(step, model, values, data)
        assert all(np.isfinite(eta_hat).all() for eta_hat in found.eta_hat.values())
        assert found.eta_hat["transitions"].sum() == pytest.approx(2 * 99_999)
