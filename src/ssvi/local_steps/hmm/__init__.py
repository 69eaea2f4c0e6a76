"""Local steps of the hidden Markov model: the states of a sequence given what it shows."""
