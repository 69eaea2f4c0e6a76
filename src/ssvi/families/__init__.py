"""Exponential families of the global parameters: one file a family."""

from ssvi.families.base import Draw, ExponentialFamily

__all__ = ["Draw", "ExponentialFamily"]
