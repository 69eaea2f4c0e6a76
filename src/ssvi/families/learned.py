"""Priors that a fit learns: the eta of some rows of a family under which what the rows have seen is most probable.

A row has lambda = eta + n, where n is what the data said of it. For another eta, and n as it is, the best lambda is
eta + n again, and the bound has A(eta + n) - A(eta) of the row: the logarithm of the probability of n, with beta
integrated out. Its slope at the present eta is that of E_q[log p(beta | eta)], so that both end at the same eta; but
this way gets there in few steps also where most rows have seen next to nothing. A row that has seen nothing has no say.
"""

from __future__ import annotations

import numpy as np
from scipy import optimize

from ssvi.families.base import ExponentialFamily
from ssvi.typing import Array

LONGEST_STEP = 2.0
"""How far a logarithm may move at once: what a fit has seen early is not to be trusted too much."""
WEAK = 3.0
"""The deviation of the logarithm of a hyperparameter from its usual value, before anything is seen: a factor of 20."""


def fit_prior(
    family: ExponentialFamily,
    lam: Array,
    values: Array,
    directions: Array,
    *,
    base: Array | float = 0.0,
    usual: Array | None = None,
) -> Array:
    """Return the hyperparameters under which what rows have seen is most probable, at most a step from the present.

    Parameters
    ----------
    family : ExponentialFamily
        Of the rows.
    lam : (..., d)
        lambda of each.
    values : (p,)
        The present hyperparameters, positive numbers.
    directions : (p, d)
        eta is base + values @ directions: ones of one row for a symmetric Dirichlet, the identity for one number for
        each coordinate.
    base : (d,), optional
        The part of eta that stays.
    usual : (p,), optional
        What each hyperparameter is likely to be, roughly (`WEAK`). Where the likelihood grows without end, as that of a
        Dirichlet whose weights are as equal as can be, this decides; elsewhere it hardly matters. NaN for anything.

    """
    values, directions = np.asarray(values, dtype=float), np.asarray(directions, dtype=float)
    start = np.log(values)
    seen = family.seen(lam, base + values @ directions).reshape(-1, directions.shape[1])
    usual = np.full_like(values, np.nan) if usual is None else usual
    centre = np.where(np.isnan(usual), start, np.log(usual))
    weight = np.where(np.isnan(usual), 0.0, 1.0 / WEAK**2)

    def loss(logs: Array) -> tuple[float, Array]:
        own = np.exp(logs)
        eta = base + own @ directions
        gain = family.log_normalizer(eta + seen) - family.log_normalizer(eta)
        slope = (family.mean_stats(eta + seen) - family.mean_stats(eta)).sum(axis=0)
        away = logs - centre
        return float((0.5 * weight * away**2).sum() - gain.sum()), weight * away - own * (directions @ slope)

    bounds = [(log - LONGEST_STEP, log + LONGEST_STEP) for log in start]
    scale = 1.0 + np.abs(loss(start)[1]).max()  # the search is not to mind how much data there is

    def scaled(logs: Array) -> tuple[float, Array]:
        value, slope = loss(logs)
        return value / scale, slope / scale

    found = optimize.minimize(scaled, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-12})
    result: Array = np.exp(found.x)
    return result
