"""Which functions of a model's global parameters are compared with the truth, whatever the model.

Components have no order, so that a function of one of them means something only once fitted and true components have
been told apart. There are two ways out:

matched  every single parameter, after each fitted component was assigned to a true one, all at once, by the distance
         between the mean of its draws and the truth. The truth has a hand in this: it makes the truth look a little
         more probable than it is, most of all where components are alike or empty. And where draws change their labels
         on the way (a sampler's may), the intervals of single parameters become wider.
free     functions that do not depend on the order of components: what a model predicts for single columns and for pairs
         of neighbouring columns, the largest weight, and the sum of the squares of weights. Under the exact posterior
         their ranks are uniform.

What a parameter is, and which of its axes are of components, the model says (`Model.quantities`); if it does not, a
parameter is a number of a block, and an axis as long as the largest block is of components. States of a linear
dynamical system have no axes of their own: functions that are the same however these are turned stand for both kinds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from ssvi.models.base import Model
from ssvi.models.quantities import Quantities, Quantity, counted
from ssvi.typing import Array

Values = Mapping[str, Array]
"""Global parameters by block: as a model simulates them, or with one axis more in front, of draws."""

_CHAINS = "hidden_chain"
_KINDS = ("component", "topic", "state")  # what may come in any order; states of each chain on their own
_TURNED = "latent"
_RESPONSES = 3  # steps after which what an input has done is looked at

Order = npt.NDArray[np.integer]


def looked_at(model: Model, truth: Values, draws: Values) -> dict[str, tuple[Array, Array]]:
    """Return true values and draws of all functions, matched and free: (functions,) and (draws, functions)."""
    true = _quantities(model, {name: value[None] for name, value in truth.items()})
    drawn = _quantities(model, draws)
    free = _flat(_free(true))[0], _flat(_free(drawn))
    if any(_TURNED in own.dims for own in model.quantities(draws).values()):
        return {"matched": free, "free": free}
    return {"matched": (_flat(_plain(true))[0], _flat(_plain(_relabelled(true, drawn)))), "free": free}


def _quantities(model: Model, values: Values) -> Quantities:
    """Return what is looked at, with names for all axes; correlations follow from covariances."""
    found = {name: own for name, own in model.quantities(values).items() if not name.endswith("correlations")}
    if any(_TURNED in own.dims for own in found.values()):
        return _unturned(found)
    if all(own.dims for own in found.values()):
        return found
    count = max((block.shape for block in model.blocks().values()), key=np.prod)[0]
    named = {}
    for name, value in values.items():
        of_components = [axis for axis in range(1, value.ndim) if value.shape[axis] == count]
        dims = ["number"] * (value.ndim - 1)
        if of_components:
            dims[of_components[0] - 1] = _KINDS[0]
        named[name] = Quantity(value, tuple(dims))
    return named


def _unturned(found: Quantities) -> Quantities:
    """Return functions of a linear dynamical system that are the same however its states are turned."""
    kept = {name: own for name, own in found.items() if _TURNED not in map(counted, own.dims)}
    loadings, moved = found["loadings"].draws, found["input_transition"].draws
    for step in range(_RESPONSES):
        kept[f"response_{step}"] = Quantity(loadings @ moved, ("feature", "input"))
        moved = found["transition"].draws @ moved
    noise = loadings @ found["state_covariance"].draws @ np.swapaxes(loadings, -1, -2)
    return {**kept, "moving_noise": Quantity(noise, ("feature", "other_feature"))}


def _relabelled(true: Quantities, drawn: Quantities) -> Quantities:
    """Return draws in the order of the true components; of chains first, where there are any, then of their states."""
    means = {name: own._replace(draws=own.draws.mean(axis=0, keepdims=True)) for name, own in drawn.items()}
    chains = _sizes(true, _CHAINS)
    if not chains:
        return _reordered(drawn, _match(true, means)[0])
    pairs = [[_match(_chain(true, c), _chain(means, d)) for d in range(chains)] for c in range(chains)]
    order = linear_sum_assignment([[cost for _, cost in row] for row in pairs])[1]
    own = [_reordered(_chain(drawn, int(d)), pairs[c][int(d)][0]) for c, d in enumerate(order)]
    return {
        name: quantity._replace(draws=np.stack([part[name].draws for part in own], axis=1))
        if _CHAINS in quantity.dims
        else quantity
        for name, quantity in drawn.items()
    }


def _sizes(found: Quantities, dim: str) -> int:
    """Return how long the axes of this name are, 0 where there are none."""
    return max((own.draws.shape[1 + own.dims.index(dim)] for own in found.values() if dim in own.dims), default=0)


def _chain(found: Quantities, chain: int) -> Quantities:
    """Return what is of one chain."""
    return {
        name: Quantity(own.draws[:, chain], own.dims[1:]) if _CHAINS in own.dims else own for name, own in found.items()
    }


def _kind_axes(quantity: Quantity) -> list[int]:
    """Return those axes that are of components."""
    return [axis for axis, dim in enumerate(quantity.dims, start=1) if counted(dim) in _KINDS]


def _by_component(quantity: Quantity) -> Array:
    """Return draws x components x all else, where there is one axis of components."""
    part = np.moveaxis(quantity.draws, _kind_axes(quantity)[0], 1)
    return part.reshape(*part.shape[:2], -1)


def _match(true: Quantities, means: Quantities) -> tuple[Order, float]:
    """Return for each true component the fitted one that is its own: the least sum of squared distances, and this.

    Every quantity counts alike: its distances are relative to the mean square of its true values.
    """
    cost = np.zeros((1, 1))
    for name, own in true.items():
        if len(_kind_axes(own)) == 1:
            first, second = _by_component(own)[0], _by_component(means[name])[0]
            distances = ((first[:, None] - second[None]) ** 2).mean(axis=2)
            cost = cost + distances / np.mean(first**2)
    rows, order = linear_sum_assignment(cost)
    return order, float(cost[rows, order].sum())


def _reordered(found: Quantities, order: Order) -> Quantities:
    """Return quantities with their components in another order."""
    result = {}
    for name, own in found.items():
        draws = own.draws
        for axis in _kind_axes(own):
            draws = np.take(draws, order, axis=axis)
        result[name] = own._replace(draws=draws)
    return result


def _plain(found: Quantities) -> list[Array]:
    """Return every number once: of symmetric matrices a triangle."""
    parts = []
    for draws, dims in found.values():
        if len(dims) > 1 and dims[-1] == f"other_{dims[-2]}":
            rows, columns = np.triu_indices(draws.shape[-1])
            draws = draws[..., rows, columns]
        parts.append(draws)
    return parts


def _free(found: Quantities) -> list[Array]:
    """Return functions that do not depend on the order of components, nor on that of chains."""
    chains = _sizes(found, _CHAINS)
    if not chains:
        return _free_of_one(found)
    shared = {name: own for name, own in found.items() if _CHAINS not in own.dims}
    own = {name: quantity for name, quantity in found.items() if _CHAINS in quantity.dims}
    each = [_free_of_one(_chain(own, chain)) for chain in range(chains)]
    return [*_plain(shared), *(np.sum(parts, axis=0) for parts in zip(*each, strict=True))]


def _free_of_one(found: Quantities) -> list[Array]:
    """Return functions that do not depend on the order of components."""
    parts = _plain({name: own for name, own in found.items() if not _kind_axes(own)})
    labelled = [_by_component(own) for own in found.values() if len(_kind_axes(own)) == 1]
    weights = [part for part in labelled if part.shape[2] == 1]
    shares = np.prod(weights, axis=0) if weights else np.ones((1, 1, 1))
    for part in labelled:
        if part.shape[2] > 1:
            parts += [(shares * part).sum(axis=1), (shares * part[..., :-1] * part[..., 1:]).sum(axis=1)]
    for weight in weights:
        parts += [weight.max(axis=1), (weight**2).sum(axis=1)]
    for own in found.values():
        if len(_kind_axes(own)) == 2:  # transitions, covariances
            parts += [np.trace(own.draws, axis1=1, axis2=2), (own.draws**2).sum(axis=(1, 2))]
    return parts


def _flat(parts: Sequence[Array]) -> Array:
    """Put functions side by side, a row a draw."""
    return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)
