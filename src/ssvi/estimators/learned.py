"""Parameters that may be "auto": where what a fit learns of them starts, and how it is shown."""

from __future__ import annotations

from collections.abc import Mapping
from operator import attrgetter
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ssvi.checks import is_auto

Learnable = Mapping[str, tuple[str, Any]]
"""Parameters by name: what the model calls each, and where it then starts."""


def started(fixed: Mapping[str, Any], learnable: Learnable) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return parameters with starts for those that are learned, and what the model calls these."""
    learned = [name for name in learnable if is_auto(fixed.get(name))]
    starts = {name: learnable[name][1] for name in learned}
    return {**fixed, **starts}, tuple(learnable[name][0] for name in learned)


def as_learned(number: str, words: str) -> Any:
    """Return a property: a number of the model, as it was given or learned."""

    def get(estimator: Any) -> Any:
        check_is_fitted(estimator)
        return attrgetter(number)(estimator._model())

    return property(get, doc=f"{words}, as it was given or learned.")
