"""Multilevel regressions as scikit-learn estimators."""
