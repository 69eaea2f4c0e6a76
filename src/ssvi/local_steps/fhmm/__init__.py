"""Local steps of the factorial hidden Markov model: several chains at once, or a chain at a time."""
