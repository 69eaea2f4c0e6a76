"""The updates of the four global steps, by hand and against the enumerated structured ELBO."""

import numpy as np
import pytest
from scipy import special
from tests.tiny import bag, enumerate_document, pairs_of_topics

from ssvi import engine
from ssvi.families.beta import Beta
from ssvi.families.dirichlet import Dirichlet
from ssvi.families.draws import Draw
from ssvi.families.gamma import Gamma
from ssvi.families.gaussian import Gaussian
from ssvi.global_steps.base import Clock, View
from ssvi.global_steps.map import Map
from ssvi.global_steps.mean_field import MeanField
from ssvi.global_steps.ssvi import Ssvi
from ssvi.global_steps.ssvi_a import SsviA
from ssvi.local_steps.lda.mean_field import MeanField as LocalMeanField
from ssvi.models.lda import LDA
from ssvi.numerics.random import derive_key, derive_keys
from ssvi.schedules import ConstantSchedule
from ssvi.stores import CoordinateStore

ALPHA = np.array([0.4, 0.9])
ETA = 0.3
TOKENS = [[0, 0, 1], [1], [0, 1, 1, 1, 0, 1], [1, 1, 1, 1]]
LAM = np.array([[1.7, 0.8], [0.9, 2.6]])
DONE = Clock(documents_seen=100, population=10)


def _log_likelihood(beta):
    return sum(enumerate_document(tokens, beta, ALPHA)[0] for tokens in TOKENS)


def _expected_counts(beta):
    return sum(enumerate_document(tokens, beta, ALPHA)[1] for tokens in TOKENS)


def _structured_elbo(lam, nodes=14):
    """E_q[log p(beta) - log q(beta) + log p(w | beta)] for two topics over two words, by Gauss-Jacobi quadrature."""
    family = Dirichlet()
    grids = []
    for a, b in lam:
        # The weight (1 - x)^(b - 1) (1 + x)^(a - 1) on (-1, 1) is a beta density's in p = (1 + x) / 2.
        x, weight = special.roots_jacobi(nodes, b - 1, a - 1)
        grids.append(((1 + x) / 2, weight / weight.sum()))
    (first, weight_1), (second, weight_2) = grids
    total = weight_1 @ _log_likelihood(pairs_of_topics(first, second)) @ weight_2
    return total + family.negative_divergence(lam, np.full_like(lam, ETA)).sum()


@pytest.fixture(scope="module")
def exact():
    """The natural gradient of the structured ELBO at LAM, by central differences."""
    step, gradient = 1e-4, np.empty_like(LAM)
    for index in np.ndindex(*LAM.shape):
        move = np.zeros_like(LAM)
        move[index] = step
        gradient[index] = (_structured_elbo(LAM + move) - _structured_elbo(LAM - move)) / (2 * step)
    return Dirichlet().fisher_solve(LAM, gradient)


def test_the_quadrature_has_converged():
    np.testing.assert_allclose(_structured_elbo(LAM, 14), _structured_elbo(LAM, 20), rtol=1e-6)


@pytest.fixture(scope="module")
def draws():
    """4,000 draws of both topics, with the exact eta-hat of each."""
    n, family = 4_000, Dirichlet()
    views = [View(draw.stats, draw) for draw in (family.draw(LAM, derive_keys(seed, len(LAM))) for seed in range(n))]
    counts = _expected_counts(np.exp([view.stats for view in views]))
    return [*zip(views, counts, strict=True)]


@pytest.mark.parametrize("control_variate", [False, True])
def test_ssvi_is_the_natural_gradient_of_the_structured_elbo(draws, exact, control_variate):
    """The mean over draws, within 5 standard errors on 4 coordinates: a chance of failing under 3e-6."""
    step, prior = Ssvi(0, 0, control_variate), np.full_like(LAM, ETA)
    steps = np.array([step.target(Dirichlet(), prior, LAM, view, eta_hat, DONE) - LAM for view, eta_hat in draws])
    error = steps.std(axis=0) / np.sqrt(len(steps))
    assert np.all(np.abs(steps.mean(axis=0) - exact) < 5 * error)
    # The test has teeth: the error is small beside the gradient, and SSVI-A's mean step differs by more.
    assert np.all(error < 0.1 * np.abs(exact).max())
    approximate = np.mean([prior + eta_hat - LAM for _, eta_hat in draws], axis=0)
    assert np.any(np.abs(approximate - exact) > 5 * error)


def test_the_correction_is_ramped_in_linearly(draws):
    view, eta_hat = draws[0]
    prior = np.full_like(LAM, ETA)

    def target(sweeps):
        clock = Clock(documents_seen=int(10 * sweeps), population=10)
        return Ssvi(softening=0, correction_sweeps=2.0).target(Dirichlet(), prior, LAM, view, eta_hat, clock)

    plain = SsviA().target(Dirichlet(), prior, LAM, view, eta_hat, DONE)
    full = Ssvi(softening=0, correction_sweeps=0).target(Dirichlet(), prior, LAM, view, eta_hat, DONE)
    np.testing.assert_allclose(target(0.0), plain)
    np.testing.assert_allclose(target(1.0), (plain + full) / 2)
    np.testing.assert_allclose(target(2.0), full)
    np.testing.assert_allclose(target(5.0), full)


