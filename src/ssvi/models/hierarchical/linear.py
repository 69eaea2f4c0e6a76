"""Multilevel linear regression: real numbers with Gaussian noise of unknown or known precision."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np

from ssvi.families.gamma import Gamma
from ssvi.local_steps.base import Part
from ssvi.models.base import Block
from ssvi.models.hierarchical.base import HierarchicalRegression, Noise, stats_of
from ssvi.typing import Array

NOISE_PRIORS = ("half_t", "half_normal", "gamma", "known")


@dataclass(frozen=True)
class HierarchicalLinear(HierarchicalRegression):
    """y_i ~ N(eta_i, 1 / (w_i tau)), w_i being the row's weight; see `HierarchicalRegression` for eta.

    Blocks besides those of every multilevel regression: `noise` (tau) and, for a half-t prior, `noise_scale`.

    Attributes
    ----------
    noise_prior : {"half_t", "half_normal", "gamma", "known"}
        Of tau^-1/2, the noise's deviation: half-t by the same mixture as those of groups; half-normal; tau ~
        Gamma(k / 2, k noise_scale^2 / 2) for k = noise_degrees; or known, tau = 1, so that weights are precisions.
    noise_scale, noise_degrees : float
        The scale of that prior, and the degrees of freedom of a half-t one.

    """

    noise_prior: str = "half_t"
    noise_scale: float = 10.0
    noise_degrees: float = 2.0

    name = "hierarchical_linear"

    def blocks(self) -> Mapping[str, Block]:
        """Return all blocks."""
        blocks = dict(super().blocks())
        if self.noise_prior != "known":
            blocks["noise"] = Block(Gamma(), self._noise_eta(), (1, 2))
        if self.noise_prior == "half_t":
            blocks["noise_scale"] = Block(Gamma(), np.array([[0.5, self.noise_scale**-2.0]]), (1, 2))
        return blocks

    def _noise_eta(self, given: float | None = None) -> Array:
        """Return eta of tau, given g of a half-t prior or tau itself for a half-normal one.

        A half-normal deviation of scale s means that the density of l = log tau is, but for a constant,
        -l / 2 - exp(-l) / (2 s^2). Of all a l - b exp(l) the one with the same slope and curvature at the tau that is
        seen stands for it: b = 1 / (2 s^2 tau^2), a = -1/2 + 1 / (s^2 tau). Where data say anything of tau both are
        near 0 and change little, and the stand-in follows tau from step to step.
        """
        half, square = 0.5 * self.noise_degrees, self.noise_scale**2
        if self.noise_prior == "gamma" or given is None:
            return np.array([[half, half * square]])
        if self.noise_prior == "half_t":
            return np.array([[half, self.noise_degrees * given]])
        return np.array([[-0.5 + 1.0 / (square * given), 0.5 / (square * given**2)]])

    def priors(self, views: Mapping[str, Array | Part]) -> Mapping[str, Array]:
        """Return the priors of Q, tau and their scales, each given the others."""
        found = dict(super().priors(views))
        if self.noise_prior == "half_normal":
            found["noise"] = self._noise_eta(-float(stats_of(views["noise"])[0, 1]))
        if self.noise_prior == "half_t":
            tau, g = (-float(stats_of(views[name])[0, 1]) for name in ("noise", "noise_scale"))
            found["noise"] = self._noise_eta(g)
            rate = self.noise_scale**-2.0 + self.noise_degrees * tau
            found["noise_scale"] = np.array([[0.5 + 0.5 * self.noise_degrees, rate]])
        return found

    def log_prior(self, values: Mapping[str, Array]) -> Array:
        """Return log p / h of Q and tau."""
        total = super().log_prior(values)
        if self.noise_prior == "known":
            return total
        tau, square, degrees = values["noise"][:, 0], self.noise_scale**2, self.noise_degrees
        log_tau = np.log(tau)
        if self.noise_prior == "half_normal":
            return np.asarray(total - 0.5 * log_tau - 0.5 / (square * tau))
        if self.noise_prior == "gamma":
            return np.asarray(total + 0.5 * degrees * (log_tau - square * tau))
        half = 0.5 * (degrees + 1.0)
        return np.asarray(total + 0.5 * degrees * log_tau - half * np.log(1.0 / square + degrees * tau))

    def working(self, outputs: Array, weights: Array) -> Noise:
        """Return y."""
        return Noise(outputs, weights)

    def _first_precision(self, squares: float) -> float:
        return 1.0 if self.noise_prior == "known" else 1.0 / squares

    def _start_noise(self, n: int, squares: float) -> dict[str, Array]:
        shape = 1.0 + 0.5 * min(n, 40)
        found = {}
        if self.noise_prior != "known":
            found["noise"] = np.array([[shape, shape * squares]])
        if self.noise_prior == "half_t":
            rate = self.noise_scale**-2.0 + self.noise_degrees / squares
            found["noise_scale"] = np.array([[0.5 + 0.5 * self.noise_degrees, rate]])
        return found

    def _simulate_globals(self, rng: np.random.Generator) -> dict[str, Array]:
        values = super()._simulate_globals(rng)
        if self.noise_prior == "half_normal":
            return values | {"noise": rng.normal(0.0, self.noise_scale, 1) ** -2.0}
        g = None
        if self.noise_prior == "half_t":
            values["noise_scale"] = rng.gamma(0.5, self.noise_scale**2, 1)
            g = float(values["noise_scale"][0])
        if self.noise_prior != "known":
            shape, rate = self._noise_eta(g)[0]
            values["noise"] = rng.gamma(shape, 1.0 / rate, 1)
        return values

    def _simulate_outputs(
        self, rng: np.random.Generator, eta: Array, values: Mapping[str, Array]
    ) -> tuple[Array, Array]:
        weights = rng.choice([0.5, 1.0, 2.0], len(eta))
        tau = float(values["noise"][0]) if "noise" in values else 1.0
        return rng.normal(eta, 1.0 / np.sqrt(weights * tau)), weights

    @classmethod
    def example(cls) -> Self:
        """Return a regression on three columns of which two vary."""
        return cls(
            3,
            varying=(0, 1),
            coefficient_scale=2.0,
            deviation_prior="wishart",
            deviation_degrees=8.0,
            deviation_scale=1.0,
            noise_prior="gamma",
            noise_degrees=12.0,
            noise_scale=1.0,
        )
