"""Whether chains agree."""

import numpy as np
import pytest

from ssvi.sampling.diagnostics import split_r_hat


def test_chains_of_one_distribution_agree():
    """R-hat - 1 of independent draws is about 1 / draws of a half: within 0.01 for 4 x 1,000."""
    draws = np.random.default_rng(0).normal(size=(4_000, 3))
    np.testing.assert_allclose(split_r_hat(draws, 4), 1.0, atol=0.01)


def test_arviz_has_the_same_number():
    arviz = pytest.importorskip("arviz")
    draws = np.random.default_rng(1).normal(size=(3, 50)) + np.array([[0.0], [0.5], [1.0]])
    wanted = float(arviz.rhat(draws, method="split"))
    np.testing.assert_allclose(split_r_hat(draws.ravel(), 3), wanted, rtol=1e-12)


def test_a_chain_that_wanders_off_does_not_agree_with_itself():
    assert split_r_hat(np.linspace(0.0, 1.0, 40), 1) > 1.5


def test_what_does_not_move_and_what_is_too_short():
    assert split_r_hat(np.ones(8), 2) == 1.0
    assert split_r_hat(np.repeat([0.0, 1.0], 4), 2) == np.inf
    assert np.isnan(split_r_hat(np.arange(6.0), 2))
