"""Laplace's approximation for the correlated topic model: z summed out, and x Gaussian around its mode (`modes`)."""

from __future__ import annotations

from dataclasses import dataclass

from ssvi.local_steps.ctm.gaussian import GaussianStep


@dataclass(frozen=True)
class Laplace(GaussianStep):
    """x_d Gaussian around its mode given the words, z summed out; its parameters are those of `GaussianStep`."""

    name = "laplace"

    @property
    def factorised(self) -> bool:
        """No: z is summed out."""
        return False
