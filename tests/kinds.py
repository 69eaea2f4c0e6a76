"""Estimators that are alike: those that tell what rows are made of, and regressions, which need y and groups."""

from ssvi.estimators.registry import estimators

WITH_COMPONENTS = {name: kind for name, kind in estimators().items() if hasattr(kind(), "n_components")}
"""By their names in commands; the first parameter is a number of components, and they are fitted to rows alone."""
