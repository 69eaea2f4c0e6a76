"""Local steps of the Bernoulli mixture: which component each row belongs to, given a view of weights and components."""
