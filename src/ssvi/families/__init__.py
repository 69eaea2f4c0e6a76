"""Exponential families of the global parameters: one file a family."""

from ssvi.families.base import ExponentialFamily
from ssvi.families.draws import Draw

__all__ = ["Draw", "ExponentialFamily"]
