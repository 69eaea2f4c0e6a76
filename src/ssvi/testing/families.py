"""What every family must get right, checked against differences of its own formulas and against its own draws.

Statistical checks allow six standard errors, which a mean exceeds by chance twice in 10^9: with at most 1,000 means in
a check, one of 500,000 seeds fails a sound family.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.families.base import ExponentialFamily
from ssvi.families.draws import Draw
from ssvi.numerics.random import derive_key, derive_keys
from ssvi.typing import Array

_ERRORS = 6.0  # standard errors
_STEP = 1e-4  # of differences, whose error is of the fourth order


def check_family(family: ExponentialFamily, *, seed: int = 0) -> None:
    """Raise an `AssertionError` that names the fault if a family's formulas do not agree with each other.

    >>> from ssvi.families.gamma import Gamma
    >>> check_family(Gamma())
    """
    for check in CHECKS:
        check(family, seed)


def _check_examples(family: ExponentialFamily, seed: int) -> None:
    """Examples are valid, and the family can be told from others."""
    lam = family.examples(_generator(seed, "examples"))
    _require(lam.ndim == 2 and len(lam) >= 4, f"{family}: examples() must have at least four rows, not {lam.shape}")
    size = family.dimension
    _require(size is None or lam.shape[1] == size, f"{family}: examples() has {lam.shape[1]} columns, not {size}")
    again = type(family)(*family.parameters)
    _require(again == family and hash(again) == hash(family), f"{family}: a family made from its parameters is another")


def _check_domain(family: ExponentialFamily, seed: int) -> None:
    """One answer a row: yes for examples and what lies between them, no for what is not finite."""
    lam = _examples(family, seed)
    inside = family.in_domain(lam)
    _require(
        inside.shape == lam.shape[:-1] and inside.dtype == bool,
        f"{family}: in_domain must give one truth value a row ({lam.shape[:-1]}), not {inside.dtype} {inside.shape}",
    )
    _require(inside.all(), f"{family}: in_domain says no to rows {np.flatnonzero(~inside)} of examples()")
    between = 0.5 * (lam + np.roll(lam, 1, axis=0))
    _require(
        family.in_domain(between).all(), f"{family}: in_domain says no half way between two rows of a convex domain"
    )
    for bad in (np.nan, np.inf, -np.inf):
        spoiled = np.repeat(lam[:1], lam.shape[1], axis=0)
        np.fill_diagonal(spoiled, bad)
        wrong = np.flatnonzero(family.in_domain(spoiled))
        _require(len(wrong) == 0, f"{family}: in_domain says yes although coordinate(s) {wrong} are {bad}")


def _check_mean_is_gradient(family: ExponentialFamily, seed: int) -> None:
    """E[t] = grad A."""
    for lam in _examples(family, seed):
        gradient = _differences(lambda x: family.log_normalizer(x)[..., None], lam)[0]
        size = 1.0 + abs(float(family.log_normalizer(lam[None])[0]))
        _require_close(
            family.mean_stats(lam[None])[0],
            gradient,
            1e-6,
            1e-9 * size,
            f"{family}: mean_stats is not the gradient of log_normalizer (E[t] = grad A) at lambda = {lam}",
        )


def _check_mean_of_draws(family: ExponentialFamily, seed: int) -> None:
    """E[t] is the mean of t over draws."""
    for number, lam in enumerate(_examples(family, seed)):
        _, draw = _many_draws(family, lam, derive_key(seed, "mean", number))
        _require_mean(
            draw.stats,
            family.mean_stats(lam[None])[0],
            f"{family}: the mean of draws' t is not mean_stats at lambda = {lam}",
        )


def _check_fisher_solve(family: ExponentialFamily, seed: int) -> None:
    """fisher_solve undoes the Hessian of A."""
    rng = _generator(seed, "fisher")
    for lam in _examples(family, seed):
        hessian = _differences(family.mean_stats, lam)
        x = rng.normal(size=lam.size)
        _require_close(
            family.fisher_solve(lam[None], (hessian @ x)[None])[0],
            x,
            1e-5,
            1e-5,
            f"{family}: fisher_solve(H x) is not x, where H is the Hessian of A, the slope of mean_stats, at {lam}",
        )


def _check_quantile(family: ExponentialFamily, seed: int) -> None:
    """Quantile and probability undo each other."""
    lam = _examples(family, seed)
    draw = family.draw(lam, derive_keys(derive_key(seed, "quantile"), len(lam)))
    u = family.probability(lam, draw)
    _require(bool(((u > 0) & (u < 1)).all()), f"{family}: probability gives numbers that are not between 0 and 1")
    _require_close(
        family.quantile(lam, u), draw.stats, 1e-7, 1e-8, f"{family}: quantile(probability(draw)) is not the draw's t"
    )


def _check_values(family: ExponentialFamily, seed: int) -> None:
    """Values and statistics undo each other, on any leading axes."""
    lam = _examples(family, seed)
    lam = np.stack([lam, lam])
    stats = family.draw(lam, derive_keys(derive_key(seed, "values"), lam[..., 0].size)).stats
    again = family.statistics(family.values(stats))
    _require(again.shape == stats.shape, f"{family}: statistics(values(t)) has shape {again.shape}, not {stats.shape}")
    _require_close(again, stats, 1e-7, 1e-8, f"{family}: statistics(values(t)) is not t")


def _check_pullback(family: ExponentialFamily, seed: int) -> None:
    """`pullback` is the transposed derivative of the quantile map at fixed noise."""
    lam = _examples(family, seed)
    draw = family.draw(lam, derive_keys(derive_key(seed, "pullback"), len(lam)))
    u = family.probability(lam, draw)
    x = _generator(seed, "pullback").normal(size=lam.shape)
    pulled = family.pullback(lam, draw, x)
    for row, own_u, own_x, found in zip(lam, u, x, pulled, strict=True):
        jacobian = _differences(_quantile_at(family, own_u), row)
        expected = jacobian.T @ own_x
        _require_close(
            found,
            expected,
            1e-5,
            1e-6 * max(1.0, float(np.abs(expected).max())),
            f"{family}: pullback is not (d t(R(u; lambda)) / d lambda)^T x at fixed u, lambda = {row}",
        )


def _check_correction_mean(family: ExponentialFamily, seed: int) -> None:
    """E[V] = I, for a mild lambda and a few x."""
    lam = _examples(family, seed)[0]
    copies, draw = _many_draws(family, lam, derive_key(seed, "correction"))
    for x in _generator(seed, "correction").normal(size=(min(lam.size, 4), lam.size)):
        corrected = family.natural_correction(copies, draw, np.broadcast_to(x, copies.shape).copy())
        expected = x if lam.size > 1 or corrected.any() else np.zeros(1)  # a single outcome has nothing to learn
        _require_mean(corrected, expected, f"{family}: E[V x] is not x (natural_correction) at lambda = {lam}")


def _check_mode(family: ExponentialFamily, seed: int) -> None:
    """`mode_stats` beats every draw in lambda . t, and is what draws at large multiples of lambda come to."""
    for number, lam in enumerate(_examples(family, seed)):
        mode = family.mode_stats(lam[None])[0]
        copies = np.repeat(lam[None], 1000, axis=0)
        keys = derive_keys(derive_key(seed, "mode", number), len(copies))
        best = float((family.draw(copies, keys).stats @ lam).max())
        slack = 1e-9 * (1.0 + np.abs(mode) @ np.abs(lam))
        _require(
            best <= mode @ lam + slack, f"{family}: a draw has a larger lambda . t than mode_stats at lambda = {lam}"
        )
        concentrated = 1e8 * lam[None]
        if family.in_domain(concentrated).all():
            _require_close(
                family.draw(concentrated, keys[:1]).stats[0],
                mode,
                1e-2,
                1e-2,
                f"{family}: mode_stats is not where draws at 10^8 lambda gather, lambda = {lam}",
            )


def _check_divergence(family: ExponentialFamily, seed: int) -> None:
    """KL(q || p) is 0 at the prior, positive elsewhere, and what A and E[t] say."""
    lam = _examples(family, seed)
    other = np.roll(lam, 1, axis=0)
    size = 1.0 + np.abs(family.log_normalizer(lam)) + np.abs(family.log_normalizer(other))
    at_prior = family.negative_divergence(lam, lam)
    _require(bool((np.abs(at_prior) <= 1e-12 * size).all()), f"{family}: negative_divergence is not 0 at the prior")
    elsewhere = family.negative_divergence(lam, other)
    _require(bool((elsewhere < 0).all()), f"{family}: negative_divergence is not negative away from the prior")
    expected = ((other - lam) * family.mean_stats(lam)).sum(axis=-1)
    expected += family.log_normalizer(lam) - family.log_normalizer(other)
    _require_close(
        elsewhere,
        expected,
        1e-8,
        1e-9 * float(size.max()),
        f"{family}: negative_divergence is not (eta - lambda) . E[t] - A(eta) + A(lambda)",
    )


def _check_projection(family: ExponentialFamily, seed: int) -> None:
    """`project` ends inside, leaves alone what is well inside, does nothing twice, and lets NaN be."""
    lam = _examples(family, seed)
    good = lam + 0.25 * (np.roll(lam, 1, axis=0) - lam)
    projected, moved = family.project(good, lam, good)
    _require(np.array_equal(projected, good) and moved == 0, f"{family}: project moves a proposal that is well inside")
    prior = np.roll(lam, 2, axis=0)
    for reach in (1.0, 30.0, 1e4):
        proposal = lam + reach * _generator(seed, "projection").normal(size=lam.shape) * (np.abs(lam) + 1.0)
        projected, moved = family.project(proposal, lam, prior)
        _require(
            bool(family.in_domain(projected).all()),
            f"{family}: project leaves rows {np.flatnonzero(~family.in_domain(projected))} outside the domain",
        )
        changed = int((projected != proposal).sum())
        _require((moved > 0) == (changed > 0), f"{family}: project counts {moved} moves, but {changed} numbers changed")
        again, moved = family.project(projected, lam, prior)
        _require(np.array_equal(again, projected) and moved == 0, f"{family}: project moves its own result again")
        proposal[0] = np.nan
        spoiled, _ = family.project(proposal, lam, prior)
        _require(bool(np.isnan(spoiled[0]).all()), f"{family}: project hides a row of NaN")
        _require(np.array_equal(spoiled[1:], projected[1:]), f"{family}: project mixes rows")


def _check_leading_axes(family: ExponentialFamily, seed: int) -> None:
    """Leading axes are independent copies, and arguments are left alone."""
    lam = _examples(family, seed)
    lam = np.concatenate([lam, lam[: len(lam) % 2]])
    cube = lam.reshape(2, -1, lam.shape[1])
    keys = derive_keys(derive_key(seed, "axes"), len(lam))
    flat, deep = family.draw(lam, keys), family.draw(cube, keys)
    x = _generator(seed, "axes").normal(size=lam.shape)
    kept, kept_x = lam.copy(), x.copy()
    pairs: list[tuple[str, Any, Any]] = [
        ("draw", flat.stats, deep.stats),
        ("pullback", family.pullback(lam, flat, x), family.pullback(cube, deep, x.reshape(cube.shape))),
        ("fisher_solve", family.fisher_solve(lam, x), family.fisher_solve(cube, x.reshape(cube.shape))),
        ("quantile", family.quantile(lam, family.probability(lam, flat)),
         family.quantile(cube, family.probability(cube, deep))),
        ("project", family.project(lam + x, lam, lam)[0],
         family.project(cube + x.reshape(cube.shape), cube, cube)[0]),
        *((name, getattr(family, name)(lam), getattr(family, name)(cube))
          for name in ("log_normalizer", "mean_stats", "mode_stats", "in_domain")),
    ]  # fmt: skip
    for name, rows, copies in pairs:
        _require(
            copies.shape[:2] == cube.shape[:2] and bool(np.allclose(copies.reshape(rows.shape), rows, rtol=1e-12)),
            f"{family}: {name} of rows with two leading axes differs from the same rows with one",
        )
    _require(np.array_equal(lam, kept) and np.array_equal(x, kept_x), f"{family}: a method writes into its arguments")


def _check_keys(family: ExponentialFamily, seed: int) -> None:
    """Each draw depends on its row's lambda and key and on nothing else."""
    lam = np.repeat(_examples(family, seed)[:1], 6, axis=0)
    keys = derive_keys(derive_key(seed, "keys"), 6)
    keys[3] = keys[1]
    stats = family.draw(lam, keys).stats
    _require(np.array_equal(stats, family.draw(lam, keys).stats), f"{family}: draw gives other numbers for equal keys")
    _require(np.array_equal(stats[3], stats[1]), f"{family}: draw of two rows with one key differs")
    _require(np.array_equal(stats[4:], family.draw(lam[4:], keys[4:]).stats), f"{family}: draw depends on other rows")
    if np.ptp(stats) > 0 or lam.shape[1] > 1:  # a single outcome is always the same
        distinct = len(np.unique(stats, axis=0))
        _require(distinct == 5, f"{family}: draw ignores its key: {distinct} different rows of draws from 5 keys")


