"""Columns of a Dirichlet block against the whole of it."""

import numpy as np
import pytest
from scipy import special, stats

from ssvi import tasks
from ssvi.families.dirichlet import Dirichlet
from ssvi.numerics.random import derive_keys

LAM = np.random.default_rng(0).gamma(0.7, 2.0, (3, 12)) + 0.01  # three distributions over twelve words
CHOSEN = np.array([0, 2, 3, 7, 11])


def _columns(chosen):
    rest = LAM.sum(axis=1) - LAM[:, chosen].sum(axis=1) if len(chosen) < LAM.shape[1] else np.zeros(len(LAM))
    return np.ascontiguousarray(LAM[:, chosen].T), rest


@pytest.mark.parametrize("chosen", [CHOSEN, np.arange(12), CHOSEN[:0]], ids=["some", "all", "none"])
@pytest.mark.parametrize("statistic", ["mean_stats", "mode_stats"])
def test_expectations_are_those_of_the_whole(chosen, statistic):
    columns, rest = _columns(chosen)
    part = getattr(Dirichlet().restricted(rest), statistic)(columns)
    np.testing.assert_allclose(part.T, getattr(Dirichlet(), statistic)(LAM)[:, chosen], rtol=1e-12)


@pytest.mark.parametrize("chosen", [CHOSEN, np.arange(12)], ids=["some", "all"])
def test_draws_have_the_marginals_of_the_whole(chosen, monkeypatch):
    """4,000 draws: beta_v is Beta(lambda_v, others), 36 tests at 1e-5 each; and covariances of log beta to 5 errors."""
    monkeypatch.setattr(tasks, "_ELEMENTS_A_TASK", 6)  # two words a task
    columns, rest = _columns(chosen)
    family = Dirichlet().restricted(rest)
    count = family.streams(columns.shape)
    draws = np.array([family.draw(columns, derive_keys(n, count)).stats for n in range(4_000)])
    totals = LAM.sum(axis=1)
    for place, word in enumerate(chosen):
        for k in range(3):
            own = LAM[k, word]
            assert stats.kstest(np.exp(draws[:, place, k]), stats.beta(own, totals[k] - own).cdf).pvalue > 1e-5
    first, second = draws[:, 0] - draws[:, 0].mean(axis=0), draws[:, 1] - draws[:, 1].mean(axis=0)
    error = (first * second).std(axis=0) / np.sqrt(len(draws))
    assert np.all(np.abs((first * second).mean(axis=0) + special.polygamma(1, totals)) < 5 * error)


def test_a_draw_of_all_words_sums_to_one_and_tells_its_gammas():
    columns, rest = _columns(np.arange(12))
    draw = Dirichlet().restricted(rest).draw(columns, derive_keys(5, 2))
    np.testing.assert_allclose(np.exp(draw.stats).sum(axis=0), 1.0)
    gammas = np.exp(draw.stats + draw.hidden[0])
    np.testing.assert_allclose(gammas.sum(axis=0), np.exp(draw.hidden[0]))
