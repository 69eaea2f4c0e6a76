"""Gibbs samplers of the exact posterior of the global parameters, which can begin where a fit has ended."""
