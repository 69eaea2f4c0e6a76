"""The Gibbs local step of the Bernoulli mixture: drawn components."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ssvi.local_steps.base import LocalStep
from ssvi.local_steps.bernoulli_mixture.exact import Exact
from ssvi.local_steps.bernoulli_mixture.responsibilities import MixtureStep
from ssvi.typing import Array


@dataclass(frozen=True)
class Gibbs(MixtureStep):
    """A draw of z_n from p(z_n | y_n, beta).

    With SSVI-A, rho = 1 and all rows in every step, the fit is then a blocked Gibbs sampler of the posterior.
    """

    name = "gibbs"
    sampled = True

    def sampler(self, model: Any) -> LocalStep:
        """Return the step itself."""
        return self

    def expected(self) -> Exact:
        """Return the exact step."""
        return Exact()

    def _bound(self, log_probability: Array) -> None:
        return None
