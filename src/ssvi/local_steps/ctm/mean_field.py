"""Variational local step of the correlated topic model: q(x) q(z), each document by Newton's steps (`ascent`)."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.local_steps.ctm.gaussian import GaussianStep


@dataclass(frozen=True)
class MeanField(GaussianStep):
    """q(x_d) q(z_d), q(x_d) any Gaussian, optimised given the views; its parameters are those of `GaussianStep`."""

    name = "mean_field"

    @property
    def factorised(self) -> bool:
        """Yes."""
        return True
