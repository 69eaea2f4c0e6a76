"""Local steps of multilevel linear regression."""
