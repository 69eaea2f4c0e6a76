"""What every family must get right: its formulas (`family_formulas`), its domain, and how it treats rows and keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ssvi.families.base import ExponentialFamily
from ssvi.numerics.random import derive_key, derive_keys
from ssvi.testing import family_formulas as formulas
from ssvi.testing.family_formulas import examples, generator, ways_out
from ssvi.testing.require import require


def check_family(family: ExponentialFamily, *, seed: int = 0) -> None:
    """Raise an `AssertionError` that names the fault if a family's formulas do not agree with each other.

    >>> from ssvi.families.gamma import Gamma
    >>> check_family(Gamma())
    """
    for check in CHECKS:
        check(family, seed)


def _check_examples(family: ExponentialFamily, seed: int) -> None:
    """Examples are valid, and the family can be told from others."""
    lam = examples(family, seed)
    require(lam.ndim == 2 and len(lam) >= 4, f"{family}: examples() must have at least four rows, not {lam.shape}")
    size = family.dimension
    require(size is None or lam.shape[1] == size, f"{family}: examples() has {lam.shape[1]} columns, not {size}")
    again = type(family)(*family.parameters)
    require(again == family and hash(again) == hash(family), f"{family}: a family made from its parameters is another")


def _check_domain(family: ExponentialFamily, seed: int) -> None:
    """One answer a row: yes for examples and what lies between them, no for what is not finite."""
    lam = examples(family, seed)
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


def _check_shapes(family: ExponentialFamily, seed: int) -> None:
    """SSVI takes less of its correction where shapes are small."""
    lam = examples(family, seed)
    shapes = np.asarray(family.shapes(lam))
    require(
        np.broadcast_shapes(shapes.shape, lam.shape) == lam.shape and bool((shapes > 0).all()),
        f"{family}: shapes must be positive and go with lambda's shape {lam.shape}, not {shapes.shape}",
    )


def _check_projection(family: ExponentialFamily, seed: int) -> None:
    """`project` ends inside, leaves alone what is well inside, does nothing twice, and lets NaN be."""
    lam = examples(family, seed)
    good = lam + 0.25 * (np.roll(lam, 1, axis=0) - lam)
    projected, moved = family.project(good, lam, good)
    require(np.array_equal(projected, good) and moved == 0, f"{family}: project moves a proposal that is well inside")
    prior = np.roll(lam, 2, axis=0)
    for reach in (1.0, 30.0, 1e4):
        proposal = lam + reach * generator(seed, "projection").normal(size=lam.shape) * (np.abs(lam) + 1.0)
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
    lam = examples(family, seed)
    lam = np.concatenate([lam, lam[: len(lam) % 2]])
    cube = lam.reshape(2, -1, lam.shape[1])
    keys = derive_keys(derive_key(seed, "axes"), len(lam))
    flat, deep = family.draw(lam, keys), family.draw(cube, keys)
    x = generator(seed, "axes").normal(size=lam.shape)
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
    lam = examples(family, seed)[:0]
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
    lam = np.repeat(examples(family, seed)[:1], 6, axis=0)
    keys = derive_keys(derive_key(seed, "keys"), 6)
    keys[3] = keys[1]
    stats = family.draw(lam, keys).stats
    require(np.array_equal(stats, family.draw(lam, keys).stats), f"{family}: draw gives other numbers for equal keys")
    require(np.array_equal(stats[3], stats[1]), f"{family}: draw ignores its key: two rows with one key differ")
    require(np.array_equal(stats[4:], family.draw(lam[4:], keys[4:]).stats), f"{family}: draw depends on other rows")
    if np.ptp(stats) > 0 or lam.shape[1] > 1:  # a single outcome is always the same
        distinct = len(np.unique(stats, axis=0))
        require(distinct == 5, f"{family}: draw ignores its key: {distinct} different rows of draws from 5 keys")


def _check_extremes(family: ExponentialFamily, seed: int) -> None:
    """Close to the boundary and far out everything is finite."""
    lam = examples(family, seed)
    near, far = lam[0] + (1.0 - 1e-6) * ways_out(family, lam[0], seed), 1e6 * lam
    for words, rows in (
        ("a millionth of the way from the boundary", near[family.in_domain(near)]),
        ("at 10^6 lambda", far[family.in_domain(far)]),
    ):
        if not len(rows):
            continue
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
    _check_keys,
    formulas.check_mean_is_gradient,
    formulas.check_mean_of_draws,
    formulas.check_fisher_solve,
    formulas.check_quantile,
    formulas.check_pullback,
    _check_shapes,
    formulas.check_correction_mean,
    formulas.check_damping,
    formulas.check_mode,
    formulas.check_values,
    formulas.check_divergence,
    formulas.check_distance,
    formulas.check_convexity,
    _check_projection,
    _check_leading_axes,
    _check_no_rows,
    _check_extremes,
)
