"""Local steps of multilevel probit regression."""
