"""Multilevel regressions: rows in groups that have coefficients of their own, drawn from a population of groups."""

from ssvi.models.hierarchical.base import HierarchicalRegression, Noise
from ssvi.models.hierarchical.linear import HierarchicalLinear
from ssvi.models.hierarchical.logistic import HierarchicalLogistic
from ssvi.models.hierarchical.probit import HierarchicalProbit

__all__ = ["HierarchicalLinear", "HierarchicalLogistic", "HierarchicalProbit", "HierarchicalRegression", "Noise"]
