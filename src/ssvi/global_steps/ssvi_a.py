"""SSVI-A, option 2 of the paper's algorithm 1: the local step sees t of a draw."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.global_steps.drawn import DrawnStep


@dataclass(frozen=True)
class SsviA(DrawnStep):
    """lambda' = (1 - rho) lambda + rho (eta + eta-hat), with eta-hat formed at t(beta), beta ~ q.

    It neglects the covariance of V and eta-hat that full SSVI accounts for.

    Parameters
    ----------
    averaging, warm_sweeps, draw_softening : float
        See `DrawnStep`.

    """

    name = "ssvi_a"
