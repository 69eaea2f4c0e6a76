"""Local steps of the linear dynamical system: states of sequences, smoothed or drawn."""
