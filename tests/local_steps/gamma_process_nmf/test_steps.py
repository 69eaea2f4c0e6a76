"""Local steps of GaP-KL-NMF against enumeration of the splits of small counts, and against plain formulas."""

import itertools

import numpy as np
import pytest
from scipy import special, stats

from ssvi.backends import Threads
from ssvi.batches.frames import Frames
from ssvi.local_steps.gamma_process_nmf.gibbs import Gibbs
from ssvi.local_steps.gamma_process_nmf.mean_field import MeanField
from ssvi.models.gamma_process_nmf import GammaProcessNMF
from ssvi.numerics.random import derive_keys

RNG = np.random.default_rng(0)
MODEL = GammaProcessNMF(3, 2, 0.5, 0.7, 1.0, 1.0)
THETA, SPECTRA = np.array([0.8, 1.7]), RNG.gamma(1.0, 1.0, (2, 3))
VIEWS = MODEL.statistics(THETA, SPECTRA)
FRAME = np.array([3, 0, 2])


def _splits(count):
    return [(first, count - first) for first in range(count + 1)]


def _enumerate(frame, missing=()):
    """Return log p(y), E[z] (components x features) and E[H], H integrated out and all splits z summed over."""
    b, known = MODEL.activation_shape, [f for f in range(3) if f not in missing]
    means = THETA[:, None] * SPECTRA
    rates = b + means[:, known].sum(axis=1)
    logs, counts, activations = [], [], []
    for split in itertools.product(*(_splits(frame[f]) for f in known)):
        z = np.zeros((2, 3))
        z[:, known] = np.array(split).T
        total = z.sum(axis=1)
        log = (z * np.log(means) - special.gammaln(z + 1)).sum()
        log += (b * np.log(b) - special.gammaln(b) + special.gammaln(b + total) - (b + total) * np.log(rates)).sum()
        logs.append(log)
        counts.append(z)
        activations.append((b + total) / rates)
    evidence = special.logsumexp(logs)
    weights = np.exp(np.array(logs) - evidence)
    return evidence, np.tensordot(weights, counts, 1), weights @ np.array(activations)


def _run(step, frames, seed=0):
    return Threads().map_reduce(step, MODEL, VIEWS, frames, derive_keys(seed, len(frames)))


def _expected_statistics(counts, activations, missing=()):
    """Return eta-hat of one frame by its definition."""
    known = np.array([f not in missing for f in range(3)], dtype=float)
    weights = np.stack([counts.sum(axis=1), activations * (SPECTRA * known).sum(axis=1)], axis=-1)
    exposure = (THETA * activations)[:, None] * known
    return {"weights": weights, "dictionary": np.stack([counts, exposure], axis=-1)}


@pytest.mark.parametrize("missing", [(), (1,), (2,)])
def test_gibbs_with_drawn_counts_has_the_posterior_mean(missing):
    """40,000 chains of 30 sweeps: 16 statistics within 5 standard errors, a chance of failing under 1e-5."""
    n = 40_000
    mask = np.zeros((n, 3), dtype=bool)
    mask[:, list(missing)] = True
    frames = Frames.from_matrix(np.tile(FRAME, (n, 1)), mask)
    result = _run(Gibbs(sweeps=30, split="drawn", precision="float64"), frames)
    _, counts, activations = _enumerate(FRAME, missing)
    expected = _expected_statistics(counts, activations, missing)
    spread = result.local["activations"].std(axis=0)
    np.testing.assert_array_less(
        np.abs(result.local["activations"].mean(axis=0) - activations), 5 * spread / np.sqrt(n)
    )
    for block, value in expected.items():
        # A count's standard deviation is below its largest value, an exposure's is that of H times a constant.
        scale = np.maximum(FRAME.sum() / 2, 5 * value)
        assert np.all(np.abs(result.eta_hat[block] / n - value) < 5 * scale / np.sqrt(n))


