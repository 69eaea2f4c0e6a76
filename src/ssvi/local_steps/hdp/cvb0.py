"""CVB0 local step of hierarchical Dirichlet topics."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.local_steps.hdp.given_weights import HdpStep
from ssvi.local_steps.lda.cvb0 import Cvb0 as LdaCvb0


@dataclass(frozen=True)
class Cvb0(HdpStep, LdaCvb0):
    """q(z_d) as LDA's, given t(beta) and t(pi); tables are counted as if expected counts were the counts."""

    @property
    def lda_step(self) -> LdaCvb0:
        """The same of LDA."""
        return LdaCvb0(**vars(self))
