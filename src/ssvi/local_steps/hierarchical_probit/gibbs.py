"""The Gibbs local step of multilevel probit regression."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.local_steps.hierarchical.links import PROBIT
from ssvi.local_steps.hierarchical.sampled import SampledStep


@dataclass(frozen=True)
class Gibbs(SampledStep):
    """Draws from p(b_n | y_n, beta, Q) by Albert and Chib's variables.

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
    model = "hierarchical_probit"
    link = PROBIT

    def __post_init__(self) -> None:
        self.check_sweeps()
