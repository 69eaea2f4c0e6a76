"""States of linear dynamical systems: against the joint Gaussian of all states and all that is seen."""

import mpmath
import numpy as np
import pytest
from scipy import linalg, stats

from ssvi.backends import Threads
from ssvi.batches import Sequences
from ssvi.local_steps.lds.exact import Exact
from ssvi.local_steps.lds.gibbs import Gibbs
from ssvi.models.lds import LDS, Dynamics, LDSPrior
from ssvi.models.regressions import Regression, RegressionSums
from ssvi.numerics.random import derive_keys

PRIOR = LDSPrior(0.5, dynamics_strength=10.0, emission_strength=2.0, degrees=8.0)
MODELS = [LDS(3, 2, 1, "full", PRIOR), LDS(3, 2, 2, "diag", PRIOR), LDS(1, 3, 0, "full", PRIOR)]


def sequences(model, rng, lengths=(1, 6, 4)):
    """Sequences with entries missing here and there, and time points of which nothing is known."""
    total = sum(lengths)
    values = rng.normal(size=(total, model.n_features + model.n_inputs))
    values[rng.random(values.shape) < 0.25] = np.nan
    values[3, : model.n_features] = np.nan
    values[:, model.n_features :] = rng.normal(size=(total, model.n_inputs))
    return Sequences.from_lengths(values, lengths)


def views_of(model, rng, kind):
    """t at a draw from the prior, at the mode of something, or a mean over it."""
    values, _ = model.simulate(rng, 3)
    if kind == "drawn":
        return model.statistics_of(values)
    lam = model.init(rng)
    name = {"mode": "mode_stats", "mean": "mean_stats"}[kind]
    return {block: getattr(own.family, name)(lam[block]) for block, own in model.blocks().items()}


def dense_answer(model, views, outputs, inputs):
    """Return the log integral and eta-hat of one sequence from one quadratic form over all that is hidden."""
    steps, size, seen = len(outputs), model.n_states, model.n_features
    first, moves = model.first.expand(views["start"]), model.dynamics.view(views["dynamics"])
    emissions = model.emissions.view(views["emissions"])
    missing = np.isnan(outputs)
    missing[missing.all(axis=1)] = False  # such rows are left out
    places = -np.ones(outputs.shape, dtype=int)
    if not model.emissions.independent:
        places[missing] = steps * size + np.arange(missing.sum())
    width = steps * size + int((places >= 0).sum())
    quadratic, linear, constant = np.zeros((width, width)), np.zeros(width), 0.0
    # Each factor is exp(y^T G x - y^T P y / 2 - x^T S x / 2 + c) with y = B v + b and x = C v + c of the hidden v.
    factors = []
    at = np.eye(width)
    z = [at[t * size : (t + 1) * size] for t in range(steps)]
    one = np.ones(1)
    first_parts = (
        first.product[0][:, None],
        first.square[0].reshape(1, 1),
        first.precision[0],
        first.log_determinant[0],
    )
    factors.append(("start", first_parts, (z[0], np.zeros(size)), (np.zeros((1, width)), one), size))
    for t in range(1, steps):
        before = (np.vstack([z[t - 1], np.zeros((model.n_inputs, width))]), np.append(np.zeros(size), inputs[t]))
        factors.append(("dynamics", tuple(moves), (z[t], np.zeros(size)), before, size))
    for t in range(steps):
        if np.isnan(outputs[t]).all():
            continue
        known = np.append(inputs[t], 1.0)
        x = (np.vstack([z[t], np.zeros((len(known), width))]), np.append(np.zeros(size), known))
        if model.emissions.independent:
            for d in np.flatnonzero(~np.isnan(outputs[t])):
                parts = (
                    emissions.product[d][None], emissions.square[d],
                    emissions.precision[d].reshape(1, 1), emissions.log_determinant[d],
                )  # fmt: skip
                factors.append((d, parts, (np.zeros((1, width)), outputs[t, d : d + 1]), x, 1))
        else:
            hidden = np.zeros((seen, width))
            for d in np.flatnonzero(places[t] >= 0):
                hidden[d, places[t, d]] = 1.0
            factors.append(("emissions", tuple(emissions), (hidden, np.nan_to_num(outputs[t])), x, seen))
    for _, (product, square, precision, log_determinant), (b_of, b), (c_of, c), count in factors:
        cross = b_of.T @ product @ c_of
        quadratic += b_of.T @ precision @ b_of + c_of.T @ square @ c_of - cross - cross.T
        linear += b_of.T @ (product @ c - precision @ b) + c_of.T @ (product.T @ b - square @ c)
        constant += b @ product @ c - 0.5 * b @ precision @ b - 0.5 * c @ square @ c
        constant += 0.5 * log_determinant - 0.5 * count * np.log(2 * np.pi)
    covariance = np.linalg.inv(quadratic)
    mean = covariance @ linear
    total = constant + 0.5 * linear @ mean - 0.5 * np.linalg.slogdet(quadratic / (2 * np.pi))[1]
    second = covariance + np.outer(mean, mean)
    return total, statistics_of_factors(model, factors, mean, second), mean, covariance