def _check_extremes(family: ExponentialFamily, seed: int) -> None:
    """Close to the boundary and far out everything is finite."""
    lam = _examples(family, seed)
    far = 1e6 * lam
    for words, rows in (
        ("a millionth of the way from the boundary", _near_boundary(family, lam[0], seed)),
        ("at 10^6 lambda", far[family.in_domain(far)]),
    ):
        draw = family.draw(rows, derive_keys(derive_key(seed, "extremes"), len(rows)))
        answers = {
            "log_normalizer": family.log_normalizer(rows),
            "mean_stats": family.mean_stats(rows),
            "mode_stats": family.mode_stats(rows),
            "draw": draw.stats,
            "natural_correction": family.natural_correction(rows, draw, np.ones_like(rows)),
        }
        for name, values in answers.items():
            bad = np.flatnonzero(~np.isfinite(values.reshape(len(rows), -1)).all(axis=1))
            _require(len(bad) == 0, f"{family}: {name} is not finite {words}, for instance at lambda = {rows[bad[:1]]}")


CHECKS: tuple[Callable[[ExponentialFamily, int], None], ...] = (
    _check_examples,
    _check_domain,
    _check_mean_is_gradient,
    _check_mean_of_draws,
    _check_fisher_solve,
    _check_quantile,
    _check_values,
    _check_pullback,
    _check_correction_mean,
    _check_mode,
    _check_divergence,
    _check_projection,
    _check_leading_axes,
    _check_keys,
    _check_extremes,
)


