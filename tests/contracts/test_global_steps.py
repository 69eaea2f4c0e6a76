"""One suite for every global step on every family."""

import numpy as np
import pytest

from ssvi.families.base import ExponentialFamily
from ssvi.global_steps.base import Clock, GlobalStep, View
from ssvi.numerics.random import derive_keys
from ssvi.registry import discover

FAMILIES = discover("ssvi.families", ExponentialFamily)
STEPS = discover("ssvi.global_steps", GlobalStep)
CLOCK = Clock(documents_seen=10, population=10)


@pytest.fixture(params=sorted(STEPS))
def step(request):
    return STEPS[request.param]()


@pytest.fixture(params=[family for name in sorted(FAMILIES) for family in FAMILIES[name].instances()], ids=repr)
def family(request):
    return request.param


def _parameters(family, rows=6):
    examples = family.examples(np.random.default_rng(0))
    return examples[np.arange(rows) % len(examples)]


def test_rows_can_be_handled_apart(step, family):
    lam = _parameters(family)
    prior = lam[::-1]
    keys, eta_hat = derive_keys(1, 6), np.random.default_rng(1).gamma(1.0, 1.0, lam.shape)
    whole = step.view(family, lam, keys)
    parts = [step.view(family, lam[rows], keys[rows]) for rows in (slice(0, 2), slice(2, 6))]
    joined = View.join(parts)
    np.testing.assert_array_equal(joined.stats, whole.stats)
    target = step.target(family, prior, lam, whole, eta_hat, CLOCK)
    for rows in (slice(0, 2), slice(2, 6)):
        part = step.target(family, prior[rows], lam[rows], joined.rows(rows), eta_hat[rows], CLOCK)
        np.testing.assert_array_equal(part, target[rows])


def test_randomness_is_as_declared(step, family):
    lam = _parameters(family)
    first, second = (step.view(family, lam, derive_keys(key, 6)).stats for key in (1, 2))
    assert np.array_equal(first, second) != step.stochastic


def test_the_mean_target_is_prior_plus_statistics_where_these_do_not_depend_on_the_draw(step, family):
    """6 standard errors on at most 100 coordinates: a chance of failing under 2e-7 each."""
    lam = _parameters(family, rows=1)
    n = max(2_000, 100_000 // lam.size)
    lam = np.repeat(lam, n, axis=0)
    prior, eta_hat = np.full_like(lam, 0.2), np.full_like(lam, 1.3)
    target = step.target(family, prior, lam, step.view(family, lam, derive_keys(3, n)), eta_hat, CLOCK)
    error = target.std(axis=0) / np.sqrt(n) + 1e-12
    assert np.all(np.abs(target.mean(axis=0) - 1.5) < 6 * error)
