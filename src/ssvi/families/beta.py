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

    def statistics(self, values: Array) -> Array:
        """Return the logarithms of beta and of 1 - beta."""
        return np.stack([np.log(values), np.log1p(-values)], axis=-1)
