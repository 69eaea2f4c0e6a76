"""Whether eta-hat is what the model says, for any local step.

Three things are known of it without knowing the model. The prior with it is a posterior, in the family's domain. Where
there is a local ELBO, its slope with respect to the view is eta-hat, since the ELBO is eta-hat . t(beta) and what does
not depend on beta. And given beta the score has mean 0: over simulated data, the mean of eta-hat . dt is 0 for every
way dt that t(beta) can move. That holds for draws of z and for exact expectations, and roughly for approximations.

Statistical checks allow six standard errors, by 40 parts of the data: one in 10^6 exceeds that.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from ssvi.local_steps.base import LocalResult
from ssvi.testing.require import require
from ssvi.testing.settings import N_GROUPS, Blocks, Setting, arrays_of
from ssvi.typing import Array

_STEP = 0.02  # of differences, wide enough for single precision
_AGREE = 0.02  # of slopes
_SLOPES = 51
_BIAS = 0.1  # of scores, for steps that approximate
_PARTS, _PART = 40, 50
_OFTEN = 20  # a group that was simulated so often has a known probability
_MOST = 25


def check_conjugacy(setting: Setting) -> None:
    """Want the prior with eta-hat in the domain, for all groups and for one."""
    for data in (setting.data, setting.data.slice(0, 1)):
        eta_hat = setting.run(data=data).eta_hat
        for name, block in setting.model.blocks().items():
            outside = np.argwhere(~block.family.in_domain(block.prior + eta_hat[name]))
            require(
                len(outside) == 0,
                f"{setting.step}: prior + eta-hat of {name!r} leaves the domain of {block.family} in "
                f"{len(outside)} row(s): eta-hat has a wrong sign, or its coordinates are in a wrong order",
            )


def _check_slope_of_bound(setting: Setting) -> None:
    """Want eta-hat to be the slope of the bound with respect to the view, group by group.

    The middle one of many slopes counts: where iterations end in one optimum or another, bounds have none.
    """
    if setting.result.bound is None:
        return
    blocks = setting.model.blocks()
    per_group = {name: eta_hat / N_GROUPS for name, eta_hat in setting.result.eta_hat.items()}
    learned = {name: block.prior + 10.0 * per_group[name] for name, block in blocks.items()}
    base = {name: 0.5 * (lam + learned[name]) for name, lam in setting.start().items()}
    for moved, block in blocks.items():
        slopes = []
        for n in range(_SLOPES):
            # Towards other points of the domain, which is convex: each distribution at its own speed.
            rng, other = setting.rng("slope", moved, str(n)), setting.start("slope", str(n))
            first, second = rng.uniform(-1.0, 1.0, (2, *block.shape[:-1], 1))
            way = first * (other[moved] - base[moved]) + second * (learned[moved] - base[moved])
            slopes.append(_slopes(setting, base, moved, way, n))
        off = sorted((abs(found - expected) / size, found, expected) for found, expected, size in slopes)
        error, found, expected = off[_SLOPES // 2]
        require(
            error <= _AGREE,
            f"{setting.step}: eta-hat of {moved!r} is not the slope of the bound with respect to the view (a wrong "
            f"sign or factor in one of the two): the bound changes by {found:.6g}, eta-hat says {expected:.6g}",
        )


def _slopes(setting: Setting, base: Blocks, moved: str, way: Array, n: int) -> tuple[float, float, float]:
    """Return how the bound of a group changes along a line through lambda of one block, and what eta-hat says of it.

    The first is by differences of the fourth order. The last number is the size of what eta-hat adds up.
    """
    group, key = setting.data.slice(n, n + 1), setting.keys[n : n + 1]

    def views(share: float) -> dict[str, Array]:
        return setting.views_at({**base, moved: base[moved] + share * way})

    def run(share: float) -> LocalResult:
        return setting.run(views(share), group, key)

    def bound(share: float) -> float:
        return run(share).bound or 0.0

    near, far = bound(_STEP) - bound(-_STEP), bound(2.0 * _STEP) - bound(-2.0 * _STEP)
    view_slope = (views(1e-4)[moved] - views(-1e-4)[moved]) / 2e-4
    terms = run(0.0).eta_hat[moved] * view_slope
    return (8.0 * near - far) / (12.0 * _STEP), float(terms.sum()), float(np.abs(terms).sum()) + 1e-6


def _check_bound(setting: Setting) -> None:
    """No bound exceeds log p(y | beta), where simulation tells that: for groups that come up again and again."""
    if setting.result.bound is None:
        return
    data, n = _simulate_at_center(setting, _PARTS * _PART), _PARTS * _PART
    contents = [
        b"|".join(np.ascontiguousarray(a).tobytes() for a in arrays_of(data.slice(i, i + 1).take(np.array([0]))))
        for i in range(n)
    ]
    views = setting.model.statistics_of(setting.center)
    for content, count in Counter(contents).most_common(_MOST):
        if count < _OFTEN:
            return
        place = contents.index(content)
        bound = setting.run(views, data.slice(place, place + 1)).bound
        assert bound is not None
        most = (count + 6.0 * np.sqrt(count)) / n
        require(
            np.exp(bound) <= most,
            f"{setting.step}: its bound is none: for a group that {count} of {n} simulations gave it is {bound:.4f}, "
            f"and log p(y | beta) is about {np.log(count / n):.4f}",
        )


def _check_score(setting: Setting) -> None:
    """Over simulated data, eta-hat . dt has mean 0 for every way that t(beta) can move."""
    if setting.result.bound is not None:  # whose slope was looked at
        return
    data, views = _simulate_at_center(setting, _PARTS * _PART), setting.model.statistics_of(setting.center)
    keys = np.concatenate([setting.other_keys("score", str(part))[:_PART] for part in range(_PARTS)])
    parts = [slice(start, start + _PART) for start in range(0, _PARTS * _PART, _PART)]
    found = [setting.run(views, data.slice(own.start, own.stop), keys[own]).eta_hat for own in parts]
    rng = setting.rng("score")
    for _ in range(6):
        way = setting.direction(rng)
        ends = [
            setting.model.statistics_of({name: value + step * way[name] for name, value in setting.center.items()})
            for step in (1e-4, -1e-4)
        ]
        for name in setting.model.blocks():
            slope = (ends[0][name] - ends[1][name]) / 2e-4
            scores = np.array([(eta_hat[name] * slope).sum() for eta_hat in found])
            size = float(np.mean([np.abs(eta_hat[name] * slope).sum() for eta_hat in found]))
            error = float(scores.std() / np.sqrt(_PARTS))
            require(
                abs(scores.mean()) <= 6.0 * error + _BIAS * size,
                f"{setting.step}: eta-hat of {name!r} is not what the model's simulation says (a wrong sign, order or "
                f"conditional): scores have the mean {scores.mean():.4g} and not 0, {abs(scores.mean()) / error:.0f} "
                "standard errors off",
            )


CHECKS: tuple[Callable[[Setting], None], ...] = (_check_slope_of_bound, _check_bound, _check_score)


def _simulate_at_center(setting: Setting, n: int) -> Any:
    """Return n groups given the parameters in the centre."""
    require(
        "values" in inspect.signature(setting.model.simulate).parameters,
        f"{type(setting.model).__name__}: simulate must take `values`, the global parameters to simulate data with",
    )
    return setting.model.simulate(setting.rng("simulation"), n, values=setting.center)[1]
