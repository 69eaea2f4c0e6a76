"""Priors that a fit learns: the hyperparameters under which what some rows have seen is most probable.

A row has lambda = eta + n, where n is what the data said of it. For another eta, and n as it is, the best lambda is
eta + n again, and the bound has A(eta + n) - A(eta) of the row: the logarithm of the probability of n, with beta
integrated out. Its slope at the present eta is that of E_q[log p(beta | eta)], so that both end at the same eta; but
this way gets there in few steps also where most rows have seen next to nothing. A row that has seen nothing has no say.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import optimize

from ssvi.families.base import ExponentialFamily, as_rows
from ssvi.typing import Array

LONGEST_STEP = 2.0
"""How far a logarithm may move at once: what a fit has seen early is not to be trusted too much."""
WEAK = 3.0
"""The deviation of the logarithm of a hyperparameter from its usual value, before anything is seen: a factor of 20."""
_FARTHEST = np.log(1e8)  # from what is usual, or from 1: beyond that, a number stands for 0 or infinity
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
    """The log probability of what rows have seen, as a function of the logarithms of hyperparameters.

    Where what a row has seen is not what data can say (steps are noisy, and SSVI corrects), `expected`, its E_q[t],
    stands in: E_q[log p(beta | eta)] has the same slope at the present eta, and so the same end, but takes longer.
    """

    family: ExponentialFamily
    eta: Callable[[Array], Array]
    seen: Array
    expected: Array
    is_seen: npt.NDArray[np.bool_]

    def at(self, logs: Array) -> tuple[float, Array]:
        """Return the log probability and its slope."""
        eta = self.eta(logs)  # a row for each, or one for all
        shape = len(self.is_seen), eta.shape[1]
        own, slopes = np.broadcast_to(eta, shape), np.array(np.broadcast_to(-self.family.mean_stats(eta), shape))
        value = -float(self.family.log_normalizer(eta).sum()) * len(own) / len(eta)
        if len(self.seen):
            posterior = own[self.is_seen] + self.seen
            value += float(self.family.log_normalizer(posterior).sum())
            slopes[self.is_seen] += self.family.mean_stats(posterior)
        if len(self.expected):
            value += float((own[~self.is_seen] * self.expected).sum())
            slopes[~self.is_seen] += self.expected
        steps = _DIFFERENCE * np.eye(len(logs))
        ways = [(self.eta(logs + step) - self.eta(logs - step)) / (2.0 * _DIFFERENCE) for step in steps]
        summed = slopes.sum(axis=0, keepdims=True) if len(eta) == 1 else slopes
        return value, np.array([(summed * way).sum() for way in ways])


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
        away, found = logs - centre, [own.at(logs) for own in likelihoods]
        value = 0.5 * float((weight * away**2).sum()) - sum(own for own, _ in found)
        return value, weight * away - sum((own for _, own in found), np.zeros(len(logs)))

    middle = np.where(np.isnan(known), 0.0, centre)
    lowest, highest = (
        np.maximum(start - LONGEST_STEP, middle - _FARTHEST),
        np.minimum(start + LONGEST_STEP, middle + _FARTHEST),
    )
    bounds = list(zip(np.minimum(lowest, start), np.maximum(highest, start), strict=True))
    value, slope = loss(start)
    if not (np.isfinite(value) and np.isfinite(slope).all()):
        return np.asarray(values, dtype=float)  # of lambda at the edge of what numbers can say
    scale = 1.0 + np.abs(slope).max()  # the search is not to mind how much data there is

    def scaled(logs: Array) -> tuple[float, Array]:
        value, slope = loss(logs)
        return value / scale, slope / scale

    found = optimize.minimize(scaled, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-12})
    moved = found.x if np.isfinite(found.x).all() else start
    result: Array = least + np.exp(start + share * (moved - start))
    return result


def _likelihood(part: Rows, start: Array, least: Array) -> _Likelihood:
    """Return the likelihood of rows; what one has seen counts if all priors that are tried keep it in the domain.

    Domains are convex: it is enough to look at the ends.
    """
    family, lam = part.family, as_rows(part.lam)

    def eta(logs: Array) -> Array:
        found = np.asarray(part.eta(least + np.exp(logs)), dtype=float)
        is_common = found.size == found.shape[-1]
        return np.array(np.broadcast_to(found, lam[:1].shape if is_common else part.lam.shape)).reshape(
            -1, lam.shape[1]
        )

    seen = family.seen(lam, np.broadcast_to(eta(start), lam.shape))
    ends = [family.in_domain(eta(start + step) + seen) for step in (-LONGEST_STEP, LONGEST_STEP)]
    is_seen = ends[0] & ends[1]
    return _Likelihood(family, eta, seen[is_seen], family.mean_stats(lam[~is_seen]), is_seen)
