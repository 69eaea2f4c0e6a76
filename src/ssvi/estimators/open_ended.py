"""What estimators with an open number of components share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ssvi.checks import require, require_count, require_not_negative
from ssvi.estimators.base import StochasticEstimator
from ssvi.models.base import is_active
from ssvi.typing import Array


class OpenEndedEstimator(StochasticEstimator):
    """An estimator that may use up to `n_components` components; those of no use stay empty."""

    n_components: int
    tol: float
    active_share: float

    _fitted: dict[str, Any]
    """The parameters that a fit cannot change later, in the order in which the model takes them."""

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

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _check_parameters(self) -> None:
        self._check_loop_parameters()
        require_count("n_components", self.n_components)
        require_not_negative("tol", self.tol)
        require("active_share", self.active_share, lambda v: 0 <= v <= 1, "from 0 to 1")
