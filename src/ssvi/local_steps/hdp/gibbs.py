"""Gibbs local step of hierarchical Dirichlet topics: z sampled, theta and tables integrated out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ssvi.local_steps.hdp.given_weights import HdpStep
from ssvi.local_steps.lda.gibbs import Gibbs as LdaGibbs


@dataclass(frozen=True)
class Gibbs(HdpStep, LdaGibbs):
    """Samples of z_d given t(beta) and t(pi), as LDA's; numbers of tables are their means given z_d."""

    def sampler(self, model: Any) -> None:
        """Return nothing: weights of topics and numbers of tables are not drawn."""
        return

    @property
    def lda_step(self) -> LdaGibbs:
        """The same of LDA."""
        return LdaGibbs(**vars(self))
