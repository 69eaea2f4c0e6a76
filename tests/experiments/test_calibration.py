"""What the calibration experiment looks at, and that it tells a posterior that is too narrow."""

from dataclasses import replace

import numpy as np
import pytest

from ssvi.backends import Threads
from ssvi.evaluation import calibration
from ssvi.evaluation.posterior import draws_of_q
from ssvi.experiments.base import Reporter, reproduce
from ssvi.experiments.calibration import Calibration, CalibrationSetting
from ssvi.experiments.calibration_functions import looked_at
from ssvi.families.symmetric import pack, unpack
from ssvi.models.base import Model
from ssvi.numerics.random import derive_key
from ssvi.registry import discover

MODELS = {name: kind.example() for name, kind in discover("ssvi.models", Model).items()}


@pytest.fixture(params=sorted(MODELS))
def model(request):
    return MODELS[request.param]


def _posterior_of_nothing(model, scale=1.0):
    """q after no data: the prior, or one that is more sure of itself."""
    return {name: np.broadcast_to(scale * block.prior, block.shape) for name, block in model.blocks().items()}


def _permuted(model, values, order):
    """Return global parameters with their components in another order: states turned, for those without axes."""
    if model.name == "lds":
        return _turned(model, values)
    if model.name == "hmm":
        transitions = values["transitions"][order][:, order]
        return {"start": values["start"][:, order], "transitions": transitions, "symbols": values["symbols"][order]}
    if model.name == "ctm":
        size = model.n_topics
        precision = unpack(values["weights"][0, size:], size)[order][:, order]
        weights = np.concatenate([values["weights"][0, :size][order], pack(precision)])[None]
        return {"topics": values["topics"][order], "weights": weights}
    if model.name == "fhmm":  # chains change places, and the states of each
        swapped = {"start": values["start"][::-1, ::-1], "transitions": values["transitions"][::-1, ::-1, ::-1]}
        levels, noise = np.split(values["emissions"], [model.n_chains * model.n_states], axis=-1)
        return {**swapped, "emissions": np.concatenate([levels[..., ::-1], noise], axis=-1)}

    def permuted(value):
        if value.ndim > 1 and value.shape[:2] == (1, len(order)):
            return value[:, order]
        return value[order] if value.shape[0] == len(order) else value  # which has no axis of components

    return {name: permuted(value) for name, value in values.items()}


def _turned(model, values):
    """Return a linear dynamical system whose states were turned."""
    known, turn = model.usual(model.statistics_of(values)), np.array([[0.6, -0.8], [0.8, 0.6]])
    other = known._replace(
        start_mean=turn @ known.start_mean,
        start_covariance=turn @ known.start_covariance @ turn.T,
        transition=turn @ known.transition @ turn.T,
        drive=turn @ known.drive,
        state_covariance=turn @ known.state_covariance @ turn.T,
        loadings=known.loadings @ turn.T,
    )
    blocks = model.blocks()
    return {name: blocks[name].family.values(stats) for name, stats in model.statistics(other).items()}


def _test_of_ranks(model, scale):
    """Ranks of free functions of prior draws among draws of q, over 150 data sets."""
    histograms, rng = [], np.random.default_rng(derive_key(0, model.name))
    for seed in range(150):
        truth = model.simulate(rng, 1)[0]
        true, drawn = looked_at(model, truth, draws_of_q(model, _posterior_of_nothing(model, scale), 99, seed))["free"]
        histograms.append(calibration.rank_histogram(calibration.ranks_of(true, drawn, rng), 99))
    return calibration.uniformity(histograms).p_value


def test_the_exact_posterior_passes_and_a_narrow_one_fails(model):
    """Without data the prior is the posterior; with three times its parameters q is too narrow.

    p is below 0.001 once in a thousand for each model.
    """
    assert _test_of_ranks(model, 1.0) > 0.001
    assert _test_of_ranks(model, 3.0) < 0.001


def test_free_functions_do_not_mind_the_order_of_components(model):
    truth = model.simulate(np.random.default_rng(0), 1)[0]
    draws = draws_of_q(model, _posterior_of_nothing(model), 19, 0)
    count = max((value.shape for value in truth.values()), key=np.prod)[0]
    order = np.random.default_rng(1).permutation(count)
    first, second = (
        looked_at(model, truth, draws)["free"],
        looked_at(model, _permuted(model, truth, order), draws)["free"],
    )
    np.testing.assert_allclose(first[0], second[0], rtol=1e-9)
    np.testing.assert_array_equal(first[1], second[1])


def test_matching_finds_components_that_have_changed_places(model):
    truth = model.simulate(np.random.default_rng(2), 1)[0]
    count = max((value.shape for value in truth.values()), key=np.prod)[0]
    other = _permuted(model, truth, np.roll(np.arange(count), 1))
    draws = {name: np.repeat(value[None], 19, axis=0) for name, value in other.items()}
    true, drawn = looked_at(model, truth, draws)["matched"]
    assert model.name == "lds" or true.size == sum(value.size for value in truth.values())
    np.testing.assert_allclose(drawn, np.repeat(true[None], 19, axis=0), rtol=1e-9)


def test_every_model_and_every_pair_of_its_steps_is_there():
    trials = Calibration().trials(replace(Calibration.settings["quick"], seeds=1))
    found = {(trial.model, trial.algorithm) for trial in trials}
    assert {model for model, _ in found} == set(MODELS)
    for pair in [("lda", "ssvi:cvb0"), ("bernoulli_mixture", "ssvi:exact"), ("gamma_process_nmf", "map:gibbs")]:
        assert pair in found
    # Expected numbers of tables are no draws of them: there is no sampler of hierarchical Dirichlet topics yet.
    assert {model for model in MODELS if (model, "sampler") not in found} == {"hdp"}
    assert all(trial.start == "truth" for trial in trials if trial.algorithm == "sampler")


def test_what_cannot_be_run_is_said(tmp_path):
    setting = CalibrationSetting(model=("bernoulli_mixture",), algorithm=("ssvi:cvb0",))
    with pytest.raises(ValueError, match="bernoulli_mixture cannot be fitted by ssvi:cvb0: there are map:exact"):
        reproduce(Calibration(), setting, tmp_path / "new", Threads(), Reporter())
    assert not (tmp_path / "new").exists()
    with pytest.raises(ValueError, match="draws must be one less than a multiple of 20, not 100"):
        CalibrationSetting(draws=100)
    with pytest.raises(ValueError, match=r"model must be one of bernoulli_mixture, .*, not lad"):
        CalibrationSetting(model=("lad",))
