"""What every family must get right, checked against differences of its own formulas and against its own draws.

Statistical checks allow six standard errors, which a mean exceeds by chance twice in 10^9: with at most 1,000 means in
a check, one of 500,000 seeds fails a sound family.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ssvi.families.base import ExponentialFamily
from ssvi.families.draws import Draw
from ssvi.numerics.random import derive_key, derive_keys
from ssvi.testing.require import differences, require, require_close, require_mean
from ssvi.typing import Array


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
    require(lam.ndim == 2 and len(lam) >= 4, f"{family}: examples() must have at least four rows, not {lam.shape}")
    size = family.dimension
    require(size is None or lam.shape[1] == size, f"{family}: examples() has {lam.shape[1]} columns, not {size}")
    again = type(family)(*family.parameters)
    require(again == family and hash(again) == hash(family), f"{family}: a family made from its parameters is another")


def _check_domain(family: ExponentialFamily, seed: int) -> None:
    """One answer a row: yes for examples and what lies between them, no for what is not finite."""
    lam = _examples(family, seed)
    inside = family.in_domain(lam)
    require(
        inside.shape == lam.shape[:-1] and inside.dtype == bool,
        f"{family}: in_domain must give one truth value a row ({lam.shape[:-1]}), not {inside.dtype} {inside.shape}",
    )
    require(inside.all(), f"{family}: in_domain says no to rows {np.flatnonzero(~inside)} of examples()")
    between = 0.5 * (lam + np.roll(lam, 1, axis=0))
    require(
        family.in_domain(between).all(), f"{family}: in_domain says no half way between two rows of a convex domain"
    )
    for bad in (np.nan, np.inf, -np.inf):
        spoiled = np.repeat(lam[:1], lam.shape[1], axis=0)
        np.fill_diagonal(spoiled, bad)
        wrong = np.flatnonzero(family.in_domain(spoiled))
        require(len(wrong) == 0, f"{family}: in_domain says yes although coordinate(s) {wrong} are {bad}")


def _check_convexity(family: ExponentialFamily, seed: int) -> None:
    """E[t] grows along every line in the domain, since A is convex; beyond the true boundary formulas do otherwise."""
    lam = _examples(family, seed)[0]
    ways = _ways_out(family, lam, seed)[:, None, :]
    terms = family.mean_stats(lam + np.linspace(0.05, 0.95, 19)[:, None] * ways) * ways
    slack = 1e-9 * (1.0 + np.abs(terms[:, 1:]).sum(axis=-1))
    falls = ~(np.diff(terms.sum(axis=-1), axis=1) > -slack).all(axis=1)
    require(
        not falls.any(),
        f"{family}: in_domain says yes too far out, or mean_stats is wrong, as E[t] falls on the way from {lam} to"
        f" {lam + ways[falls][:1, 0]}, inside the domain, where A must be convex",
    )


def _check_mean_is_gradient(family: ExponentialFamily, seed: int) -> None:
    """E[t] = grad A."""
    for lam in _examples(family, seed):
        gradient = differences(lambda x: family.log_normalizer(x)[..., None], lam)[0]
        size = 1.0 + abs(float(family.log_normalizer(lam[None])[0]))
        require_close(
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
        require_mean(
            draw.stats,
            family.mean_stats(lam[None])[0],
            f"{family}: the mean of draws' t is not mean_stats at lambda = {lam}",
        )


def _check_fisher_solve(family: ExponentialFamily, seed: int) -> None:
    """fisher_solve undoes the Hessian of A."""
    rng = _generator(seed, "fisher")
    for lam in _examples(family, seed):
        hessian = differences(family.mean_stats, lam)
        x = rng.normal(size=lam.size)
        require_close(
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
    require(bool(((u > 0) & (u < 1)).all()), f"{family}: probability gives numbers that are not between 0 and 1")
    require_close(
        family.quantile(lam, u), draw.stats, 1e-7, 1e-8, f"{family}: quantile(probability(draw)) is not the draw's t"
    )


def _check_pullback(family: ExponentialFamily, seed: int) -> None:
    """`pullback` is the transposed derivative of the quantile map at fixed noise."""
    lam = _examples(family, seed)
    draw = family.draw(lam, derive_keys(derive_key(seed, "pullback"), len(lam)))
    u = family.probability(lam, draw)
    x = _generator(seed, "pullback").normal(size=lam.shape)
    pulled = family.pullback(lam, draw, x)
    for row, own_u, own_x, found in zip(lam, u, x, pulled, strict=True):
        jacobian = differences(_quantile_at(family, own_u), row)
        expected = jacobian.T @ own_x
        require_close(
            found,
            expected,
            1e-5,
            1e-6 * max(1.0, float(np.abs(expected).max())),
            f"{family}: pullback is not (d t(R(u; lambda)) / d lambda)^T x at fixed u, lambda = {row}",
        )


def _check_shapes(family: ExponentialFamily, seed: int) -> None:
    """SSVI takes less of its correction where shapes are small."""
    lam = _examples(family, seed)
    shapes = np.asarray(family.shapes(lam))
    require(
        np.broadcast_shapes(shapes.shape, lam.shape) == lam.shape and bool((shapes > 0).all()),
        f"{family}: shapes must be positive and go with lambda's shape {lam.shape}, not {shapes.shape}",
    )


def _check_correction_mean(family: ExponentialFamily, seed: int) -> None:
    """E[V] = I, for a mild lambda and a few x."""
    lam = _examples(family, seed)[0]
    copies, draw = _many_draws(family, lam, derive_key(seed, "correction"))
    for x in _generator(seed, "correction").normal(size=(min(lam.size, 4), lam.size)):
        corrected = family.natural_correction(copies, draw, np.broadcast_to(x, copies.shape).copy())
        expected = x if lam.size > 1 or corrected.any() else np.zeros(1)  # a single outcome has nothing to learn
        require_mean(corrected, expected, f"{family}: E[V x] is not x (natural_correction) at lambda = {lam}")


def _check_mode(family: ExponentialFamily, seed: int) -> None:
    """`mode_stats` beats every draw in lambda . t, and is what draws at large multiples of lambda come to."""
    for number, lam in enumerate(_examples(family, seed)):
        mode = family.mode_stats(lam[None])[0]
        copies = np.repeat(lam[None], 1000, axis=0)
        keys = derive_keys(derive_key(seed, "mode", number), len(copies))
        best = float((family.draw(copies, keys).stats @ lam).max())
        slack = 1e-9 * (1.0 + np.abs(mode) @ np.abs(lam))
        require(
            best <= mode @ lam + slack, f"{family}: a draw has a larger lambda . t than mode_stats at lambda = {lam}"
        )
        concentrated = 1e8 * lam[None]
        if family.in_domain(concentrated).all():
            require_close(
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
    require(bool((np.abs(at_prior) <= 1e-12 * size).all()), f"{family}: negative_divergence is not 0 at the prior")
    elsewhere = family.negative_divergence(lam, other)
    require(bool((elsewhere < 0).all()), f"{family}: negative_divergence is not negative away from the prior")
    expected = ((other - lam) * family.mean_stats(lam)).sum(axis=-1)
    expected += family.log_normalizer(lam) - family.log_normalizer(other)
    require_close(
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
    require(np.array_equal(projected, good) and moved == 0, f"{family}: project moves a proposal that is well inside")
    prior = np.roll(lam, 2, axis=0)
    for reach in (1.0, 30.0, 1e4):
        proposal = lam + reach * _generator(seed, "projection").normal(size=lam.shape) * (np.abs(lam) + 1.0)
        projected, moved = family.project(proposal, lam, prior)
        require(
            bool(family.in_domain(projected).all()),
            f"{family}: project leaves rows {np.flatnonzero(~family.in_domain(projected))} outside the domain",
        )
        changed = int((projected != proposal).sum())
        require((moved > 0) == (changed > 0), f"{family}: project counts {moved} moves, but {changed} numbers changed")
        again, moved = family.project(projected, lam, prior)
        require(np.array_equal(again, projected) and moved == 0, f"{family}: project moves its own result again")
        proposal[0] = np.nan
        spoiled, _ = family.project(proposal, lam, prior)
        require(bool(np.isnan(spoiled[0]).all()), f"{family}: project hides a row of NaN")
        require(np.array_equal(spoiled[1:], projected[1:]), f"{family}: project mixes rows")


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
        require(
            copies.shape[:2] == cube.shape[:2] and bool(np.allclose(copies.reshape(rows.shape), rows, rtol=1e-12)),
            f"{family}: {name} of rows with two leading axes differs from the same rows with one",
        )
    require(np.array_equal(lam, kept) and np.array_equal(x, kept_x), f"{family}: a method writes into its arguments")


def _check_no_rows(family: ExponentialFamily, seed: int) -> None:
    """No rows give no rows: a step may touch none of a block."""
    lam = _examples(family, seed)[:0]
    draw = family.draw(lam, derive_keys(0, 0))
    answers = {
        "draw": draw.stats,
        "mean_stats": family.mean_stats(lam),
        "mode_stats": family.mode_stats(lam),
        "natural_correction": family.natural_correction(lam, draw, lam),
        "quantile": family.quantile(lam, family.probability(lam, draw)),
        "project": family.project(lam, lam, lam)[0],
    }
    for name, values in answers.items():
        require(values.shape == lam.shape, f"{family}: {name} of no rows has the shape {values.shape}, not {lam.shape}")
    for name in ("log_normalizer", "in_domain"):
        require(getattr(family, name)(lam).shape == (0,), f"{family}: {name} of no rows must be empty")


def _check_keys(family: ExponentialFamily, seed: int) -> None:
    """Each draw depends on its row's lambda and key and on nothing else."""
    lam = np.repeat(_examples(family, seed)[:1], 6, axis=0)
    keys = derive_keys(derive_key(seed, "keys"), 6)
    keys[3] = keys[1]
    stats = family.draw(lam, keys).stats
    require(np.array_equal(stats, family.draw(lam, keys).stats), f"{family}: draw gives other numbers for equal keys")
    require(np.array_equal(stats[3], stats[1]), f"{family}: draw of two rows with one key differs")
    require(np.array_equal(stats[4:], family.draw(lam[4:], keys[4:]).stats), f"{family}: draw depends on other rows")
    if np.ptp(stats) > 0 or lam.shape[1] > 1:  # a single outcome is always the same
        distinct = len(np.unique(stats, axis=0))
        require(distinct == 5, f"{family}: draw ignores its key: {distinct} different rows of draws from 5 keys")


