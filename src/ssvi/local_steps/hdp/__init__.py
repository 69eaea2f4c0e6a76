"""Local steps of hierarchical Dirichlet topics: those of LDA, given the weights of the topics."""
