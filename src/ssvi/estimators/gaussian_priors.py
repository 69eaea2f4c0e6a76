"""The prior of Gaussian components: what parameters say of it, what a fit learns of it, and how it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ssvi.checks import AUTO, is_auto
from ssvi.models.covariances import Covariance
from ssvi.models.gaussian_mixture import GaussianPrior
from ssvi.models.scaling import Scaling
from ssvi.typing import Array

NAMES = ("mean_prior", "mean_precision_prior", "degrees_of_freedom_prior", "covariance_prior")
"""The parameters, in the order in which `GaussianPrior.given` takes them."""
_LEARNABLE = {"mean_precision_prior": "strength", "degrees_of_freedom_prior": "degrees", "covariance_prior": "scale"}


def check_numbers(name: str, value: Any) -> None:
    """Raise one clear sentence unless this is None, a number, or numbers in rows."""
    try:
        _ = None if value is None else np.array(value, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be numbers, or None, not {value!r}.") from None


def check_numbers_or_auto(name: str, value: Any) -> None:
    """Raise one clear sentence unless this is None, a number, numbers in rows, or "auto"."""
    if is_auto(value):
        return
    if isinstance(value, str):
        raise ValueError(f'{name} must be numbers, None, or "auto" to learn it, not {value!r}.')
    check_numbers(name, value)


def given(estimator: Any) -> dict[str, Any]:
    """Return what the parameters say, as a file can hold it: arrays, None or "auto"."""
    values = {name: getattr(estimator, name) for name in NAMES}
    return {
        name: value if value is None else AUTO if is_auto(value) else np.array(value, dtype=float)
        for name, value in values.items()
    }


def prior_of(fixed: Mapping[str, Any], covariance: Covariance, scaling: Scaling) -> GaussianPrior:
    """Return the prior that parameters name, in units of a scaling; what is learned starts at what is usual."""
    values = [None if is_auto(fixed[name]) else fixed[name] for name in NAMES]
    return GaussianPrior.given(covariance, scaling, *values)


def learned_numbers(fixed: Mapping[str, Any], owner: str) -> tuple[str, ...]:
    """Return what the model of an `owner` of a prior calls the numbers of it that are to be learned."""
    return tuple(f"{owner}.{number}" for name, number in _LEARNABLE.items() if is_auto(fixed[name]))


class GaussianPriorMixin:
    """What an estimator with Gaussian components shows of their prior, as it was given or learned."""

    def _gaussian_prior(self) -> GaussianPrior:
        """Return the prior, in units of the scaling."""
        raise NotImplementedError

    def _scaling(self) -> Scaling:
        raise NotImplementedError

    @property
    def mean_prior_(self) -> Array:
        """The prior mean of means."""
        check_is_fitted(self)
        return self._scaling().undo(self._gaussian_prior().mean)

    @property
    def mean_precision_prior_(self) -> float:
        """How many rows the prior mean counts for, as it was given or learned."""
        check_is_fitted(self)
        return float(self._gaussian_prior().strength)

    @property
    def degrees_of_freedom_prior_(self) -> float:
        """How many rows the prior covariance counts for, as it was given or learned."""
        check_is_fitted(self)
        return float(self._gaussian_prior().degrees)

    @property
    def covariance_prior_(self) -> Array:
        """The prior scatter, as it was given or learned."""
        check_is_fitted(self)
        scatter = self._gaussian_prior().scaled_scatter
        return np.asarray(scatter * self._scaling().squares(scatter.ndim))
