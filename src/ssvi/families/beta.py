"""Beta: lambda = (a, b), t(beta) = (log beta, log(1 - beta)), h(beta) = 1 / (beta (1 - beta))."""

from __future__ import annotations

import numpy as np

from ssvi.families.dirichlet import Dirichlet
from ssvi.typing import Array


class Beta(Dirichlet):
    """Probabilities beta: a Dirichlet over two outcomes, whose first weight is beta.

    Every formula of the Dirichlet holds as it stands; 1 - beta keeps its own logarithm, so that neither end of the
    interval loses digits.
    """

    name = "beta"

    @property
    def dimension(self) -> int:
        """The concentrations of beta and of 1 - beta."""
        return 2

    def values(self, stats: Array) -> Array:
        """Return beta, the first weight."""
        result: Array = np.exp(stats[..., 0])
        return result

    def centred(self, values: Array, strength: float) -> Array:
        """Return (beta, 1 - beta), scaled."""
        return super().centred(np.stack([values, 1.0 - values], axis=-1), strength)
