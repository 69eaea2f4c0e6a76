"""The Gibbs local step of the hidden Markov model: forward filtering, backward sampling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ssvi.local_steps.base import LocalStep
from ssvi.local_steps.hmm.recursive import RecursiveStep


@dataclass(frozen=True)
class Gibbs(RecursiveStep):
    """A draw of all states of a sequence, and of entries that are missing, from p(z, x_u | x_o, beta).

    With SSVI-A, rho = 1 and all sequences in every step, the fit is then a blocked Gibbs sampler of the posterior.
    """

    name = "gibbs"
    sampled = True

    def sampler(self, model: Any) -> LocalStep:
        """Return the step itself."""
        return self

    def _bound(self, bound: float) -> None:
        return None
