"""The Gaussian variational local step of multilevel probit regression."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.checks import require_count
from ssvi.local_steps.hierarchical.approximate import ApproximateStep
from ssvi.local_steps.hierarchical.links import PROBIT


@dataclass(frozen=True)
class Variational(ApproximateStep):
    """The Gaussian q(b_n) with the largest local ELBO, which is this step's bound.

    Parameters
    ----------
    max_iter : int
        Steps at most: of Newton's to the mode, and from there.

    """

    max_iter: int = 50

    name = "variational"
    model = "hierarchical_probit"
    link = PROBIT
    has_bound = True

    def __post_init__(self) -> None:
        require_count("max_iter", self.max_iter)

    def iterations(self) -> tuple[int, int]:
        """Return the most steps of either kind."""
        return self.max_iter, self.max_iter
