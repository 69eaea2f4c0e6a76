"""States that show rows of counts: each column has a rate of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import special

from ssvi.families.gamma import Gamma
from ssvi.families.learned import Usual
from ssvi.models.base import Block
from ssvi.models.emissions.base import Emission, Labels, Scores, check_counts, filled, one_hot, products, with_means
from ssvi.models.emissions.linear import LinearTables
from ssvi.models.quantities import Quantities, Quantity
from ssvi.typing import Array


@dataclass(frozen=True, eq=False)
class PoissonEmission(Emission):
    """rate_kd ~ Gamma(a, a / m_d), x_td ~ Poisson(rate_kd). The block `rates` is K x D x 2.

    Attributes
    ----------
    shape : float
        a.
    expected : (D,)
        m: what the prior expects of each column; by default 1.

    """

    shape: float = 1.0
    expected: tuple[float, ...] = ()

    kind = "poisson"
    means_have_units = True

    @property
    def _inverse_scales(self) -> Array:
        means = np.ones(self.n_features) if not len(self.expected) else np.array(self.expected, dtype=np.float64)
        return self.shape / means

    def blocks(self) -> Mapping[str, Block]:
        """Return the rates."""
        scales = self._inverse_scales
        prior = np.stack([np.full(scales.shape, self.shape), scales], axis=-1)[None]
        return {"rates": Block(Gamma(), prior, (self.n_components, self.n_features, 2))}

    def usual_numbers(self) -> Mapping[str, Usual]:
        """Return a."""
        return {"shape": Usual(1.0)}

    def tables(self, views: Mapping[str, Array]) -> LinearTables:
        """Return log rates as slopes."""
        logs, negative = np.moveaxis(views["rates"], -1, 0)
        return LinearTables(np.ascontiguousarray(logs.T), np.ascontiguousarray(negative.T), _log_factorials, _eta_hat)

    def after(self, values: Array, labels: Labels, weights: Array) -> dict[str, Array]:
        """Add up counts."""
        shares, (known, there) = one_hot(labels, weights, self.n_components), filled(values)
        return {
            "rates": self.blocks()["rates"].prior + _eta_hat(products(shares, known), products(shares, there))["rates"]
        }

    def points(self, values: Array) -> Array:
        """Return square roots, whose variance does not grow with the rate."""
        return np.sqrt(with_means(values))

    def draw(self, rng: np.random.Generator) -> dict[str, Array]:
        """Draw rates."""
        return {"rates": rng.gamma(self.shape, 1.0 / self._inverse_scales, (self.n_components, self.n_features))}

    def emit(self, values: Mapping[str, Array], states: Labels, rng: np.random.Generator) -> Array:
        """Draw counts."""
        return rng.poisson(values["rates"][states]).astype(np.float64)

    def predictive(self, parameters: Mapping[str, Array]) -> Scores:
        """Return log probabilities of negative binomial distributions."""
        lam = parameters["rates"]

        def scores(values: Array) -> Array:
            known, there = filled(values)
            out = np.zeros((len(values), self.n_components))
            for k, (shape, rate) in enumerate(np.moveaxis(lam, -1, 1)):
                logs = (
                    special.gammaln(known + shape) - special.gammaln(shape) - special.gammaln(known + 1.0)
                    - shape * np.log1p(1.0 / rate) - known * np.log1p(rate)
                )  # fmt: skip
                out[:, k] = (there * logs).sum(axis=1)
            return out

        return scores

    def means(self, parameters: Mapping[str, Array]) -> Array:
        """Return E_q[rate], K x D."""
        lam = parameters["rates"]
        result: Array = lam[..., 0] / lam[..., 1]
        return result

    def deviations(self, parameters: Mapping[str, Array]) -> Array:
        """Return the deviations of rates under q."""
        return Gamma().deviations(parameters["rates"])

    def quantities(self, values: Mapping[str, Array]) -> Quantities:
        """Return the rates."""
        return {"means": Quantity(values["rates"], ("state", "feature"))}

    def check(self, values: Array) -> None:
        """Want counts."""
        check_counts(values, "Poisson emissions")


def _log_factorials(known: Array, there: Array) -> Array:
    """Return minus the sum of log x!."""
    result: Array = -special.gammaln(known + 1.0).sum(axis=1)
    return result


def _eta_hat(sums: Array, counts: Array) -> dict[str, Array]:
    """Return (sum x, n)."""
    return {"rates": np.stack([sums, counts], axis=-1)}
