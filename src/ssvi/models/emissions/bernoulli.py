"""States that show rows of zeros and ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ssvi.families.beta import Beta
from ssvi.families.learned import Usual
from ssvi.models.base import Block
from ssvi.models.emissions.base import Emission, Labels, Scores, check_counts, filled, one_hot, products, with_means
from ssvi.models.emissions.linear import LinearTables
from ssvi.typing import Array


@dataclass(frozen=True, eq=False)
class BernoulliEmission(Emission):
    """p_kd ~ Beta(a, b), x_td ~ Bernoulli(p_kd). The block `ones` is K x D x 2.

    Attributes
    ----------
    prior : (float, float)
        a and b.

    """

    prior: tuple[float, float] = (1.0, 1.0)

    kind = "bernoulli"

    def blocks(self) -> Mapping[str, Block]:
        """Return the probabilities of ones."""
        return {"ones": Block(Beta(), np.array(self.prior), (self.n_components, self.n_features, 2))}

    def usual_numbers(self) -> Mapping[str, Usual]:
        """Return a and b."""
        return {"prior": Usual(1.0)}

    def tables(self, views: Mapping[str, Array]) -> LinearTables:
        """Return log-odds as slopes."""
        ones, zeros = np.moveaxis(views["ones"], -1, 0)
        slopes, constants = np.ascontiguousarray((ones - zeros).T), np.ascontiguousarray(zeros.T)
        return LinearTables(slopes, constants, None, _eta_hat)

    def after(self, values: Array, labels: Labels, weights: Array) -> dict[str, Array]:
        """Count ones and zeros."""
        shares, (known, there) = one_hot(labels, weights, self.n_components), filled(values)
        return {
            "ones": self.blocks()["ones"].prior + _eta_hat(products(shares, known), products(shares, there))["ones"]
        }

    def points(self, values: Array) -> Array:
        """Return the rows, with means for what is missing."""
        return with_means(values)

    def draw(self, rng: np.random.Generator) -> dict[str, Array]:
        """Draw probabilities."""
        return {"ones": rng.beta(*self.prior, (self.n_components, self.n_features))}

    def emit(self, values: Mapping[str, Array], states: Labels, rng: np.random.Generator) -> Array:
        """Draw zeros and ones."""
        return (rng.random((len(states), self.n_features)) < values["ones"][states]).astype(np.float64)

    def predictive(self, parameters: Mapping[str, Array]) -> Scores:
        """Return log E_q[p]."""
        return self.tables({"ones": Beta().mode_stats(parameters["ones"])}).scores

    def means(self, parameters: Mapping[str, Array]) -> Array:
        """Return E_q[p], K x D."""
        lam = parameters["ones"]
        result: Array = lam[..., 0] / lam.sum(axis=-1)
        return result

    def deviations(self, parameters: Mapping[str, Array]) -> Array:
        """Return the deviations of p under q."""
        result: Array = Beta().deviations(parameters["ones"])[..., 0]
        return result

    def check(self, values: Array) -> None:
        """Want zeros and ones."""
        check_counts(values, "Bernoulli emissions", 1.0)


def _eta_hat(sums: Array, counts: Array) -> dict[str, Array]:
    """Return (ones, zeros)."""
    return {"ones": np.stack([sums, counts - sums], axis=-1)}
