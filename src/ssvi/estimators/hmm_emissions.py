"""Emissions of hidden Markov models: what the data tell of them, and which one parameters name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ssvi.models.covariances import COVARIANCES
from ssvi.models.emissions import (
    BernoulliEmission,
    CategoricalEmission,
    Emission,
    GaussianEmission,
    MultinomialEmission,
    PoissonEmission,
)
from ssvi.models.emissions.categorical import check_symbols
from ssvi.models.gaussian_mixture import GaussianPrior
from ssvi.models.scaling import Scaling
from ssvi.typing import Array

GAUSSIAN_PRIORS = ("mean_prior", "mean_precision_prior", "degrees_of_freedom_prior", "covariance_prior")
"""Parameters of Gaussian emissions."""


def look_at(values: Array, kind: str, covariance_type: str, n_symbols: int | None) -> dict[str, Array]:
    """Return what the first data tell of the columns: in a file these are arrays, all that a file may hold."""
    if np.isnan(values).all():
        raise ValueError("all values are missing: there is nothing to fit.")
    size = values.shape[1]
    nothing = {"centre": np.zeros(size), "unit": np.ones(size)}
    if kind == "gaussian":
        found = Scaling.of(values, alike=covariance_type == "spherical")
        return {"centre": found.centre, "unit": found.unit}
    if kind == "categorical":
        check_symbols(values, n_symbols)
        seen = int(np.nanmax(values)) + 1
        return {"centre": np.zeros(1), "unit": np.ones(1), "n_symbols": np.array([n_symbols or seen])}
    if kind == "poisson":
        known = np.where(np.isnan(values), 0.0, values)
        counts = np.maximum((~np.isnan(values)).sum(axis=0), 1)
        nothing["mean"] = np.maximum(known.sum(axis=0) / counts, 0.5 / counts)  # which no check has seen yet
    return nothing


def emission_of(fixed: Mapping[str, Any], n_features: int, columns: Mapping[str, Array]) -> Emission:
    """Return the emission that parameters and columns tell."""
    kind, size, prior = fixed["emission"], fixed["n_components"], float(fixed["emission_prior"])
    if kind == "gaussian":
        covariance = COVARIANCES[fixed["covariance_type"]](n_features, size)
        scaling = Scaling(columns["centre"], columns["unit"])
        own = GaussianPrior.given(covariance, scaling, *(fixed[name] for name in GAUSSIAN_PRIORS))
        own.check(covariance)
        return GaussianEmission(n_features, size, fixed["covariance_type"], own)
    if kind == "categorical":
        return CategoricalEmission(1, size, int(columns["n_symbols"][0]), prior)
    if kind == "bernoulli":
        return BernoulliEmission(n_features, size, (prior, prior))
    if kind == "poisson":
        return PoissonEmission(n_features, size, prior, tuple((prior / columns["mean"]).tolist()))
    return MultinomialEmission(n_features, size, prior)
