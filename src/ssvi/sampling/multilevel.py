"""A long Gibbs sampler of multilevel regressions, in plain NumPy: what approximations are held to.

Each sweep draws, given all others, what makes rows Gaussian (Polya-Gamma variables, or Albert and Chib's normal
ones), then beta with all b integrated out, b, Q, its scales, tau and its scale. Nothing is shared with the local
steps but the sampler of Polya-Gamma variables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from ssvi.batches.groups import Groups
from ssvi.families.symmetric import pack, unpack
from ssvi.models.hierarchical.base import HierarchicalRegression
from ssvi.models.hierarchical.deviations import draw_wishart
from ssvi.models.hierarchical.linear import HierarchicalLinear
from ssvi.models.hierarchical.logistic import HierarchicalLogistic
from ssvi.numerics.compile import kernel
from ssvi.numerics.polya_gamma import polya_gamma
from ssvi.numerics.random import Keys, derive_key, derive_keys
from ssvi.sampling.chains import Chain
from ssvi.typing import Array


class _Table(NamedTuple):
    """A data set as arrays: rows of x and of v, y, weights, and the group of each row."""

    x: Array
    v: Array
    y: Array
    weights: Array
    group: Any
    cuts: Any


class Draws(NamedTuple):
    """Draws of the global parameters by block, as models simulate them, and of each group's effects."""

    values: dict[str, Array]
    effects: Array


@kernel
def _draw_polya_gamma(trials: Array, eta: Array, keys: Keys, out: Array) -> None:
    for i in range(out.size):
        out[i], _ = polya_gamma(int(trials[i]), eta[i], keys[i])


def sample_multilevel(
    model: HierarchicalRegression,
    data: Groups,
    start: Mapping[str, Array],
    chain: Chain,
    seed: int,
    after_sweep: Callable[[], None] = lambda: None,
) -> Draws:
    """Return draws by a chain that starts at given values of the global parameters, as `simulate` has them."""
    rng = np.random.default_rng(derive_key(seed, "multilevel"))
    rows = slice(data.indptr[0], data.indptr[-1])
    inputs, sizes = data.inputs[rows], np.diff(data.indptr)
    table = _Table(
        inputs[:, model.fixed_columns], inputs[:, model.varying], data.outputs[rows], data.weights[rows],
        np.repeat(np.arange(len(data)), sizes), data.indptr[:-1] - data.indptr[0],
    )  # fmt: skip
    values = {name: np.array(value) for name, value in start.items()}
    effects = np.zeros((len(data), model.n_varying))
    kept: dict[str, list[Array]] = {name: [] for name in values}
    kept_effects = []
    for sweep in range(1, chain.sweeps + 1):
        omega, k = _rows(model, table, values, effects, rng, derive_key(seed, "rows", sweep))
        values["coefficients"], effects = _coefficients(model, table, values, omega, k, rng)
        _population(model, values, effects, rng)
        _noise(model, table, values, effects, rng)
        if chain.keeps(sweep):
            kept_effects.append(effects)
            for name, value in values.items():
                kept[name].append(np.array(value))
        after_sweep()
    return Draws({name: np.stack(draws) for name, draws in kept.items()}, np.stack(kept_effects))


def _predictor(table: _Table, values: Mapping[str, Array], effects: Array) -> Array:
    result: Array = table.x @ values["coefficients"][0] + (table.v * effects[table.group]).sum(axis=1)
    return result


def _rows(
    model: HierarchicalRegression, table: _Table, values: Mapping[str, Array], effects: Array, rng: Any, key: int
) -> tuple[Array, Array]:
    """Return each row's precision, and that times its working value."""
    if isinstance(model, HierarchicalLinear):
        omega = table.weights * (values["noise"][0] if "noise" in values else 1.0)
        return omega, omega * table.y
    eta = _predictor(table, values, effects)
    if isinstance(model, HierarchicalLogistic):
        omega = np.empty(len(eta))
        _draw_polya_gamma(table.weights, eta, derive_keys(key, len(eta)), omega)
        return omega, table.y - 0.5 * table.weights
    k = np.zeros(len(eta))
    for trial in range(int(table.weights.max())):
        there, sign = table.weights > trial, np.where(trial < table.y, 1.0, -1.0)
        # By the distribution function of the side that is drawn from, whose logarithm is safe.
        log_share = special.log_ndtr(sign * eta) + np.log(rng.random(len(eta)))
        k += np.where(there, eta - sign * special.ndtri_exp(log_share), 0.0)
    return table.weights, k


