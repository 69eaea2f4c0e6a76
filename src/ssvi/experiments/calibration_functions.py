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
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from scipy.optimize import linear_sum_assignment

from ssvi.models.base import Model
from ssvi.typing import Array

Values = Mapping[str, Array]
"""Global parameters by block: as a model simulates them, or with one axis more in front, of draws."""


def looked_at(model: Model, truth: Values, draws: Values) -> dict[str, tuple[Array, Array]]:
    """Return true values and draws of all functions, matched and free: (functions,) and (draws, functions)."""
    count, names = _n_components(model), list(truth)
    true = _by_component([truth[name][None] for name in names], count)
    drawn = _by_component([draws[name] for name in names], count)
    order = _match([part[0] for part in true], [part.mean(axis=0) for part in drawn])
    relabelled = [part[:, order] if part.shape[1] == count else part for part in drawn]
    return {
        "matched": (_flat(true)[0], _flat(relabelled)),
        "free": (_flat(_free(true, count))[0], _flat(_free(drawn, count))),
    }


def _n_components(model: Model) -> int:
    """Return the number of components: the length of the largest block's first axis."""
    return max((block.shape for block in model.blocks().values()), key=np.prod)[0]


def _by_component(values: Sequence[Array], count: int) -> list[Array]:
    """Return each block as draws x components x its other axes in one; as draws x 1 x all if none is of components."""
    parts = []
    for value in values:
        axes = [axis for axis in range(1, value.ndim) if value.shape[axis] == count]
        part = np.moveaxis(value, axes[0], 1) if axes else value[:, None]
        parts.append(part.reshape(*part.shape[:2], -1))
    return parts


def _match(truth: Sequence[Array], means: Sequence[Array]) -> npt.NDArray[np.integer]:
    """Return for each true component the fitted one that is its own: the least sum of squared distances.

    Every block counts alike: its distances are relative to the mean square of its true values.
    """
    cost = np.zeros((1, 1))
    for true, mean in zip(truth, means, strict=True):
        if len(true) > 1:
            distances = ((true[:, None] - mean[None]) ** 2).mean(axis=2)
            cost = cost + distances / np.mean(true**2)
    return linear_sum_assignment(cost)[1]


def _free(parts: Sequence[Array], count: int) -> list[Array]:
    """Return functions that do not depend on the order of components."""
    labelled = [part for part in parts if part.shape[1] == count]
    weights = [part for part in labelled if part.shape[2] == 1]
    shares = np.prod(weights, axis=0) if weights else np.ones((1, 1, 1))
    found = [part for part in parts if part.shape[1] != count]
    for part in labelled:
        if part.shape[2] > 1:
            found += [(shares * part).sum(axis=1), (shares * part[..., :-1] * part[..., 1:]).sum(axis=1)]
    for weight in weights:
        found += [weight.max(axis=1), (weight**2).sum(axis=1)]
    return found


def _flat(parts: Sequence[Array]) -> Array:
    """Put functions side by side, a row a draw."""
    return np.concatenate([part.reshape(len(part), -1) for part in parts], axis=1)
