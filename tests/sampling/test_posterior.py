"""Samplers of the posterior: averaged over data from the model, what they draw has the prior's distribution.

Parameters from the prior and data given them are a draw from the joint distribution. A sampler that starts there and
leaves the posterior as it is leaves the joint distribution as it is too (Geweke 2004), however long it runs.
"""

import numpy as np
import pytest

from ssvi.backends import Threads
from ssvi.batches.frames import Frames
from ssvi.evaluation.posterior import draws_of_q
from ssvi.local_steps.bernoulli_mixture.exact import Exact
from ssvi.models.bernoulli_mixture import BernoulliMixture
from ssvi.models.ctm import CTM
from ssvi.models.fhmm import FHMM
from ssvi.models.gamma_process_nmf import GammaProcessNMF
from ssvi.models.gaussian_mixture import GaussianMixture, GaussianPrior
from ssvi.models.hdp import HDP
from ssvi.models.hierarchical import HierarchicalLinear, HierarchicalLogistic, HierarchicalProbit
from ssvi.models.lda import LDA
from ssvi.sampling.chains import Chain
from ssvi.sampling.posterior import can_sample, sample_from_q, sample_posterior, state_at

MODELS = [
    CTM(4, 2, 0.6, degrees=12.0),
    LDA(4, np.array([0.4, 0.7]), 0.6),
    BernoulliMixture(3, 2, 1.5, (0.7, 0.9)),
    GammaProcessNMF(3, 2, 1.5, 1.2, 3.0, 0.2),
    # So many degrees of freedom that means have moments.
    GaussianMixture(1, 2, 1.5, prior=GaussianPrior(np.zeros(1), 1.0, np.full((1, 1), 12.0), 14.0)),
    HierarchicalLinear(
        2, coefficient_scale=1.0, deviation_prior="wishart", deviation_degrees=12.0, deviation_scale=1.0,
        noise_prior="gamma", noise_degrees=12.0, noise_scale=1.0,
    ),
    HierarchicalLogistic(
        2, coefficient_scale=1.0, deviation_prior="wishart", deviation_degrees=12.0, deviation_scale=1.0
    ),
    HierarchicalProbit(
        2, coefficient_scale=1.0, deviation_prior="wishart", deviation_degrees=12.0, deviation_scale=1.0
    ),
]  # fmt: skip


def _moments(values):
    """The blocks of some draws (a row each) side by side, and their squares and products of neighbours."""
    flat = np.concatenate([value.reshape(len(value), -1) for value in values.values()], axis=1)
    return np.concatenate([flat, flat**2, flat[:, :-1] * flat[:, 1:]], axis=1)


def _with_gaps(frames):
    """The same frames, the second and the last column of which are missing in half of them."""
    mask = np.zeros((len(frames), frames.n_features), dtype=bool)
    mask[::2, 1] = mask[1::2, -1] = True
    return Frames.from_matrix(frames.values.to_matrix(), mask)


@pytest.mark.parametrize(
    ("model", "seen"),
    [*((model, lambda data: data) for model in MODELS), (MODELS[3], _with_gaps)],
    ids=[*(model.name for model in MODELS), "missing"],
)
def test_draws_averaged_over_data_have_the_prior_distribution(model, seen):
    """200 data sets, 10 sweeps each: up to 26 moments within 4.5 standard errors, a chance of failing under 3e-4."""
    rng, before, after = np.random.default_rng(0), [], []
    with Threads(1) as backend:
        for seed in range(200):
            truth, data = model.simulate(rng, 6)
            data = seen(data)
            draws = sample_posterior(model, data, truth, Chain(9, 1, 1), seed, backend)
            before.append(_moments({name: value[None] for name, value in truth.items()})[0])
            after.append(_moments(draws)[0])
    prior = {name: np.broadcast_to(block.prior, block.shape) for name, block in model.blocks().items()}
    exact = _moments(draws_of_q(model, prior, 100_000, 0)).mean(axis=0)
    error = np.std(after, axis=0) / np.sqrt(200)
    assert np.all(np.abs(np.mean(after, axis=0) - exact) < 4.5 * error + 1e-9)
    assert not np.allclose(before, after)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name)
def test_a_chain_keeps_what_it_says_and_its_seed_decides(model):
    assert can_sample(model)
    truth, data = model.simulate(np.random.default_rng(1), 5)
    chain = Chain(burn=3, count=4, thin=2)
    assert chain.sweeps == 11
    assert [sweep for sweep in range(1, 12) if chain.keeps(sweep)] == [5, 7, 9, 11]
    runs = [sample_posterior(model, data, truth, chain, seed, Threads(1)) for seed in (0, 0, 1)]
    for name, value in truth.items():
        assert runs[0][name].shape == (4, *value.shape)
        np.testing.assert_array_equal(runs[0][name], runs[1][name])
        assert not np.array_equal(runs[0][name], runs[2][name])


def test_a_state_at_given_parameters_is_one_exact_step_from_them():
    model = BernoulliMixture(3, 2, 2.0, (0.7, 0.9))
    weights, components = np.array([[0.3, 0.7]]), np.array([[0.9, 0.2, 0.5], [0.1, 0.6, 0.4]])
    data = model.simulate(np.random.default_rng(2), 8)[1]
    state = state_at(model, {"weights": weights, "components": components}, Exact(), data, 0, Threads(1))
    rows = data.to_matrix().toarray()
    joint = weights * np.prod(np.where(rows[:, None], components, 1 - components), axis=2)
    shares = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(state.parameters["weights"][0], 1.0 + shares.sum(axis=0), rtol=1e-5)
    np.testing.assert_allclose(state.parameters["components"][..., 0], 0.7 + shares.T @ rows, rtol=1e-5)
    assert state.step == state.documents_seen == 0


def test_chains_from_q_start_apart_and_lie_behind_each_other():
    model = MODELS[2]
    data = model.simulate(np.random.default_rng(3), 8)[1]
    q = {name: np.broadcast_to(block.prior, block.shape) for name, block in model.blocks().items()}
    swept = []
    draws = sample_from_q(model, q, data, Chain(0, 5, 1), 3, 0, Threads(1), after_sweep=lambda: swept.append(1))
    assert len(swept) == 15
    means = draws["components"].reshape(3, 5, -1)
    assert means.shape[-1] == 6
    assert len(np.unique(means[:, 0, 0])) == 3


def test_some_models_have_no_sampler():
    assert not can_sample(HDP.example())
    assert can_sample(FHMM.example())
    poisson = FHMM(2, 2, 2, emission="poisson")
    assert not can_sample(poisson)  # whose counts are not divided among chains by draws


def test_a_sampler_learns_no_hyperparameters():
    """Alpha "auto" would move with the data, and draws with it."""
    fixed, learned = LDA(4, np.array([0.4, 0.7]), 0.6), LDA(4, np.array([0.4, 0.7]), 0.6, "asymmetric", True)
    truth, data = fixed.simulate(np.random.default_rng(4), 6)
    first, second = (sample_posterior(own, data, truth, Chain(3, 2, 1), 0, Threads(1)) for own in (fixed, learned))
    np.testing.assert_array_equal(first["topics"], second["topics"])


def test_a_factorisation_of_what_are_no_counts_is_refused():
    frames = Frames.from_matrix(np.array([[0.5, 2.0, 1.0], [1.0, 0.0, 3.0]]))
    start = {"weights": np.ones(2), "dictionary": np.ones((2, 3))}
    with pytest.raises(ValueError, match=r"for counts only.*not whole"):
        sample_posterior(MODELS[3], frames, start, Chain(1, 1, 1), 0, Threads(1))