def _coefficients(
    model: HierarchicalRegression, table: _Table, values: Mapping[str, Array], omega: Array, k: Array, rng: Any
) -> tuple[Array, Array]:
    """Draw beta with all b integrated out, and b given beta."""
    prior = model.blocks()["coefficients"]
    location, precision = prior.family.standard(prior.prior[0])  # type: ignore[attr-defined]
    linear, quadratic = precision @ location + table.x.T @ k, precision + (table.x * omega[:, None]).T @ table.x
    if not model.n_varying:
        return _gaussian(rng, linear, quadratic)[None], np.zeros((len(table.cuts), 0))
    weighted = table.v * omega[:, None]
    cross = np.add.reduceat(weighted[:, :, None] * table.x[:, None, :], table.cuts)
    own = np.add.reduceat(weighted[:, :, None] * table.v[:, None, :], table.cuts)
    e = np.add.reduceat(table.v * k[:, None], table.cuts)
    p = own + unpack(values["precision"][0], model.n_varying)
    gain = np.linalg.solve(p, cross)
    quadratic = quadratic - np.einsum("ndp,ndq->pq", cross, gain)
    linear = linear - np.einsum("ndp,nd->p", gain, e)
    beta = _gaussian(rng, linear, quadratic)
    mean: Array = np.linalg.solve(p, (e - cross @ beta)[..., None])[..., 0].astype(float)
    roots = np.linalg.cholesky(p)
    noise = np.linalg.solve(np.swapaxes(roots, 1, 2), rng.normal(size=mean.shape)[..., None])[..., 0]
    return beta[None], mean + noise


def _gaussian(rng: Any, linear: Array, precision: Array) -> Array:
    """Draw from a Gaussian given by its natural parameters."""
    root = np.linalg.cholesky(0.5 * (precision + precision.T))
    noise = np.linalg.solve(root.T, rng.normal(size=len(linear)))
    return (np.linalg.solve(precision, linear) + noise).astype(float)


def _population(model: HierarchicalRegression, values: dict[str, Array], effects: Array, rng: Any) -> None:
    """Draw Q and its scales given b."""
    d = model.n_varying
    if not d:
        return
    prior = model.deviations.precision(values.get("scales"))[0]
    lam = prior + np.append(pack(effects.T @ effects), len(effects))
    values["precision"] = draw_wishart(rng, d, lam)[None]
    if model.deviations.is_scaled:
        shape, rate = model.deviations.scales(np.diagonal(unpack(values["precision"][0], d))).T
        values["scales"] = rng.gamma(shape, 1.0 / rate)


def _noise(model: HierarchicalRegression, table: _Table, values: dict[str, Array], effects: Array, rng: Any) -> None:
    """Draw tau and its scale given all else; a half-normal deviation by a Metropolis step from the flat one's draw."""
    if not isinstance(model, HierarchicalLinear) or model.noise_prior == "known":
        return
    squares = float((table.weights * (table.y - _predictor(table, values, effects)) ** 2).sum())
    n = 0.5 * len(table.y)
    if model.noise_prior == "half_normal":
        proposal = rng.gamma(n - 0.5, 2.0 / squares)
        log_ratio = -0.5 / model.noise_scale**2 * (1.0 / proposal - 1.0 / values["noise"][0])
        if np.log(rng.random()) < log_ratio:
            values["noise"] = np.array([proposal])
        return
    g = float(values["noise_scale"][0]) if "noise_scale" in values else None
    shape, rate = model._noise_eta(g)[0]
    values["noise"] = rng.gamma(shape + n, 1.0 / (rate + 0.5 * squares), 1)
    if g is not None:
        rate = model.noise_scale**-2.0 + model.noise_degrees * values["noise"][0]
        values["noise_scale"] = rng.gamma(0.5 + 0.5 * model.noise_degrees, 1.0 / rate, 1)
