"""Local steps of latent Dirichlet allocation: theta and z of each document, given a view of the topics."""
