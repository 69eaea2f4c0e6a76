"""Posteriors as tables: global parameters, and groups."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from ssvi.checks import is_number, require
from ssvi.evaluation.multilevel import Globals
from ssvi.evaluation.posterior import draws_of_q
from ssvi.numerics.random import derive_key
from ssvi.typing import Array

_DRAWS = 8_000
_NEEDS = "summaries are pandas data frames, and pandas is not installed: pip install pandas."


def of_globals(estimator: Any, level: float) -> Any:
    """Return a data frame with a row for each coefficient, deviation and correlation."""
    low, high = _ends(level)
    draws = named_draws(estimator)
    rows = {
        name: [own.mean(), own.std(), *np.quantile(own, [low, 0.5, high])] for name, own in draws.items()
    }  # fmt: skip
    return _frame(rows, ["mean", "sd", f"{100 * low:g}%", "50%", f"{100 * high:g}%"])


def named_draws(estimator: Any, count: int = _DRAWS) -> dict[str, Array]:
    """Return draws of each global parameter in the data's units, by its name: from the posterior if possible, or q."""
    design, seed = estimator._design, derive_key(estimator.random_state_, "summary", estimator._state.step)
    model = estimator._model()
    values = estimator._draws or draws_of_q(model, estimator._state.estimate, count, seed, "summary")
    drawn = Globals.of(model, values, estimator._measures)
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
    low, high = _ends(level)
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
    pandas = _pandas()
    return pandas.DataFrame(columns, index=pandas.MultiIndex.from_tuples(index, names=["group", "coefficient"]))


def _ends(level: float) -> tuple[float, float]:
    require("level", level, lambda v: is_number(v) and 0 < v < 1, "above 0 and below 1")
    return round(0.5 - 0.5 * level, 12), round(0.5 + 0.5 * level, 12)


def _frame(rows: dict[str, Any], columns: list[str]) -> Any:
    return _pandas().DataFrame.from_dict(rows, orient="index", columns=columns)


def _pandas() -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError(_NEEDS) from None
    return pandas
