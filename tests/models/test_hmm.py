"""The hidden Markov model: a known posterior, weights of states, starts."""

import numpy as np
import pytest

from ssvi import engine
from ssvi.batches import Sequences
from ssvi.families.dirichlet import Dirichlet
from ssvi.global_steps.mean_field import MeanField
from ssvi.global_steps.ssvi import Ssvi
from ssvi.local_steps.base import LocalResult
from ssvi.local_steps.hmm.exact import Exact
from ssvi.models.base import Block
from ssvi.models.emissions import EMISSIONS, CategoricalEmission, GaussianEmission
from ssvi.models.hmm import HMM
from ssvi.schedules import ConstantSchedule, whole_step_schedule

# The data and the posterior of posteriordb's hmm_example: theta of two rows, then the two means.
Y = (
    3.8024, 8.2317, 9.3897, 7.1501, 8.0526, 8.353, 9.9353, 8.8371, 10.8034, 7.9654, 3.962, 3.9877, 3.1219, 8.9277,
    8.8618, 7.9434, 7.7404, 9.5302, 8.4996, 8.5525, 1.3494, 3.6028, 4.4149, 1.6536, 2.2491, 2.194, 8.1743, 9.0458,
    10.8475, 8.561, 2.6567, 2.9272, 4.4368, 7.252, 9.4169, 7.8789, 8.5179, 10.3104, 8.7857, 7.8455, 8.63, 9.5686,
    3.4451, 9.6155, 8.9775, 8.9692, 9.171, 9.1291, 8.0372, 8.6588, 9.5636, 8.8879, 7.3524, 9.06, 8.9667, 8.7564,
    6.5627, 8.8459, 7.6965, 9.1093, 2.2916, 2.887, 3.0926, 2.3561, 3.039, 9.9234, 9.5235, 9.0138, 7.7393, 9.6931,
    7.1772, 9.1599, 9.388, 10.141, 8.3254, 7.8061, 9.6034, 8.9114, 8.4652, 8.744, 7.955, 10.4303, 10.6963, 10.0252,
    9.1283, 8.6551, 8.2629, 8.7665, 9.255, 8.6173, 10.2756, 8.0568, 9.2704, 10.1874, 7.4332, 9.7235, 7.2418, 7.3398,
    9.9456, 7.8939,
)  # fmt: skip
MEANS = np.array([0.666645, 0.333355, 0.0731326, 0.9268674, 3.0215168, 8.8272819])
SQUARES = np.array([0.45466245, 0.12137204, 0.00615727, 0.85989209, 9.17993763, 77.93313157])


class KnownVariance(GaussianEmission):
    """y ~ N(mu_k, 1), mu ~ N(3, 1) and N(10, 1): the prior is as good as certain of the precision."""

    def blocks(self):
        block, certain = super().blocks()["states"], np.full((2, 1), 1e6)
        prior = block.family.natural(np.array([[3.0], [10.0]]), np.ones((2, 1)), certain, certain)
        return {"states": Block(block.family, prior, block.shape)}


@pytest.mark.parametrize("name", ["ssvi", "mean_field"])
def test_a_known_posterior(name):
    """Means within 0.1 of the reference's standard deviations, and standard deviations within 15% (here within 3%)."""
    model = HMM(2, KnownVariance(1, 2, "diag"), 1e6)  # whose first states are alike
    rows, steps = np.array(Y)[:, None], 300 if name == "ssvi" else 60
    labels = (rows[:, 0] > 6).astype(int)
    lam = model.after(rows, labels, np.array([100]), 1.0)
    sums = np.array([[own.sum(), own.size, (own**2).sum(), own.size] for own in (rows[labels == k] for k in (0, 1))])
    lam["states"] = model.blocks()["states"].prior + sums[:, None]
    rule, schedule = MeanField(), ConstantSchedule()
    if name == "ssvi":
        rule, schedule = Ssvi().for_whole_data(steps), whole_step_schedule(steps)
    problem = engine.Problem(model, Exact(), rule, schedule, population=1, ramp=False)
    start = engine.State(0, 0, 0, lam)
    end = engine.run(problem, start, Sequences.from_lengths(rows), sweeps=steps, batch_size=1).parameters
    means = np.concatenate([model.mean_transitions(end).ravel(), model.emission.means(end)[:, 0]])
    widths = [Dirichlet().deviations(end["transitions"]).ravel(), model.emission.deviations(end)[:, 0]]
    known = np.sqrt(SQUARES - MEANS**2)
    assert (np.abs(means - MEANS) < 0.1 * known).all()
    np.testing.assert_allclose(np.concatenate(widths), known, rtol=0.03)


@pytest.mark.parametrize("kind", EMISSIONS)
def test_a_start_finds_states_that_are_far_apart(kind):
    """Of every kind of emission; what it has counted are the time points that there are."""
    rng = np.random.default_rng(0)
    columns = 1 if kind == "categorical" else 3
    options = {"categorical": {"n_symbols": 6}, "multinomial": {}}.get(kind, {})
    model = HMM(2, EMISSIONS[kind](columns, 2, **options))
    states = np.repeat([0, 1, 0, 1], 40)
    rows = {
        "gaussian": lambda: rng.normal(6.0 * states[:, None], 1.0, (160, 3)),
        "categorical": lambda: (3 * states + rng.integers(3, size=160))[:, None].astype(float),
        "bernoulli": lambda: (rng.random((160, 3)) < 0.05 + 0.9 * states[:, None]).astype(float),
        "poisson": lambda: rng.poisson(1 + 20 * states[:, None], (160, 3)).astype(float),
        "multinomial": lambda: rng.multinomial(20, np.array([[0.8, 0.1, 0.1], [0.1, 0.1, 0.8]])[states]).astype(float),
    }[kind]()
    lam = model.start(Sequences.from_lengths(rows, [100, 60]), rng)
    seen = lam["transitions"] - 1.0
    assert seen.sum() == pytest.approx(158)
    assert np.diag(seen).sum() >= 145


def test_weights_of_states_are_the_mean_of_those_that_tables_tell():
    """A state that is never gone to keeps next to nothing; the stickier the prior, the less staying says."""
    base = (0.25,) * 4
    counts = np.array([[50.0, 10, 0, 0], [10, 30, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]])
    found = {}
    for kappa in (0.0, 20.0):
        model = HMM(4, CategoricalEmission(1, 4), 1.0, 2.0, kappa, base, 1.0, ("base",))
        found[kappa] = model.learn({}, LocalResult({"transitions": counts}), 1.0, 1.0)["base"]
        assert found[kappa].sum() == pytest.approx(1.0)
        assert found[kappa][2] < 0.1 < found[kappa][0]
        assert model.at({"base": found[kappa]}).blocks()["transitions"].prior[0, 2] == 2.0 * found[kappa][2]
    assert found[20.0][0] < found[0.0][0]
