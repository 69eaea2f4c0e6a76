"""The Laplace local step of multilevel probit regression."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.checks import require_count
from ssvi.local_steps.hierarchical.approximate import ApproximateStep
from ssvi.local_steps.hierarchical.links import PROBIT


@dataclass(frozen=True)
class Laplace(ApproximateStep):
    """A Gaussian at the mode of p(b_n | y_n, beta, Q), as wide as the curvature there says.

    Parameters
    ----------
    max_iter : int
        Newton's steps at most.

    """

    max_iter: int = 50

    name = "laplace"
    model = "hierarchical_probit"
    link = PROBIT
    has_bound = False

    def __post_init__(self) -> None:
        require_count("max_iter", self.max_iter)

    def iterations(self) -> tuple[int, int]:
        """Return the most steps to the mode, and none from there."""
        return self.max_iter, 0