@pytest.mark.parametrize("missing", [(), (0,)])
def test_the_mean_field_bound_is_below_the_evidence_and_not_far(missing):
    mask = np.array([[f in missing for f in range(3)]])
    result = _run(MeanField(1_000, 1e-12, "float64"), Frames.from_matrix(FRAME[None], mask))
    evidence, _, _ = _enumerate(FRAME, missing)
    assert evidence - 0.5 < result.bound < evidence


def test_mean_field_is_a_fixed_point_and_the_bound_is_its_definition():
    """q(H) and q(z) recomputed from each other by the plain formulas, and the ELBO by expectations under q."""
    result = _run(MeanField(2_000, 1e-14, "float64"), Frames.from_matrix(FRAME[None]))
    b, means = MODEL.activation_shape, THETA[:, None] * SPECTRA
    rates = b + means.sum(axis=1)
    shape = result.local["activations"][0] * rates
    logs = special.digamma(shape) - np.log(rates)
    split = np.exp(logs)[:, None] * means
    counts = FRAME * split / split.sum(axis=0)
    np.testing.assert_allclose(shape, b + counts.sum(axis=1), rtol=1e-9)
    for block, value in _expected_statistics(counts, result.local["activations"][0]).items():
        np.testing.assert_allclose(result.eta_hat[block], value, rtol=1e-9)
    share = split / split.sum(axis=0)
    elbo = (counts * (np.log(means) + logs[:, None]) - counts * np.log(share)).sum() - special.gammaln(FRAME + 1).sum()
    elbo -= (means.sum(axis=1) * result.local["activations"][0]).sum()
    elbo += (b * np.log(b) - special.gammaln(b) + (b - 1) * logs - b * result.local["activations"][0]).sum()
    elbo += stats.gamma(shape, scale=1 / rates).entropy().sum()
    assert result.bound == pytest.approx(elbo, rel=1e-10)


@pytest.mark.parametrize("how", ["expected", "poisson"])
def test_counts_split_at_the_last_draw(how):
    frames = Frames.from_matrix(RNG.integers(0, 9, (50, 3)))
    result = _run(Gibbs(precision="float64", split=how), frames)
    split = (result.local["activations"] * THETA)[:, :, None] * SPECTRA
    dense = np.zeros((50, 3))
    dense[np.repeat(np.arange(50), frames.values.costs()), frames.values.words] = frames.values.counts
    counts = (dense[:, None] * split / split.sum(axis=1, keepdims=True)).sum(axis=0)
    np.testing.assert_allclose(result.eta_hat["dictionary"][..., 0], counts, rtol=1e-9)
    np.testing.assert_allclose(result.eta_hat["weights"][:, 0], counts.sum(axis=1), rtol=1e-9)


def test_drawn_counts_add_up_to_the_data_even_where_they_are_large():
    counts = np.array([[1_000, 0, 3], [0, 0, 0], [5, 70_000, 1]])
    result = _run(Gibbs(sweeps=2, split="drawn", precision="float64"), Frames.from_matrix(counts))
    np.testing.assert_array_equal(result.eta_hat["dictionary"][..., 0].sum(axis=0), counts.sum(axis=0))


@pytest.mark.parametrize(("step", "options"), [(MeanField, {}), (Gibbs, {"split": "expected"})])
def test_single_precision_agrees_with_double(step, options):
    frames = Frames.from_matrix(RNG.integers(0, 9, (200, 3)))
    single, double = (_run(step(**options, precision=precision), frames) for precision in ("float32", "float64"))
    for block in ("weights", "dictionary"):
        np.testing.assert_allclose(single.eta_hat[block], double.eta_hat[block], rtol=1e-3)


@pytest.mark.parametrize("step", [MeanField(), Gibbs(), Gibbs(split="drawn")])
def test_a_missing_entry_says_nothing_and_a_zero_does(step):
    """A frame of zeros lowers activations; a frame with nothing known leaves them at the prior."""
    counts = np.zeros((2_000, 3), dtype=int)
    zeros = _run(step, Frames.from_matrix(counts)).local["activations"].mean(axis=0)
    unknown = _run(step, Frames.from_matrix(counts, np.ones_like(counts))).local["activations"].mean(axis=0)
    assert np.all(zeros < 0.7)
    # The mean of 2,000 draws of Gamma(b, b), within 5 standard errors.
    np.testing.assert_allclose(unknown, 1.0, atol=5 / np.sqrt(0.7 * 2_000))