def statistics_of_factors(model, factors, mean, second):
    sums = dict.fromkeys(("start", "dynamics"), 0.0)
    emissions = np.zeros(model.emissions.shape)
    for name, _, (b_of, b), (c_of, c), _ in factors:
        y, x = b_of @ mean + b, c_of @ mean + c

        def moment(one_of, one, other_of, other, first, last):
            return one_of @ second @ other_of.T + np.outer(one, last) + np.outer(first, other) - np.outer(one, other)

        yx = moment(b_of, b, c_of, c, y, x)
        xx, yy = moment(c_of, c, c_of, c, x, x), moment(b_of, b, b_of, b, y, y)
        if name == "start":
            sums[name] = Regression(model.n_states, 1).natural(RegressionSums(yx, xx, yy, np.float64(1.0)))
        elif name == "dynamics":
            sums[name] = sums[name] + model.dynamics.natural(RegressionSums(yx, xx, yy, np.float64(1.0)))
        elif name == "emissions":
            emissions += model.emissions.natural(RegressionSums(yx, xx, yy, np.float64(1.0)))
        else:
            outputs, width = model.n_features, model.emissions.inputs
            parts = RegressionSums(
                np.zeros((outputs, width)), np.zeros((outputs, width, width)), np.zeros(outputs), np.zeros(outputs)
            )
            parts.cross[name], parts.inputs[name], parts.outputs[name], parts.counts[name] = yx[0], xx, yy[0, 0], 1.0
            emissions += model.emissions.natural(parts)
    if np.ndim(sums["dynamics"]) == 0:
        sums["dynamics"] = np.zeros(model.dynamics.shape)
    return {**sums, "emissions": emissions}


def run(step, model, views, data, seed=0):
    return Threads().map_reduce(step, model, views, data, derive_keys(seed, len(data)))


@pytest.mark.parametrize("kind", ["drawn", "mode", "mean"])
@pytest.mark.parametrize("model", MODELS, ids=["full", "diag", "more states than outputs"])
def test_expected_statistics_and_log_probability_are_those_of_the_joint_gaussian(model, kind):
    rng = np.random.default_rng(7)
    views, data = views_of(model, rng, kind), sequences(model, rng)
    found = run(Exact(), model, views, data)
    answers = [dense_answer(model, views, own[:, : model.n_features], own[:, model.n_features :]) for own in data]
    assert found.bound == pytest.approx(sum(answer[0] for answer in answers), rel=1e-10)
    for name, eta_hat in found.eta_hat.items():
        expected = sum(answer[1][name] for answer in answers)
        np.testing.assert_allclose(eta_hat, expected, rtol=1e-8, atol=1e-8, err_msg=name)


@pytest.mark.parametrize("model", MODELS, ids=["full", "diag", "more states than outputs"])
def test_at_a_draw_the_log_probability_is_the_density_of_what_is_known(model):
    """The covariance of all that is seen, from the equations of the model; nothing in natural parameters."""
    rng = np.random.default_rng(3)
    views, data = views_of(model, rng, "drawn"), sequences(model, rng)
    known = model.usual(views)
    size, noise = model.n_states, known.noise if known.noise.ndim == 2 else np.diag(known.noise)
    total = 0.0
    for own in data:
        outputs, inputs, steps = own[:, : model.n_features], own[:, model.n_features :], len(own)
        mean, covariance = np.zeros((steps, size)), np.zeros((steps, size, steps, size))
        mean[0], covariance[0, :, 0] = known.start_mean, known.start_covariance
        for t in range(1, steps):
            mean[t] = known.transition @ mean[t - 1] + known.drive @ inputs[t]
            covariance[t, :, :t] = np.einsum("ij,jsk->isk", known.transition, covariance[t - 1, :, :t])
            covariance[:t, :, t] = np.moveaxis(covariance[t, :, :t], 0, -1)
            covariance[t, :, t] = (
                known.transition @ covariance[t - 1, :, t - 1] @ known.transition.T + known.state_covariance
            )
        seen_mean = mean @ known.loadings.T + inputs @ known.feedthrough.T + known.offset
        loadings = linalg.block_diag(*[known.loadings] * steps)
        spread = loadings @ covariance.reshape(steps * size, -1) @ loadings.T + linalg.block_diag(*[noise] * steps)
        there = ~np.isnan(outputs.ravel())
        if there.any():
            total += stats.multivariate_normal(seen_mean.ravel()[there], spread[there][:, there]).logpdf(
                outputs.ravel()[there]
            )
    assert run(Exact(), model, views, data).bound == pytest.approx(total, rel=1e-10)


