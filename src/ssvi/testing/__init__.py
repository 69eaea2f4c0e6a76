"""The suites that every piece must pass, as functions for those who write a piece of their own.

Each takes a piece and raises an `AssertionError` whose message is one sentence about what is wrong with it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from ssvi.testing.families import check_family
from ssvi.testing.local_steps import check_local_step
from ssvi.testing.models import check_model

if TYPE_CHECKING:
    from ssvi.testing.estimators import check_estimator

__all__ = ["check_estimator", "check_family", "check_local_step", "check_model"]


def __getattr__(name: str) -> Any:
    if name == "check_estimator":  # which brings scikit-learn with it
        return importlib.import_module("ssvi.testing.estimators").check_estimator
    raise AttributeError(f"module 'ssvi.testing' has no attribute {name!r}")
