"""Local steps of the gamma process factorisation: each frame's activations, given a view of weights and dictionary."""
