"""The suites that every piece must pass, as functions for those who write a piece of their own."""

from ssvi.testing.families import check_family

__all__ = ["check_family"]