@pytest.mark.parametrize("model", MODELS[:2], ids=["full", "diag"])
def test_drawn_states_have_the_smoothed_moments(model):
    """1,500 draws; a mean is off by six standard errors twice in 10^9, and there are 100 of them."""
    rng = np.random.default_rng(5)
    views, data = views_of(model, rng, "mean"), sequences(model, rng, (5,))
    copies = data.take(np.zeros(1_500, dtype=np.int64))
    expected = run(Exact(), model, views, data).eta_hat
    step, keys = Gibbs(), derive_keys(1, len(copies))
    prepared = step.prepare(model, views, copies)
    drawn = [step.run(model, prepared, n, n + 1, keys[n : n + 1]).eta_hat for n in range(len(copies))]
    for name in expected:
        rows = np.array([own[name] for own in drawn])
        error = rows.std(axis=0) / np.sqrt(len(rows))
        assert (np.abs(rows.mean(axis=0) - expected[name]) <= 6.0 * error + 1e-9).all(), name


@pytest.mark.parametrize("noise", ["full", "diag"])
def test_a_posterior_draw_given_drawn_states_comes_from_the_prior_again(noise):
    """Geweke: beta from the prior, y given beta, z given both, beta' given z and y: beta' has the prior's distribution.

    400 rounds; means of t and of squares of coefficients may be off by six standard errors (twice in 10^9).
    """
    model = LDS(2, 2, 1, noise, PRIOR)
    rng, blocks, rounds = np.random.default_rng(11), model.blocks(), 400
    kept = {name: [] for name in blocks}
    for round_ in range(rounds):
        values, data = model.simulate(rng, 2)
        found = run(Gibbs(), model, model.statistics_of(values), data, seed=round_)
        for name, block in blocks.items():
            lam = block.prior + found.eta_hat[name]
            kept[name].append(block.family.draw(lam, derive_keys(int(rng.integers(2**63)), len(lam))).stats)
    for name, block in blocks.items():
        drawn = np.array(kept[name])
        expected = block.family.mean_stats(np.array(np.broadcast_to(block.prior, block.shape)))
        error = drawn.std(axis=0) / np.sqrt(rounds)
        assert (np.abs(drawn.mean(axis=0) - expected) <= 6.0 * error).all(), name


def local_level(level_variance, noise_variance):
    """A random walk seen with noise, and a diffuse start."""
    one = np.ones((1, 1))
    none = np.zeros((1, 0))
    return Dynamics(np.zeros(1), None, one, none, level_variance * one, one, none, np.zeros(1), noise_variance * one)


def test_a_million_points_of_a_local_level_agree_with_the_textbook_filter():
    rng = np.random.default_rng(0)
    steps, level, noise = 1_000_000, 0.01, 1.0
    values = 50.0 + np.cumsum(rng.normal(0.0, 0.1, steps)) + rng.normal(size=steps)
    values[1_000:2_000] = np.nan
    model = LDS(1, 1)
    found = run(Exact(), model, model.statistics(local_level(level, noise)), Sequences.from_lengths(values))
    mean, variance, total = values[0], noise, 0.0
    for value in values[1:].tolist():
        variance += level
        if value == value:
            spread, error = variance + noise, value - mean
            total -= 0.5 * (np.log(2 * np.pi) + np.log(spread) + error * error / spread)
            mean, variance = mean + variance / spread * error, variance * noise / spread
    assert found.bound == pytest.approx(total, rel=1e-9)
    assert all(np.isfinite(eta_hat).all() for eta_hat in found.eta_hat.values())


@pytest.mark.parametrize(("state_noise", "seen_noise"), [(1e-8, 1.0), (1.0, 1e-8), (1e-6, 1e-6), (1e4, 1.0)])
def test_small_and_large_variances_agree_with_sixty_digits(state_noise, seen_noise):
    """A slow rotation, by the covariance form of the filter in mpmath."""
    rng, steps = np.random.default_rng(1), 40
    rotation = 0.999 * np.array([[np.cos(0.3), -np.sin(0.3)], [np.sin(0.3), np.cos(0.3)]])
    known = Dynamics(
        np.zeros(2), np.eye(2), rotation, np.zeros((2, 0)), state_noise * np.eye(2), np.array([[1.0, 0.5]]),
        np.zeros((1, 0)), np.zeros(1), seen_noise * np.ones((1, 1)),
    )  # fmt: skip
    model = LDS(1, 2)
    values = model.sample(known, rng, np.array([steps]), np.zeros((steps, 0)))[1]
    found = run(Exact(), model, model.statistics(known), Sequences.from_lengths(values))
    with mpmath.workdps(60):
        a, c, q = mpmath.matrix(rotation), mpmath.matrix(known.loadings), mpmath.eye(2) * state_noise
        mean, spread, total = mpmath.zeros(2, 1), mpmath.eye(2), mpmath.mpf(0)
        for t, value in enumerate(values[:, 0]):
            if t:
                mean, spread = a * mean, a * spread * a.T + q
            width = (c * spread * c.T)[0, 0] + seen_noise
            error = value - (c * mean)[0, 0]
            total -= (mpmath.log(2 * mpmath.pi * width) + error**2 / width) / 2
            gain = spread * c.T / width
            mean, spread = mean + gain * error, spread - gain * c * spread
        expected = float(total)
    assert found.bound == pytest.approx(expected, abs=1e-5 * max(1.0, abs(expected)))
