"""Local steps of the correlated topic model."""
