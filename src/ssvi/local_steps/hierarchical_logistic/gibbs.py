"""The Gibbs local step of multilevel logistic regression."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.local_steps.hierarchical.links import LOGIT
from ssvi.local_steps.hierarchical.sampled import SampledStep


@dataclass(frozen=True)
class Gibbs(SampledStep):
    """Draws from p(b_n | y_n, beta, Q) by Polya-Gamma variables.

    Parameters
    ----------
    sweeps : int
        Sweeps in all, from a draw near the mode on.
    kept : int
        How many of them, the last, statistics are averaged over.

    """

    sweeps: int = 5
    kept: int = 3

    name = "gibbs"
    model = "hierarchical_logistic"
    link = LOGIT

    def __post_init__(self) -> None:
        self.check_sweeps()
