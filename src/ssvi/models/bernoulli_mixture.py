"""A mixture of Bernoulli products with a Dirichlet prior of its weights: a Dirichlet process, truncated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssvi.batches.documents import Documents
from ssvi.families.beta import Beta
from ssvi.families.dirichlet import Dirichlet
from ssvi.families.learned import Usual
from ssvi.models.base import Block, Model, check_learned
from ssvi.models.mixture_merging import merging
from ssvi.models.quantities import Quantities, Quantity
from ssvi.models.rearranging import Look, Rearrangement
from ssvi.typing import Array


@dataclass(frozen=True)
class BernoulliMixture(Model):
    """pi ~ Dirichlet(alpha / K), phi_kd ~ Beta(a, b), z_n ~ pi, y_nd ~ Bernoulli(phi_zd).

    Blocks: `weights` (1 x K) and `components` (K x D x 2). A row's data are the features that are 1, in the form of
    `Documents` whose counts are all 1. With alpha fixed and K large, pi approaches the weights of a Dirichlet process.

    Attributes
    ----------
    n_features : int
        D.
    n_components : int
        K.
    concentration : float
        alpha.
    prior : (float, float)
        a and b.
    start_shape : float
        lambda starts at gamma draws of this shape and mean 1, added to the prior: 1 is rough, 10,000 nearly uniform.
    learned : names among "concentration" and "prior"
        What a fit learns; the values given are where it starts.

    """

    n_features: int
    n_components: int
    concentration: float
    prior: tuple[float, float] = (1.0, 1.0)
    start_shape: float = 1.0
    learned: tuple[str, ...] = ()

    name = "bernoulli_mixture"

    def __post_init__(self) -> None:
        check_learned(self)

    def blocks(self) -> Mapping[str, Block]:
        """Return the weights and the components."""
        weights = np.full((1, 1), self.concentration / self.n_components)
        shape = (self.n_components, self.n_features, 2)
        return {
            "weights": Block(Dirichlet(), weights, (1, self.n_components)),
            "components": Block(Beta(), np.array(self.prior), shape),
        }

    def usual_numbers(self) -> Mapping[str, Usual]:
        """Return alpha, a and b."""
        return {"concentration": Usual(1.0), "prior": Usual(1.0)}

    def rearrangement(self, lam: Callable[[str], Array], look: Look) -> Rearrangement | None:
        """Merge components that are better one; their places stay empty."""
        blocks = self.blocks()
        return merging(blocks, {name: lam(name) for name in blocks}, look.local()["responsibilities"])

    def init(self, rng: np.random.Generator) -> dict[str, Array]:
        """Return lambda at random: the prior and a little more, different everywhere."""
        return {
            name: block.prior + rng.gamma(self.start_shape, 1.0 / self.start_shape, block.shape)
            for name, block in self.blocks().items()
        }

    def start(self, data: Documents, rng: np.random.Generator) -> dict[str, Array]:
        """Return each component half way between a row of the data and the mean of all.

        With many features a component at random is far from every row, and the first few that are less far would take
        them all. Each one starts as if it held its share of the rows, a hundred at most, and a little noise, which
        tells apart those that start at equal rows.
        """
        chosen = data.take(rng.choice(len(data), self.n_components, replace=len(data) < self.n_components))
        prototypes = np.tile(0.5 * data.column_sums() / len(data), (self.n_components, 1))
        prototypes[np.repeat(np.arange(len(chosen)), chosen.costs()), chosen.words] += 0.5
        held = min(100.0, len(data) / self.n_components)
        counts = held * np.stack([prototypes, 1.0 - prototypes], axis=-1)
        blocks = self.blocks()
        return {
            "weights": np.full(blocks["weights"].shape, held) + blocks["weights"].prior,
            "components": blocks["components"].prior + counts + rng.gamma(1.0, 0.1, counts.shape),
        }

    def mean_weights(self, parameters: Mapping[str, Array]) -> Array:
        """Return E_q[pi]."""
        lam = parameters["weights"][0]
        weights: Array = lam / lam.sum()
        return weights

    def mean_components(self, parameters: Mapping[str, Array]) -> Array:
        """Return E_q[phi], components x features."""
        lam = parameters["components"]
        means: Array = lam[..., 0] / lam.sum(axis=-1)
        return means

    def rows_held(self, parameters: Mapping[str, Array]) -> Array:
        """Return how many rows each component holds, as far as q's weights tell."""
        held: Array = np.maximum(parameters["weights"][0] - self.concentration / self.n_components, 0.0)
        return held

    def summarize(self, parameters: Mapping[str, Array]) -> tuple[Array, Array, Array]:
        """Return each component's share of the rows, its probabilities of ones, and their deviations under q."""
        deviations = Beta().deviations(parameters["components"])[..., 0]
        return self.mean_weights(parameters), self.mean_components(parameters), deviations

    def statistics(self, weights: Array, components: Array) -> dict[str, Array]:
        """Return t of some weights and components, each in the shape of its block."""
        with np.errstate(divide="ignore"):
            stats = np.stack([np.log(components), np.log1p(-components)], axis=-1)
            return {"weights": np.log(weights)[None], "components": stats}

    def quantities(self, values: Mapping[str, Array]) -> Quantities:
        """Return the weights and the probabilities of ones."""
        return {
            "weights": Quantity(values["weights"][:, 0], ("component",)),
            "means": Quantity(values["components"], ("component", "feature")),
        }

    @classmethod
    def example(cls) -> BernoulliMixture:
        """Return five components over twelve features."""
        return cls(12, 5, 2.0, (0.6, 0.8))

    @classmethod
    def identifiable(cls) -> BernoulliMixture:
        """Return three components over twenty features, which tell them apart."""
        return cls(20, 3, 5.0, (1.0, 1.0))

    def simulate(
        self, rng: np.random.Generator, n: int, *, values: Mapping[str, Array] | None = None
    ) -> tuple[dict[str, Array], Documents]:
        """Draw weights and components, then n rows."""
        if values is None:
            weights = rng.dirichlet(np.full(self.n_components, self.concentration / self.n_components))
            components = rng.beta(*self.prior, (self.n_components, self.n_features))
            values = {"weights": weights[None], "components": components}
        rows, _ = self.sample(values["weights"][0], values["components"], rng, n)
        return dict(values), Documents.from_matrix(rows)

    def sample(self, weights: Array, components: Array, rng: np.random.Generator, n: int) -> tuple[Any, Any]:
        """Draw n rows given weights and components; return them and their components."""
        z = rng.choice(self.n_components, n, p=weights)
        return (rng.random((n, self.n_features)) < components[z]).astype(np.int8), z
