"""Posteriors as tables: global parameters, and groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from ssvi.estimators.draws import interval_ends, pandas_module, summary_frame
from ssvi.evaluation.multilevel import Globals
from ssvi.evaluation.posterior import draws_of_q
from ssvi.models.quantities import Quantities, Quantity
from ssvi.numerics.random import derive_key
from ssvi.typing import Array

DRAWS = 8_000


def of_globals(estimator: Any, level: float, count: int | None = None, seed: int | None = None) -> Any:
    """Return a data frame with a row for each coefficient, deviation and correlation."""
    return summary_frame(named_draws(estimator, count, seed), *interval_ends(level))


def quantities(drawn: Globals) -> Quantities:
    """Return draws of the global parameters by name, with what their axes count."""
    found = {"coefficients": Quantity(drawn.coefficients, ("coefficient",))}
    if drawn.covariances.shape[1]:
        square = ("varying", "other_varying")
        found |= {
            "deviations": Quantity(drawn.deviations, square[:1]),
            "correlations": Quantity(drawn.correlations, square),
            "population_covariance": Quantity(drawn.covariances, square),
        }
    return found if drawn.noise is None else {**found, "noise_deviation": Quantity(drawn.noise)}


def global_draws(estimator: Any, count: int | None, seed: int | None) -> Globals:
    """Return draws from the posterior if the fit has some, so many of them at random or all, or else draws of q."""
    own, model = estimator.random_state_ if seed is None else seed, estimator._model()
    key = derive_key(own, "summary", estimator._state.step)
    values = estimator._draws
    if not values:
        values = draws_of_q(model, estimator._state.estimate, count or DRAWS, key, "summary")
    elif count is not None:
        chosen = np.random.default_rng(key).integers(len(next(iter(values.values()))), size=count)
        values = {name: own[chosen] for name, own in values.items()}
    return Globals.of(model, values, estimator._measures)


def named_draws(estimator: Any, count: int | None = None, seed: int | None = None) -> dict[str, Array]:
    """Return draws of each global parameter in the data's units, by its name: from the posterior if possible, or q."""
    design, drawn = estimator._design, global_draws(estimator, count, seed)
    found = dict(zip(estimator.coefficient_names_, drawn.coefficients.T, strict=True))
    names = [design.names[place] for place in design.varying]
    deviations, correlations = drawn.deviations, drawn.correlations
    for i, name in enumerate(names):
        found[f"sd({name})"] = deviations[:, i]
    for i, name in enumerate(names):
        for j in range(i):
            found[f"corr({names[j]}, {name})"] = correlations[:, j, i]
    if drawn.noise is not None:
        found["sd(noise)"] = drawn.noise
    return found


def of_groups(estimator: Any, level: float) -> Any:
    """Return a data frame with a row for each known group and varying column."""
    low, high = interval_ends(level)
    design, own = estimator._design, estimator._posterior()
    factors = estimator._measures.factors(design.varying)
    means = own.means * factors
    deviations = np.sqrt(np.maximum(np.diagonal(own.covariances, axis1=1, axis2=2), 0.0)) * factors
    width = float(special.ndtri(high))
    names = [design.names[place] for place in design.varying]
    index = [(label, name) for label in estimator.groups_.tolist() for name in names]
    columns = {
        "mean": means.ravel(),
        "sd": deviations.ravel(),
        f"{100 * low:g}%": (means - width * deviations).ravel(),
        f"{100 * high:g}%": (means + width * deviations).ravel(),
    }
    pandas = pandas_module()
    return pandas.DataFrame(columns, index=pandas.MultiIndex.from_tuples(index, names=["group", "coefficient"]))
