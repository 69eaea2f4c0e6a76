"""Priors learned from what rows have seen, against likelihoods written down another way."""

import numpy as np
import pytest
from scipy import optimize, special, stats

from ssvi.families.beta import Beta
from ssvi.families.dirichlet import Dirichlet
from ssvi.families.gamma import Gamma
from ssvi.families.gaussian import Gaussian
from ssvi.families.learned import LONGEST_STEP, Rows, Usual, fit_prior

RNG = np.random.default_rng(0)
WORDS = np.array([RNG.multinomial(80, RNG.dirichlet(np.full(12, 0.3))) for _ in range(40)], dtype=float)
ONES = RNG.binomial(25, RNG.beta(0.7, 2.0, 300)).astype(float)
EXPOSURE = RNG.gamma(3.0, 1.0, 400)
COUNTS = RNG.poisson(EXPOSURE * RNG.gamma(0.8, 1.0 / 2.5, 400)).astype(float)


def _fitted(family, lam, values, directions, base=0.0, usual=None):
    """Fit once, eta being base + values @ directions."""
    rows = Rows(family, lam, lambda numbers: base + numbers @ directions)
    return fit_prior([rows], values, [Usual()] * len(values) if usual is None else [Usual(own) for own in usual])


def _until_it_stays(family, seen, values, directions, base=0.0, usual=None):
    """Repeat the fit with lambda = eta + n, as sweeps do."""
    for _ in range(8):
        values = _fitted(family, base + values @ directions + seen, values, directions, base, usual)
    return values


def _best(likelihood, start):
    """Maximise over logarithms, by a search that knows no slopes."""
    options = {"xatol": 1e-8, "fatol": 1e-10, "maxiter": 4_000}
    found = optimize.minimize(
        lambda logs: -likelihood(np.exp(logs)), np.log(start), method="Nelder-Mead", options=options
    )
    return np.exp(found.x)


def _dirichlet_multinomial(eta):
    eta = np.broadcast_to(eta, 12)
    return sum(stats.dirichlet_multinomial.logpmf(row.astype(int), eta, int(row.sum())) for row in WORDS)


def test_a_symmetric_dirichlet_has_the_likeliest_eta():
    found = _until_it_stays(Dirichlet(), WORDS, np.array([2.0]), np.ones((1, 12)))
    np.testing.assert_allclose(found, _best(_dirichlet_multinomial, np.array([0.5])), rtol=1e-4)


def test_a_dirichlet_with_a_number_for_each_coordinate_has_no_slope_left():
    found = _until_it_stays(Dirichlet(), WORDS, np.full(12, 1.0), np.eye(12))
    top = _dirichlet_multinomial(found)
    for v in range(12):
        for factor in (0.99, 1.01):
            other = found.copy()
            other[v] *= factor
            assert _dirichlet_multinomial(other) < top


def test_beta_priors_are_those_of_a_beta_binomial():
    found = _until_it_stays(Beta(), np.stack([ONES, 25 - ONES], axis=-1), np.ones(2), np.eye(2))
    wanted = _best(lambda ab: stats.betabinom.logpmf(ONES, 25, *ab).sum(), np.ones(2))
    np.testing.assert_allclose(found, wanted, rtol=1e-3)


def test_gamma_priors_are_those_of_a_negative_binomial():
    seen = np.stack([COUNTS, EXPOSURE], axis=-1)

    def likelihood(prior):
        return stats.nbinom.logpmf(COUNTS, prior[0], prior[1] / (prior[1] + EXPOSURE)).sum()

    both = _until_it_stays(Gamma(), seen, np.ones(2), np.eye(2))
    np.testing.assert_allclose(both, _best(likelihood, np.ones(2)), rtol=1e-3)
    tied = _until_it_stays(Gamma(), seen, np.ones(1), np.ones((1, 2)))
    np.testing.assert_allclose(tied, _best(lambda a: likelihood([a[0], a[0]]), np.ones(1)), rtol=1e-3)
    base = np.array([0.8, 0.0])
    rate = _until_it_stays(Gamma(), seen, np.ones(1), np.array([[0.0, 2.0]]), base=base)
    np.testing.assert_allclose(rate, _best(lambda r: likelihood([0.8, 2.0 * r[0]]), np.ones(1)), rtol=1e-3)