def test_a_stream_of_unknown_length_counts_as_one_sweep():
    assert Clock(documents_seen=12345, population=None).sweeps == 1.0


@pytest.mark.parametrize("family", [Dirichlet(), Beta(), Gamma(), Gaussian()], ids=lambda family: family.name)
def test_the_correction_is_softened_by_shape(family):
    """The share is s / (s + softening); a family without shapes gets all of the correction."""
    rng = np.random.default_rng(5)
    lam, eta_hat = rng.gamma(1.0, 1.0, (6, 2)) + 0.05, rng.random((6, 2))
    prior, draw = np.full_like(lam, 0.1), family.draw(lam, derive_keys(1, 6))
    view = View(draw.stats, draw)
    plain, full, soft = (
        step.target(family, prior, lam, view, eta_hat, DONE)
        for step in (SsviA(), Ssvi(softening=0), Ssvi(softening=0.7))
    )
    shape = {"gamma": lam[:, :1], "gaussian": np.inf}.get(family.name, lam)
    share = 1.0 if family.name == "gaussian" else shape / (shape + 0.7)
    np.testing.assert_allclose(soft - plain, share * (full - plain), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["softening", "correction_sweeps"])
def test_negative_settings_are_refused(name):
    with pytest.raises(ValueError, match=f"{name} must be a number of 0 or more"):
        Ssvi(**{name: -1.0})


def _hand_mean_field_counts(weights, rounds):
    """Expected counts of each document by textbook coordinate ascent on given word weights exp(t)."""
    total = np.zeros_like(weights)
    for tokens in TOKENS:
        counts = np.bincount(tokens, minlength=2)
        gamma = ALPHA + counts.sum() / 2
        for _ in range(rounds):
            phi = weights * np.exp(special.digamma(gamma))[:, None]
            gamma = ALPHA + (phi / phi.sum(axis=0)) @ counts
        phi = weights * np.exp(special.digamma(gamma))[:, None]
        total += phi / phi.sum(axis=0) * counts
    return total


def _dense_correction(lam, draw):
    """V of one topic as a matrix: the Hessian of A, inverted, times the transposed derivative of the quantile map."""
    family, step = Dirichlet(), 1e-6
    hessian = np.diag(special.polygamma(1, lam)) - special.polygamma(1, lam.sum())
    u = family.probability(lam[None], draw)
    columns = [
        (family.quantile((lam + move)[None], u) - family.quantile((lam - move)[None], u))[0] / (2 * step)
        for move in step * np.eye(len(lam))
    ]
    return np.linalg.solve(hessian, np.array(columns))


@pytest.mark.parametrize(
    "global_step", [Map(), MeanField(), SsviA(), Ssvi(softening=0, correction_sweeps=0)], ids=lambda step: step.name
)
def test_one_engine_step_equals_the_hand_computed_update(global_step):
    rho, population, rounds = 0.3, 12, 300
    model = LDA(2, ALPHA, ETA)
    problem = engine.Problem(
        model,
        LocalMeanField(max_rounds=rounds, tolerance=0.0, precision="float64"),
        global_step,
        ConstantSchedule(rho),
        population=population,
        ramp=False,
    )
    state = engine.State(seed=5, step=0, documents_seen=0, parameters={"topics": LAM})
    after, info = engine.step(problem, state, bag(TOKENS, 2))
    store = CoordinateStore(model.blocks()["topics"], LAM)
    seen = store.view(global_step, np.arange(2), derive_key(5, "draw", "topics", 1), map).stats.T
    stats = {
        "map": np.log(LAM / LAM.sum(axis=1, keepdims=True)),
        "mean_field": special.digamma(LAM) - special.digamma(LAM.sum(axis=1, keepdims=True)),
    }.get(global_step.name, seen)
    eta_hat = _hand_mean_field_counts(np.exp(stats), 10 * rounds) * population / len(TOKENS)
    guarded = 0
    if global_step.name == "ssvi":
        log_totals = store._view.draw.hidden[0]
        draws = [Draw(seen[k : k + 1], log_totals[k : k + 1]) for k in range(2)]
        eta_hat = np.array([_dense_correction(LAM[k], draws[k]) @ eta_hat[k] for k in range(2)])
    expected = (1 - rho) * LAM + rho * (ETA + eta_hat)
    if global_step.name == "ssvi":
        floor = np.maximum(LAM / 2, ETA)
        guarded = int((expected < floor).sum())
        expected = np.maximum(expected, floor)
    np.testing.assert_allclose(after.parameters["topics"], expected, rtol=1e-6)
    assert (info.step, info.step_size, info.population, info.guarded) == (1, rho, population, guarded)
