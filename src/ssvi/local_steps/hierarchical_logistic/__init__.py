"""Local steps of multilevel logistic regression."""
