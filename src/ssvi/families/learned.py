"""Priors that a fit learns: the hyperparameters under which what some rows have seen is most probable.

A row has lambda = eta + n, where n is what the data said of it. For another eta, and n as it is, the best lambda is
eta + n again, and the bound has A(eta + n) - A(eta) of the row: the logarithm of the probability of n, with beta
integrated out. Its slope at the present eta is that of E_q[log p(beta | eta)], so that both end at the same eta; but
this way gets there in few steps also where most rows have seen next to nothing. A row that has seen nothing has no say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import optimize

from ssvi.families.base import ExponentialFamily
from ssvi.typing import Array

LONGEST_STEP = 2.0
"""How far a logarithm may move at once: what a fit has seen early is not to be trusted too much."""
WEAK = 3.0
"""The deviation of the logarithm of a hyperparameter from its usual value, before anything is seen: a factor of 20."""
_DIFFERENCE = 1e-4  # of logarithms, by which eta's slopes are found; their relative error is a sixth of its square


class Usual(NamedTuple):
    """What is known of a hyperparameter before anything is seen.

    Attributes
    ----------
    value : float
        What it is likely to be, roughly (`WEAK`). Where the likelihood grows without end, as that of a Dirichlet whose
        weights are as equal as can be, this decides; elsewhere it hardly matters. NaN for anything.
    least : float
        What it is more than.

    """

    value: float = float("nan")
    least: float = 0.0


class Rows(NamedTuple):
    """Some rows of one family whose prior follows from hyperparameters.

    Attributes
    ----------
    family : ExponentialFamily
        Of the rows.
    lam : (..., d)
        lambda of each.
    eta : function
        From hyperparameters, (p,), to eta, which broadcasts to `lam`.

    """

    family: ExponentialFamily
    lam: Array
    eta: Callable[[Array], Array]


@dataclass(frozen=True)
class _Likelihood:
    """The log probability of what rows have seen, as a function of the logarithms of hyperparameters."""

    family: ExponentialFamily
    seen: Array
    eta: Callable[[Array], Array]

    def value(self, logs: Array) -> float:
        eta = self.eta(logs)
        return float((self.family.log_normalizer(eta + self.seen) - self.family.log_normalizer(eta)).sum())

    def slope(self, logs: Array) -> Array:
        eta = self.eta(logs)
        own = self.family.mean_stats(eta + self.seen) - self.family.mean_stats(eta)
        steps = _DIFFERENCE * np.eye(len(logs))
        ways = [(self.eta(logs + step) - self.eta(logs - step)) / (2.0 * _DIFFERENCE) for step in steps]
        return np.array([(own * way).sum() for way in ways])


def fit_prior(parts: Sequence[Rows], values: Array, usual: Sequence[Usual], share: float = 1.0) -> Array:
    """Return the hyperparameters under which what rows have seen is most probable, at most a step from the present.

    Parameters
    ----------
    parts : sequence of Rows
        Rows of one or several families.
    values : (p,)
        The present hyperparameters.
    usual : sequence of Usual
        What is known of each.
    share : float
        How far to go, in logarithms. Where lambda is still partly of earlier priors, what rows seem to have seen moves
        against the prior, and whole steps would go to and fro.

    """
    least = np.array([own.least for own in usual])
    start = np.log(np.asarray(values, dtype=float) - least)
    known = np.array([own.value for own in usual]) - least
    centre = np.where(np.isnan(known), start, np.log(np.where(np.isnan(known), 1.0, known)))
    weight = np.where(np.isnan(known), 0.0, 1.0 / WEAK**2)
    likelihoods = [_likelihood(part, start, least) for part in parts]

    def loss(logs: Array) -> tuple[float, Array]:
        away = logs - centre
        value = 0.5 * float((weight * away**2).sum()) - sum(own.value(logs) for own in likelihoods)
        return value, weight * away - sum((own.slope(logs) for own in likelihoods), np.zeros(len(logs)))

    bounds = [(log - LONGEST_STEP, log + LONGEST_STEP) for log in start]
    scale = 1.0 + np.abs(loss(start)[1]).max()  # the search is not to mind how much data there is

    def scaled(logs: Array) -> tuple[float, Array]:
        value, slope = loss(logs)
        return value / scale, slope / scale

    found = optimize.minimize(scaled, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-12})
    result: Array = least + np.exp(start + share * (found.x - start))
    return result


def _likelihood(part: Rows, start: Array, least: Array) -> _Likelihood:
    """Return the likelihood of rows, those left out that a smaller prior would take out of their family's domain.

    Steps are noisy, and lambda less its prior need not be what data can say.
    """

    def eta(logs: Array) -> Array:
        return np.broadcast_to(part.eta(least + np.exp(logs)), part.lam.shape)

    seen = part.family.seen(part.lam, eta(start))
    inside: npt.NDArray[np.bool_] = part.family.in_domain(eta(start - LONGEST_STEP) + seen)

    def eta_inside(logs: Array) -> Any:
        return eta(logs)[inside]

    return _Likelihood(part.family, seen[inside], eta_inside)
