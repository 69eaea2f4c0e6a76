"""The suites that every piece must pass, as functions for those who write a piece of their own."""

from ssvi.testing.families import check_family
from ssvi.testing.local_steps import check_local_step

__all__ = ["check_family", "check_local_step"]