@pytest.mark.parametrize(
    ("family", "seen", "directions"),
    [
        (Dirichlet(), WORDS, np.ones((1, 12))),
        (Beta(), np.stack([ONES, 25 - ONES], axis=-1), np.eye(2)),
        (Gamma(), np.stack([COUNTS, EXPOSURE], axis=-1), np.eye(2)),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_where_it_ends_the_bound_has_no_slope(family, seen, directions):
    """E_q[log p(beta | eta)] for lambda as it is, by differences: what the paper's section 2.6 climbs."""
    found = _until_it_stays(family, seen, np.ones(len(directions)), directions)
    lam = found @ directions + seen
    for i in range(len(found)):
        step = 1e-5 * found[i] * np.eye(len(found))[i]
        up, down = (family.negative_divergence(lam, (found + sign * step) @ directions).sum() for sign in (1.0, -1.0))
        middle = family.negative_divergence(lam, found @ directions).sum()
        curvature = abs(up - 2.0 * middle + down) / 1e-10
        assert abs(up - down) / 2e-5 < 2e-3 * curvature + 1e-3


def test_rows_that_have_seen_nothing_have_no_say():
    some = _until_it_stays(Dirichlet(), WORDS, np.array([2.0]), np.ones((1, 12)))
    more = _until_it_stays(Dirichlet(), np.concatenate([WORDS, np.zeros((500, 12))]), some, np.ones((1, 12)))
    np.testing.assert_allclose(more, some, rtol=1e-4)


def test_one_fit_moves_by_a_step_at_most():
    far = _fitted(Dirichlet(), 50.0 + WORDS, np.array([50.0]), np.ones((1, 12)))
    np.testing.assert_allclose(far, 50.0 * np.exp(-LONGEST_STEP))


def test_a_likelihood_without_a_maximum_is_held_back():
    """Equal counts say that eta is infinite; nothing seen says nothing, and the usual value is taken."""
    even, ones = np.full((1, 6), 10.0), np.ones((1, 6))
    endless = _until_it_stays(Dirichlet(), even, np.array([1.0]), ones)
    held = _until_it_stays(Dirichlet(), even, np.array([1.0]), ones, usual=np.ones(1))
    assert 1.0 < held[0] < 100.0 < endless[0]
    nothing = _until_it_stays(Dirichlet(), np.zeros((1, 6)), np.array([9.0]), ones, usual=np.array([2.0]))
    np.testing.assert_allclose(nothing, 2.0, rtol=1e-3)


def test_what_has_not_reached_its_prior_counts_as_nothing_seen():
    lam, prior = np.array([[0.5, 3.0]]), np.array([1.0, 1.0])
    for family in (Dirichlet(), Gamma(), Beta()):
        np.testing.assert_array_equal(family.seen(lam, prior), [[0.0, 2.0]])


def test_a_dirichlets_slope_is_a_difference_of_digammas():
    """The fixed point of Minka's: what it returns again is where sums of digammas agree."""
    found = float(_until_it_stays(Dirichlet(), WORDS, np.array([1.0]), np.ones((1, 12)))[0])
    tables = (special.digamma(WORDS + found) - special.digamma(found)).sum()
    lengths = 12 * (special.digamma(WORDS.sum(axis=1) + 12 * found) - special.digamma(12 * found)).sum()
    np.testing.assert_allclose(tables / lengths, 1.0, rtol=1e-4)


def _deviation(rows):
    """Return the deviation v of beta ~ N(0, v^2) after one fit to rows of lambda, from v = 1."""
    own = Rows(Gaussian(), np.array(rows), lambda v: np.array([0.0, v[0] ** -2.0]))
    return fit_prior([own], np.ones(1), [Usual()])[0]


def test_what_no_data_can_have_said_is_taken_for_what_is_expected():
    """A precision below the prior's, which steps with a correction may leave: v^2 is E[beta^2] then, as EM has it."""
    np.testing.assert_allclose(_deviation([[0.0, 0.9]]), 0.9**-0.5, rtol=1e-4)
    np.testing.assert_allclose(_deviation([[0.45, 0.5]]), (0.9**2 + 1.0 / 0.5) ** 0.5, rtol=1e-4)


def test_rows_of_both_kinds_have_a_say():
    """One that saw 3 of a precision of 24 besides the prior's, and one below it: maximised by hand over a grid."""
    v = np.exp(np.linspace(-2.0, 2.0, 400_001))
    seen = -0.5 * np.log(1.0 + 24.0 * v**2) + 0.5 * 3.0**2 * v**2 / (1.0 + 24.0 * v**2)
    expected = -np.log(v) - 0.5 / (0.9 * v**2)
    np.testing.assert_allclose(_deviation([[3.0, 25.0], [0.0, 0.9]]), v[np.argmax(seen + expected)], rtol=1e-4)


def test_a_share_of_the_way_is_one_of_logarithms():
    rows = Rows(Dirichlet(), 2.0 + WORDS, lambda v: v[0] * np.ones((1, 12)))
    whole = fit_prior([rows], np.array([2.0]), [Usual()])
    part = fit_prior([rows], np.array([2.0]), [Usual()], 0.25)
    np.testing.assert_allclose(np.log(part / 2.0), 0.25 * np.log(whole / 2.0), rtol=1e-12)
