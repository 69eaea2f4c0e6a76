"""The suites that every piece must pass, as functions for those who write a piece of their own.

Each takes a piece and raises an `AssertionError` whose message is one sentence about what is wrong with it.
"""

from ssvi.testing.estimators import check_estimator
from ssvi.testing.families import check_family
from ssvi.testing.local_steps import check_local_step
from ssvi.testing.models import check_model

__all__ = ["check_estimator", "check_family", "check_local_step", "check_model"]