def _check_extremes(family: ExponentialFamily, seed: int) -> None:
    """Close to the boundary and far out everything is finite."""
    lam = _examples(family, seed)
    near, far = lam[0] + (1.0 - 1e-6) * _ways_out(family, lam[0], seed), 1e6 * lam
    for words, rows in (
        ("a millionth of the way from the boundary", near[family.in_domain(near)]),
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
            require(len(bad) == 0, f"{family}: {name} is not finite {words}, for instance at lambda = {rows[bad[:1]]}")


CHECKS: tuple[Callable[[ExponentialFamily, int], None], ...] = (
    _check_examples,
    _check_domain,
    _check_mean_is_gradient,
    _check_mean_of_draws,
    _check_fisher_solve,
    _check_quantile,
    _check_pullback,
    _check_shapes,
    _check_correction_mean,
    _check_mode,
    _check_divergence,
    _check_convexity,
    _check_projection,
    _check_leading_axes,
    _check_no_rows,
    _check_keys,
    _check_extremes,
)


def _generator(seed: int, purpose: str) -> np.random.Generator:
    return np.random.default_rng(derive_key(seed, "check_family", purpose))


def _examples(family: ExponentialFamily, seed: int) -> Array:
    return family.examples(_generator(seed, "examples"))


def _many_draws(family: ExponentialFamily, lam: Array, key: int) -> tuple[Array, Draw]:
    """Return copies of one lambda and a draw of each: fewer where there are many coordinates."""
    count = min(40_000, max(4_000, 160_000 // lam.size))
    copies = np.repeat(lam[None], count, axis=0)
    return copies, family.draw(copies, derive_keys(key, count))


def _quantile_at(family: ExponentialFamily, u: Array) -> Callable[[Array], Array]:
    """Return the map from lambda to t at fixed noise."""
    return lambda lam: family.quantile(lam, np.repeat(u[None], len(lam), axis=0))


def _ways_out(family: ExponentialFamily, lam: Array, seed: int) -> Array:
    """Return the ways from one lambda to where `in_domain` begins to say no, in as many directions as meet that."""
    scale = np.abs(lam) + 0.1
    some = _generator(seed, "boundary").normal(size=(10, lam.size))
    directions = scale * np.concatenate([np.eye(lam.size), -np.eye(lam.size), some])
    inside, outside = np.zeros(len(directions)), np.full(len(directions), 1e6)
    meets = ~family.in_domain(lam + outside[:, None] * directions)
    for _ in range(100):
        middle = 0.5 * (inside + outside)
        within = family.in_domain(lam + middle[:, None] * directions)
        inside, outside = np.where(within, middle, inside), np.where(within, outside, middle)
    ways: Array = (inside[:, None] * directions)[meets]
    return ways
