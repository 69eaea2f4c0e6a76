"""Local steps of the Gaussian mixture: the component and missing entries of each row, given a view of the mixture."""
