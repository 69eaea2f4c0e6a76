"""The paper's experiments, one file for each figure or table; `ssvi reproduce` runs them."""
