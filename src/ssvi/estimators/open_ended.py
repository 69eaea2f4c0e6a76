"""What estimators with an open number of components share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ssvi.checks import positive_or_auto, require, require_count, require_not_negative
from ssvi.estimators.base import StochasticEstimator
from ssvi.estimators.components import ComponentsMixin
from ssvi.estimators.learned import Learnable, started
from ssvi.estimators.parameters import Attribute, changed, parameter, with_parameters
from ssvi.models.base import is_active
from ssvi.typing import Array


@with_parameters
class OpenEndedEstimator(ComponentsMixin, StochasticEstimator):
    """An estimator that may use up to `n_components` components; those of no use stay empty."""

    n_components: int = parameter(
        default=50,
        kind="int",
        words="K, the most components there can be. Those that are not needed stay empty (`n_active_`).",
        check=require_count,
        kw_only=False,
    )
    weight_concentration_prior: float | str = parameter(
        default=1.0,
        kind='float or "auto"',
        words="""alpha, the concentration of the Dirichlet process: the weights are Dirichlet(alpha / K). About alpha
        log(1 + N / alpha) of N rows are expected to begin a component of their own. "auto" learns it in the fit
        (docs/hyperparameters.md).""",
        check=positive_or_auto,
    )
    tol: float = parameter(
        default=1e-5,
        kind="float",
        words="""Coordinate ascent stops when q's parameters change by less than this share of their mean, in the
        mean.""",
        check=require_not_negative,
    )
    convergence_tol: float = changed(
        StochasticEstimator,
        "convergence_tol",
        default=0.001,
    )
    active_share: float = parameter(
        default=1e-3,
        kind="float",
        words="A component is active if it holds this share of the rows, and half a row at the least.",
        check=lambda name, value: require(name, value, lambda v: 0 <= v <= 1, "from 0 to 1"),
    )

    shared_attributes: ClassVar[tuple[Attribute, ...]] = (
        ("n_active_", "int", "How many components are active; see `active_share`."),
        ("weight_concentration_prior_", "float", "alpha, as it was given or learned."),
        (
            "bound_",
            "float",
            "An estimate of the evidence lower bound per row; NaN if the last local step optimised none.",
        ),
    )

    _learnable: ClassVar[Learnable] = {}

    def _started(self) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Return the parameters that a fit cannot change, with starts for those that it learns, and their names."""
        return started(self._fitted, self._learnable)

    @property
    @abstractmethod
    def weight_concentration_prior_(self) -> float:
        """alpha, as it was given or learned."""

    @abstractmethod
    def _held(self) -> Array:
        """Return how much of the data each component accounts for, in rows or counts."""

    @property
    def n_active_(self) -> int:
        """How many components hold a share `active_share` of the data, and half a row or count at the least."""
        check_is_fitted(self)
        return int(np.count_nonzero(is_active(self._held(), self.active_share)))

    def components_in_use(self) -> int:
        """Return `n_active_`."""
        return self.n_active_

    @property
    def _settled(self) -> float | None:
        return self.tol

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
