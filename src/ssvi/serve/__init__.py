"""A page on this machine to try a model with texts of one's own."""
