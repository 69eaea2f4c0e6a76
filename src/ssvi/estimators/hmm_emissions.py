"""Emissions of hidden Markov models: what the data tell of them, which one parameters name, and what is learned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ssvi.checks import is_auto
from ssvi.estimators.gaussian_priors import learned_numbers, prior_of
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
from ssvi.models.scaling import Scaling
from ssvi.typing import Array


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
    kind, size = fixed["emission"], fixed["n_components"]
    prior = 1.0 if is_auto(fixed["emission_prior"]) else float(fixed["emission_prior"])
    if kind == "gaussian":
        covariance = COVARIANCES[fixed["covariance_type"]](n_features, size)
        scaling = Scaling(columns["centre"], columns["unit"])
        own = prior_of(fixed, covariance, scaling)
        own.check(covariance)
        return GaussianEmission(n_features, size, fixed["covariance_type"], own)
    if kind == "categorical":
        return CategoricalEmission(1, size, int(columns["n_symbols"][0]), prior)
    if kind == "bernoulli":
        return BernoulliEmission(n_features, size, (prior, prior))
    if kind == "poisson":
        return PoissonEmission(n_features, size, prior, tuple(columns["mean"].tolist()))
    return MultinomialEmission(n_features, size, prior)


def learned_of_emission(fixed: Mapping[str, Any]) -> tuple[str, ...]:
    """Return what the model calls the numbers of the emission's prior that are to be learned."""
    if fixed["emission"] == "gaussian":
        return learned_numbers(fixed, "emission.prior")
    own = "shape" if fixed["emission"] == "poisson" else "prior"
    return (f"emission.{own}",) if is_auto(fixed["emission_prior"]) else ()
