"""Hyperparameters of mixtures and of the factorisation, learned in fits."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy import stats

from ssvi import engine, files
from ssvi.backends.threads import Threads
from ssvi.global_steps.base import Clock
from ssvi.global_steps.map import Map
from ssvi.global_steps.mean_field import MeanField
from ssvi.global_steps.ssvi import Ssvi
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.bernoulli_mixture.exact import Exact
from ssvi.local_steps.bernoulli_mixture.gibbs import Gibbs
from ssvi.local_steps.ctm.laplace import Laplace
from ssvi.local_steps.ctm.metropolis import Metropolis
from ssvi.local_steps.fhmm.exact import Exact as FhmmExact
from ssvi.local_steps.fhmm.gibbs import Gibbs as FhmmGibbs
from ssvi.local_steps.gamma_process_nmf.factors import count_frame_tables
from ssvi.local_steps.gamma_process_nmf.gibbs import Gibbs as FactorGibbs
from ssvi.local_steps.gamma_process_nmf.mean_field import MeanField as FactorMeanField
from ssvi.local_steps.gaussian_mixture.gibbs import Gibbs as GaussianGibbs
from ssvi.local_steps.hierarchical_linear.gibbs import Gibbs as LinearGibbs
from ssvi.local_steps.hmm.exact import Exact as HmmExact
from ssvi.local_steps.hmm.gibbs import Gibbs as HmmGibbs
from ssvi.local_steps.hmm.mean_field import MeanField as HmmMeanField
from ssvi.local_steps.lds.exact import Exact as LdsExact
from ssvi.models.bernoulli_mixture import BernoulliMixture
from ssvi.models.ctm import CTM
from ssvi.models.emissions import (
    BernoulliEmission,
    CategoricalEmission,
    GaussianEmission,
    MultinomialEmission,
    PoissonEmission,
)
from ssvi.models.fhmm import FHMM
from ssvi.models.gamma_process_nmf import GammaProcessNMF
from ssvi.models.gaussian_mixture import GaussianMixture
from ssvi.models.hierarchical.linear import HierarchicalLinear
from ssvi.models.hmm import HMM
from ssvi.models.lds import LDS
from ssvi.numerics.random import derive_keys
from ssvi.schedules import ConstantSchedule, PowerSchedule


def _learning(model):
    """Return a model that learns all that it can."""
    return replace(model, learned=tuple(dict.fromkeys([*model.learnable, *model.usual_numbers()])))


def _hmm(emission, base=None):
    """Return a hidden Markov model that learns all that it can; without weights that all rows share, all but these."""
    model = HMM(3, emission, 1.2, 0.9, 0.5, base)
    return replace(model, learned=tuple(model.usual_numbers())) if base is None else _learning(model)


CASES = [
    (_learning(BernoulliMixture.example()), Gibbs(), SsviA()),
    (_learning(GaussianMixture.example()), GaussianGibbs(), Ssvi()),
    (_learning(GammaProcessNMF.example()), FactorGibbs(sweeps=4), SsviA()),
    (replace(GammaProcessNMF.example(), learned=("inverse_scale",)), FactorMeanField(), MeanField()),
    (_hmm(CategoricalEmission(1, 3, 4, 0.8), base=(0.4, 0.3, 0.3)), HmmGibbs(), SsviA()),
    (_hmm(BernoulliEmission(3, 3)), HmmExact(), Ssvi()),
    (_hmm(MultinomialEmission(3, 3)), HmmExact(), Map()),
    (_hmm(PoissonEmission(3, 3, 2.0, (2.0, 4.0, 3.0))), HmmMeanField(), MeanField()),
    (_hmm(GaussianEmission(2, 3, "diag")), HmmExact(), SsviA()),
    (_learning(replace(FHMM.example(), stickiness=0.5)), FhmmExact(), Ssvi()),
    (_learning(replace(FHMM.example(), emission="poisson", stickiness=0.5)), FhmmGibbs(), SsviA()),
    (_learning(LDS.example()), LdsExact(), Ssvi()),
    (_learning(CTM.example()), Metropolis(), SsviA()),
    (_learning(CTM.example()), Laplace(), MeanField()),
    (replace(HierarchicalLinear.example(), spreads=(1, 2), learned=("spread",)), LinearGibbs(), SsviA()),
]


@pytest.mark.parametrize(("model", "step", "rule"), CASES, ids=lambda value: getattr(value, "name", None))
def test_at_its_own_hyperparameters_a_model_is_itself(model, step, rule):
    assert model.hyperparameters().keys() == set(model.learned)
    again = model.at(model.hyperparameters()).blocks()
    for name, block in model.blocks().items():
        np.testing.assert_array_equal(again[name].prior, block.prior)
    assert not model.settled().hyperparameters()


@pytest.mark.parametrize(("model", "step", "rule"), CASES, ids=lambda value: getattr(value, "name", None))
def test_a_fit_that_learns_goes_on_bit_for_bit_and_on_any_number_of_threads(model, step, rule, tmp_path, many_tasks):
    _, data = model.simulate(np.random.default_rng(0), 60)
    ends = []
    for n_jobs in (1, 3):
        with Threads(n_jobs) as backend:
            problem = engine.Problem(model, step, rule, PowerSchedule(), len(data), backend=backend)
            half = engine.run(problem, engine.init(model, 0, data), data, sweeps=2, batch_size=25)
            files.save_state(half, tmp_path / "half")
            ends.append(engine.run(problem, files.load_state(tmp_path / "half"), data, sweeps=4, batch_size=25))
            ends.append(engine.run(problem, engine.init(model, 0, data), data, sweeps=4, batch_size=25))
    start = model.hyperparameters()
    for other in ends[1:]:
        for name, learned in ends[0].hyperparameters.items():
            np.testing.assert_array_equal(learned, other.hyperparameters[name])
            assert not np.array_equal(learned, start[name])
            assert learned.shape == start[name].shape
        for name, lam in ends[0].parameters.items():
            np.testing.assert_array_equal(lam, other.parameters[name])


def test_nothing_is_learned_from_blocks_before_a_sweep_has_ended():
    model, step, rule = CASES[0]
    _, data = model.simulate(np.random.default_rng(0), 60)
    problem = engine.Problem(model, step, rule, PowerSchedule(), len(data))
    state, _ = engine.step(problem, engine.init(model, 0, data), data.slice(0, 50))
    np.testing.assert_equal(dict(state.hyperparameters), dict(model.hyperparameters()))
    state, _ = engine.step(problem, state, data.slice(50, 60))
    assert state.hyperparameters["concentration"] != model.concentration


def test_a_stream_has_longer_and_longer_sweeps():
    ends = [number for number in range(1, 200) if engine.ends_sweep(number, 10 * number - 10, Clock(10 * number, None))]
    assert ends[0] == 2
    assert 15 < len(ends) < 30
    assert max(np.diff(ends)) > 20


@dataclass(frozen=True)
class Remembers(BernoulliMixture):
    """Learns nothing, and writes down how much of lambda each sweep has made anew."""

    renewed: tuple[list[float], ...] = ([],)

    def learn_priors(self, lam, renewed):
        self.renewed[0].append(renewed)
        return {}


@pytest.mark.parametrize(
    ("population", "sizes", "wanted"),
    [
        (60, [60, 60], [0.1, 0.1]),
        (60, [20] * 6, [1.0 - 0.9**3] * 2),
        (65, [20, 20, 20, 5], [1.0 - 0.9**4]),  # the last one is small
        (None, [10] * 12, [1.0 - 0.9 ** (number / 6.0) for number in (2, 3, 4, 5, 6, 7, 8, 9, 11)]),
    ],
)
def test_a_sweep_has_made_so_much_of_lambda_anew(population, sizes, wanted):
    model = Remembers.example()
    model = replace(model, renewed=([],))
    _, data = model.simulate(np.random.default_rng(0), max(sum(sizes), 60))
    problem = engine.Problem(model, Exact(), MeanField(), ConstantSchedule(0.1), population=population)
    state, begin = engine.init(model, 0, data), 0
    for size in sizes:
        state, _ = engine.step(problem, state, data.slice(begin, begin + size))
        begin = begin + size if begin + size < len(data) else 0
    np.testing.assert_allclose(model.renewed[0], wanted)


def test_sweeps_end_with_the_last_row_of_the_data():
    ends = [seen for seen in range(0, 100, 20) if engine.ends_sweep(1, seen, Clock(seen + 20, 50))]
    assert ends == [40, 80]


def test_a_mixture_learns_the_concentration_and_the_prior_of_its_components():
    """From the true assignment: 40 components in use tell alpha to about a sixth, and 1,200 counts a and b to 6%."""
    truth = BernoulliMixture(30, 120, 12.0, (0.4, 0.9))
    values, data = truth.simulate(np.random.default_rng(3), 1_500)
    model = replace(truth, concentration=1.0, prior=(1.0, 1.0), learned=("concentration", "prior"))
    problem = engine.Problem(model, Exact(), MeanField(), ConstantSchedule(1.0), len(data), ramp=False)
    prior = {name: np.broadcast_to(block.prior, block.shape) for name, block in truth.blocks().items()}
    strong = 1_500.0 * values["components"]
    start = {
        "weights": prior["weights"] + 1_500.0 * values["weights"],
        "components": prior["components"] + np.stack([strong, 1_500.0 - strong], axis=-1),
    }
    state = engine.State(0, 0, 0, start, hyperparameters=model.hyperparameters())
    state = engine.run(problem, state, data, sweeps=40, batch_size=len(data))
    assert abs(np.log(state.hyperparameters["concentration"] / 12.0)) < 0.5
    np.testing.assert_allclose(state.hyperparameters["prior"], [0.4, 0.9], rtol=0.25)


def test_tables_of_a_frame_have_the_slope_of_a_negative_binomial():
    """Counts z ~ Poisson(e H), H ~ Gamma(b, b): the two sums differ by the slope of their log probability in b."""
    counts, exposure, b = np.array([0.0, 3.0, 11.0]), np.array([0.7, 2.0, 5.0]), 0.4
    tables = np.zeros(2)
    count_frame_tables(b, b + counts, b + exposure, tables)

    def likelihood(shape):
        return stats.nbinom.logpmf(counts, shape, shape / (shape + exposure)).sum()

    slope = (likelihood(b + 1e-5) - likelihood(b - 1e-5)) / 2e-5
    np.testing.assert_allclose(tables[0] / b - tables[1], slope, rtol=1e-5)
    assert likelihood(tables[0] / tables[1]) > likelihood(b)


@pytest.mark.parametrize(
    "step", [FactorGibbs(split="drawn"), FactorGibbs(), FactorMeanField()], ids=lambda step: step.name
)
def test_the_activations_shape_is_recovered(step):
    """Weights and dictionary known, 400 frames of 3 components: good to 5%. (Mean-field's is biased.)"""
    truth = GammaProcessNMF(15, 3, 0.5, 0.5, 3.0, 0.05)
    values, frames = truth.simulate(np.random.default_rng(1), 400)
    views = truth.statistics(values["weights"], np.maximum(values["dictionary"], 1e-6))
    model = replace(truth, activation_shape=2.0, learned=("activation_shape",))
    for number in range(25):
        result = Threads().map_reduce(step, model, views, frames, derive_keys(number, 400), want_local=False)
        model = model.at(model.learn(views, result, 1.0))
    assert abs(np.log(model.activation_shape / 0.5)) < (0.15 if step.name == "gibbs" else 0.5)


def test_a_number_that_is_learned_must_start_where_it_may_be():
    with pytest.raises(ValueError, match="stickiness of hmm is to be learned, and must start at a number above 0"):
        replace(HMM.example(), stickiness=0.0, learned=("stickiness",))
    with pytest.raises(ValueError, match="learn the base too"):
        replace(HMM.example(), learned=("growth",))


def test_a_model_says_what_it_cannot_learn():
    with pytest.raises(ValueError, match="bernoulli_mixture cannot learn 'alpha', only 'concentration', 'prior'"):
        replace(BernoulliMixture.example(), learned=("alpha",))
    with pytest.raises(ValueError, match="hierarchical_linear cannot learn 'spread', nor anything else"):
        replace(HierarchicalLinear.example(), learned=("spread",))
    with pytest.raises(ValueError, match=r"spreads must be places of the 3 fixed columns, not \(7,\)"):
        replace(HierarchicalLinear.example(), spreads=(7,))
    with pytest.raises(ValueError, match="eta can be learned as one number only"):
        replace(CTM.example(), eta=np.full(20, 0.1), learned=("eta",))


def test_a_state_with_something_else_learned_is_refused():
    model, step, rule = CASES[1]
    problem, start = engine.Problem(model, step, rule, population=9), engine.init(model, 0)
    for learned, fault in [
        ({"eta": np.ones(1)}, "the state has a learned 'eta', and the model learns .*'weight_prior'"),
        ({"weight_prior": np.ones(2)}, r"the learned 'weight_prior' of the state must have the shape \(\)"),
        ({"weight_prior": np.array(np.nan)}, "the learned 'weight_prior' of the state is not finite"),
    ]:
        with pytest.raises(ValueError, match=fault):
            engine.Fit(problem, replace(start, hyperparameters=learned))
    engine.Fit(problem, replace(start, hyperparameters={}))  # of a fit that learned nothing: it begins now
