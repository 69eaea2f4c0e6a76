"""The exact local step of the hidden Markov model: forward-backward."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.local_steps.hmm.recursive import RecursiveStep


@dataclass(frozen=True)
class Exact(RecursiveStep):
    """p(z_t | x) and p(z_t-1, z_t | x) of whole sequences. Its local ELBO is log p(x | beta)."""

    name = "exact"
    sampled = False

    def _bound(self, bound: float) -> float:
        return bound