def test_values_that_are_missing_are_not_looked_at():
    counts, mask = RNG.integers(1, 5, (20, 3)), np.zeros((20, 3), dtype=bool)
    mask[3, 1] = mask[7, 0] = True
    other = np.where(mask, 99, counts)
    first, second = (_run(MeanField(), Frames.from_matrix(data, mask)) for data in (counts, other))
    np.testing.assert_array_equal(first.local["activations"], second.local["activations"])


def test_drawn_counts_are_not_lost_among_large_ones():
    """Single precision stops counting at 2^24: totals of drawn counts are kept in double precision."""
    counts = np.concatenate([np.full((4, 1), 10_000_000), np.full((120, 1), 100)])
    model = GammaProcessNMF(1, 2)
    views = model.statistics(np.array([1.0, 2.0]), np.ones((2, 1)))
    result = Threads().map_reduce(
        Gibbs(1, "drawn"), model, views, Frames.from_matrix(counts), derive_keys(0, len(counts))
    )
    assert result.eta_hat["weights"][:, 0].sum() == counts.sum()


def test_a_component_that_is_off_and_one_that_is_all_there_is_give_no_nan():
    views = {name: value.copy() for name, value in VIEWS.items()}
    views["weights"][0] = -5_000.0, 0.0
    views["dictionary"][0, :, 0], views["dictionary"][1, 0, 0] = -9_000.0, -8_000.0
    for step in (MeanField(), Gibbs(), Gibbs(split="drawn")):
        frames = Frames.from_matrix(np.array([[3, 2, 1], [0, 0, 0], [900, 0, 0]]))
        result = Threads().map_reduce(step, MODEL, views, frames, derive_keys(0, 3))
        assert all(np.isfinite(value).all() for value in result.eta_hat.values())


def test_values_that_are_not_whole_are_rounded_at_random():
    """40,000 frames: 2 sums of roundings within 5 standard errors, a chance of failing under 2e-6."""
    n, frame = 40_000, np.array([0.3, 0.0, 7.6])
    result = _run(Gibbs(sweeps=1, split="drawn", precision="float64"), Frames.from_matrix(np.tile(frame, (n, 1))))
    counts = result.eta_hat["dictionary"][..., 0]
    np.testing.assert_array_equal(counts, np.round(counts))
    np.testing.assert_allclose(counts.sum(axis=0) / n, frame, atol=5 * 0.5 / np.sqrt(n))


def test_poisson_splits_widen_the_posterior_but_little():
    """Means and spreads of H against the exact sampler's, 40,000 chains of 30 sweeps."""
    n = 40_000
    frames = Frames.from_matrix(np.tile(10 * FRAME, (n, 1)))
    exact, wide = (_run(Gibbs(30, how, "float64"), frames).local["activations"] for how in ("drawn", "poisson"))
    np.testing.assert_allclose(wide.mean(axis=0), exact.mean(axis=0), rtol=0.1)
    ratio = wide.std(axis=0) / exact.std(axis=0)
    assert np.all(ratio > 1.0)
    assert np.all(ratio < 1.5)


def test_bad_options_are_refused():
    with pytest.raises(ValueError, match="precision must be 'float32' or 'float64', not 'float16'"):
        MeanField(precision="float16")
    with pytest.raises(ValueError, match="max_rounds must be an integer of 1 or more"):
        MeanField(max_rounds=0)
    with pytest.raises(ValueError, match="split must be 'expected', 'poisson' or 'drawn', not 'half'"):
        Gibbs(split="half")
    with pytest.raises(ValueError, match="sweeps must be an integer of 1 or more, not 0"):
        Gibbs(sweeps=0)
