"""Mean-field local step of hierarchical Dirichlet topics."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.local_steps.hdp.given_weights import HdpStep
from ssvi.local_steps.lda.mean_field import MeanField as LdaMeanField


@dataclass(frozen=True)
class MeanField(HdpStep, LdaMeanField):
    """q(theta_d) q(z_d) as LDA's, given t(beta) and t(pi)."""

    @property
    def lda_step(self) -> LdaMeanField:
        """The same of LDA."""
        return LdaMeanField(**vars(self))
