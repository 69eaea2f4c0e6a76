"""What a family's formulas must be to each other: A, E[t], draws, the Fisher matrix, the map from noise to t.

Statistical checks allow six standard errors, which a mean exceeds by chance twice in 10^9: with at most 1,000 means in
a check, one of 500,000 seeds fails a sound family.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ssvi.families.base import ExponentialFamily
from ssvi.families.draws import Draw
from ssvi.numerics.random import derive_key, derive_keys
from ssvi.testing.require import differences, require, require_close, require_mean
from ssvi.typing import Array


def check_mean_is_gradient(family: ExponentialFamily, seed: int) -> None:
    """E[t] = grad A."""
    for lam in examples(family, seed):
        gradient = differences(lambda x: family.log_normalizer(x)[..., None], lam)[0]
        size = 1.0 + abs(float(family.log_normalizer(lam[None])[0]))
        require_close(
            family.mean_stats(lam[None])[0],
            gradient,
            1e-6,
            1e-9 * size,
            f"{family}: mean_stats is not the gradient of log_normalizer (E[t] = grad A) at lambda = {lam}",
        )


def check_distance(family: ExponentialFamily, seed: int) -> None:
    """KL(q || p) and KL(p || q), which need A, have the mean `distance`."""
    lams = examples(family, seed)
    others = np.roll(lams, 1, axis=0)
    both = family.negative_divergence(lams, others) + family.negative_divergence(others, lams)
    size = 1.0 + np.abs(family.log_normalizer(lams)).max()
    require_close(
        family.distance(lams, others),
        -0.5 * both,
        1e-7,
        1e-9 * size,
        f"{family}: distance is not the mean of KL(q || p) and KL(p || q)",
    )


def check_mean_of_draws(family: ExponentialFamily, seed: int) -> None:
    """E[t] is the mean of t over draws."""
    for number, lam in enumerate(examples(family, seed)):
        _, draw = _many_draws(family, lam, derive_key(seed, "mean", number))
        require_mean(
            draw.stats,
            family.mean_stats(lam[None])[0],
            f"{family}: the mean of draws' t is not mean_stats at lambda = {lam}",
        )


def check_fisher_solve(family: ExponentialFamily, seed: int) -> None:
    """fisher_solve undoes the Hessian of A."""
    rng = generator(seed, "fisher")
    for lam in examples(family, seed):
        hessian = differences(family.mean_stats, lam)
        x = rng.normal(size=lam.size)
        require_close(
            family.fisher_solve(lam[None], (hessian @ x)[None])[0],
            x,
            1e-5,
            1e-5,
            f"{family}: fisher_solve(H x) is not x, where H is the Hessian of A, the slope of mean_stats, at {lam}",
        )


def check_quantile(family: ExponentialFamily, seed: int) -> None:
    """Quantile and probability undo each other."""
    lam = examples(family, seed)
    draw = family.draw(lam, derive_keys(derive_key(seed, "quantile"), len(lam)))
    u = family.probability(lam, draw)
    require(bool(((u > 0) & (u < 1)).all()), f"{family}: probability gives numbers that are not between 0 and 1")
    require_close(
        family.quantile(lam, u), draw.stats, 1e-7, 1e-8, f"{family}: quantile(probability(draw)) is not the draw's t"
    )


def check_pullback(family: ExponentialFamily, seed: int) -> None:
    """`pullback` is the transposed derivative of the quantile map at fixed noise."""
    lam = examples(family, seed)
    draw = family.draw(lam, derive_keys(derive_key(seed, "pullback"), len(lam)))
    u = family.probability(lam, draw)
    x = generator(seed, "pullback").normal(size=lam.shape)
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


def check_correction_mean(family: ExponentialFamily, seed: int) -> None:
    """E[V] = I, for a mild lambda and a few x."""
    lam = examples(family, seed)[0]
    copies, draw = _many_draws(family, lam, derive_key(seed, "correction"))
    for x in generator(seed, "correction").normal(size=(min(lam.size, 4), lam.size)):
        corrected = family.natural_correction(copies, draw, np.broadcast_to(x, copies.shape).copy())
        expected = x if lam.size > 1 or corrected.any() else np.zeros(1)  # a single outcome has nothing to learn
        require_mean(corrected, expected, f"{family}: E[V x] is not x (natural_correction) at lambda = {lam}")


def check_damping(family: ExponentialFamily, seed: int) -> None:
    """`corrected` takes the part of V x that ramp, softening and shapes say."""
    lam = examples(family, seed)
    draw = family.draw(lam, derive_keys(derive_key(seed, "damping"), len(lam)))
    x = generator(seed, "damping").normal(size=lam.shape)
    full, ramp, softening = family.natural_correction(lam, draw, x), 0.7, 0.3
    expected = x + ramp / (1.0 + softening / family.shapes(lam)) * (full - x)
    require_close(
        family.corrected(lam, draw, x, ramp, softening),
        expected,
        1e-9,
        1e-9 * float(np.abs(expected).max()),
        f"{family}: corrected is not x + k (V x - x) with k = ramp s / (s + softening), s = shapes",
    )


def check_mode(family: ExponentialFamily, seed: int) -> None:
    """`mode_stats` beats every draw in lambda . t, and is what draws at large multiples of lambda come to."""
    for number, lam in enumerate(examples(family, seed)):
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


def check_values(family: ExponentialFamily, seed: int) -> None:
    """`values` and `statistics` undo each other, on any leading axes."""
    lam = examples(family, seed)
    lam = np.stack([lam, lam])
    stats = family.draw(lam, derive_keys(derive_key(seed, "values"), lam[..., 0].size)).stats
    again = family.statistics(family.values(stats))
    require(again.shape == stats.shape, f"{family}: statistics(values(t)) has shape {again.shape}, not {stats.shape}")
    size = 1.0 + np.abs(stats).max()
    require_close(again / size, stats / size, 1e-7, 1e-8, f"{family}: statistics(values(t)) is not t")


def check_divergence(family: ExponentialFamily, seed: int) -> None:
    """KL(q || p) is 0 at the prior, positive elsewhere, and what A and E[t] say."""
    lam = examples(family, seed)
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


def check_convexity(family: ExponentialFamily, seed: int) -> None:
    """E[t] grows along every line in the domain, since A is convex; beyond the true boundary formulas do otherwise."""
    lam = examples(family, seed)[0]
    ways = ways_out(family, lam, seed)[:, None, :]
    terms = family.mean_stats(lam + np.linspace(0.05, 0.95, 19)[:, None] * ways) * ways
    slack = 1e-9 * (1.0 + np.abs(terms[:, 1:]).sum(axis=-1))
    falls = ~(np.diff(terms.sum(axis=-1), axis=1) > -slack).all(axis=1)
    require(
        not falls.any(),
        f"{family}: in_domain says yes too far out, or mean_stats is wrong, as E[t] falls on the way from {lam} to"
        f" {lam + ways[falls][:1, 0]}, inside the domain, where A must be convex",
    )


def generator(seed: int, purpose: str) -> np.random.Generator:
    """Return the random numbers of one check."""
    return np.random.default_rng(derive_key(seed, "check_family", purpose))


def examples(family: ExponentialFamily, seed: int) -> Array:
    """Return the lambda that all checks run on."""
    return family.examples(generator(seed, "examples"))


def ways_out(family: ExponentialFamily, lam: Array, seed: int) -> Array:
    """Return the ways from one lambda to where `in_domain` begins to say no, in as many directions as meet that."""
    scale = np.abs(lam) + 0.1
    some = generator(seed, "boundary").normal(size=(10, lam.size))
    directions = scale * np.concatenate([np.eye(lam.size), -np.eye(lam.size), some])
    inside, outside = np.zeros(len(directions)), np.full(len(directions), 1e6)
    meets = ~family.in_domain(lam + outside[:, None] * directions)
    for _ in range(100):
        middle = 0.5 * (inside + outside)
        within = family.in_domain(lam + middle[:, None] * directions)
        inside, outside = np.where(within, middle, inside), np.where(within, outside, middle)
    ways: Array = (inside[:, None] * directions)[meets]
    return ways


def _many_draws(family: ExponentialFamily, lam: Array, key: int) -> tuple[Array, Draw]:
    """Return copies of one lambda and a draw of each: fewer where there are many coordinates."""
    count = min(40_000, max(4_000, 160_000 // lam.size))
    copies = np.repeat(lam[None], count, axis=0)
    return copies, family.draw(copies, derive_keys(key, count))


def _quantile_at(family: ExponentialFamily, u: Array) -> Callable[[Array], Array]:
    """Return the map from lambda to t at fixed noise."""
    return lambda lam: family.quantile(lam, np.repeat(u[None], len(lam), axis=0))