def _require(holds: bool | np.bool_, fault: str) -> None:
    if not holds:
        raise AssertionError(fault)


def _require_close(found: Array, expected: Array, relative: float, absolute: float, fault: str) -> None:
    excess = np.abs(found - expected) - relative * np.abs(expected) - absolute
    if not (excess <= 0).all():
        raise AssertionError(f"{fault}: {found}, where {expected} was expected.")


def _require_mean(values: Array, expected: Array, fault: str) -> None:
    """Want the means over rows within six standard errors."""
    mean = values.mean(axis=0)
    error = values.std(axis=0) / np.sqrt(len(values)) + 1e-12 * (1.0 + np.abs(mean))
    if not (np.abs(mean - expected) <= _ERRORS * error).all():
        errors = float(np.nanmax(np.abs(mean - expected) / error))
        raise AssertionError(f"{fault}: {mean}, where {expected} was expected; {errors:.1f} standard errors off.")


def _generator(seed: int, purpose: str) -> np.random.Generator:
    return np.random.default_rng(derive_key(seed, "check_family", purpose))


def _examples(family: ExponentialFamily, seed: int) -> Array:
    return family.examples(_generator(seed, "examples"))


def _many_draws(family: ExponentialFamily, lam: Array, key: int) -> tuple[Array, Draw]:
    """Return copies of one lambda and a draw of each: fewer where there are many coordinates."""
    count = min(40_000, max(4_000, 160_000 // lam.size))
    copies = np.repeat(lam[None], count, axis=0)
    return copies, family.draw(copies, derive_keys(key, count))


def _differences(function: Callable[[Array], Array], point: Array) -> npt.NDArray[Any]:
    """Return the Jacobian of a function of rows at one point, a row an output, by differences of the fourth order."""
    steps = np.diag(_STEP * np.maximum(0.1, np.abs(point)))
    near = function(point + steps) - function(point - steps)
    far = function(point + 2.0 * steps) - function(point - 2.0 * steps)
    jacobian: Array = ((8.0 * near - far) / (12.0 * np.diag(steps)[:, None])).T
    return jacobian


def _quantile_at(family: ExponentialFamily, u: Array) -> Callable[[Array], Array]:
    """Return the map from lambda to t at fixed noise."""
    return lambda lam: family.quantile(lam, np.repeat(u[None], len(lam), axis=0))


def _near_boundary(family: ExponentialFamily, lam: Array, seed: int) -> Array:
    """Return points a millionth of the way from the boundary to lambda, in as many directions as meet it."""
    scale = np.abs(lam) + 0.1
    some = _generator(seed, "boundary").normal(size=(10, lam.size))
    directions = scale * np.concatenate([np.eye(lam.size), -np.eye(lam.size), some])
    inside, outside = np.zeros(len(directions)), np.full(len(directions), 1e6)
    meets = ~family.in_domain(lam + outside[:, None] * directions)
    for _ in range(100):
        middle = 0.5 * (inside + outside)
        within = family.in_domain(lam + middle[:, None] * directions)
        inside, outside = np.where(within, middle, inside), np.where(within, outside, middle)
    points: Array = (lam + (1.0 - 1e-6) * inside[:, None] * directions)[meets]
    return points[family.in_domain(points)]
