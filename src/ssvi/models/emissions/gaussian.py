"""States that show rows of real numbers: Gaussians whose mean and covariance have a joint posterior."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ssvi.batches.rows import DenseRows
from ssvi.families.learned import Usual
from ssvi.local_steps.gaussian_mixture.rows import Prepared, kinds_of, prepare_components
from ssvi.local_steps.gaussian_mixture.students import density_of
from ssvi.models.base import Block
from ssvi.models.covariances import COVARIANCES, Covariance
from ssvi.models.emissions.base import Emission, Labels, Scores, Tables, with_means
from ssvi.models.gaussian_mixture import GaussianMixture, GaussianPrior
from ssvi.models.quantities import Quantities, Quantity
from ssvi.numerics.random import Keys
from ssvi.typing import Array


@dataclass(frozen=True)
class GaussianTables(Tables):
    """The components of a mixture, all of weight 1."""

    covariance: Covariance
    components: Prepared

    def scores(self, values: Array) -> Array:
        """Return log densities of what is known."""
        return self.components.log_joint(values, kinds_of(values))

    def statistics(self, values: Array, shares: Array, keys: Keys, sampled: bool) -> dict[str, Array]:
        """Return sums of rows and of their products; what is missing is expected, or drawn."""
        sums = self.components.sums(values, kinds_of(values), shares, keys, sampled)
        return {"states": self.covariance.natural(sums)}


@dataclass(frozen=True, eq=False)
class GaussianEmission(Emission):
    """x_t ~ N(mu_k, Lambda_k^-1), the components of a Gaussian mixture. The block `states` is theirs.

    Attributes
    ----------
    covariance_type : {"full", "tied", "diag", "spherical"}
        Which covariances there are.
    prior : GaussianPrior, optional
        Of each state; by default one for columns of mean 0 and variance 1.

    """

    covariance_type: str = "full"
    prior: GaussianPrior | None = None

    kind = "gaussian"
    means_have_units = True

    def __post_init__(self) -> None:
        if self.prior is None:
            object.__setattr__(self, "prior", GaussianPrior.usual(self.covariance))

    @property
    def mixture(self) -> GaussianMixture:
        """The mixture whose components the states are."""
        return GaussianMixture(self.n_features, self.n_components, 1.0, self.covariance_type, self.prior)

    @property
    def covariance(self) -> Covariance:
        """The kind of covariances."""
        return COVARIANCES[self.covariance_type](self.n_features, self.n_components)

    def blocks(self) -> Mapping[str, Block]:
        """Return the components."""
        return {"states": self.mixture.blocks()["components"]}

    def usual_numbers(self) -> Mapping[str, Usual]:
        """Return those of the components' prior."""
        own = self.mixture.component_prior.usual_numbers(self.covariance)
        return {f"prior.{name}": usual for name, usual in own.items()}

    def tables(self, views: Mapping[str, Array]) -> GaussianTables:
        """Factor the precisions of the view."""
        nothing = DenseRows(np.empty((0, self.n_features)))
        mixture, weights = self.mixture, np.zeros(self.n_components)
        return GaussianTables(mixture.covariance, prepare_components(mixture, weights, views["states"], nothing))

    def after(self, values: Array, labels: Labels, weights: Array) -> dict[str, Array]:
        """Return the mixture's components after some rows."""
        return {"states": self.mixture.after(with_means(values), labels, weights)["components"]}

    def points(self, values: Array) -> Array:
        """Return the rows, with means for what is missing."""
        return with_means(values)

    def draw(self, rng: np.random.Generator) -> dict[str, Array]:
        """Draw means and precisions."""
        return {"states": self.mixture.simulate(rng, 1)[0]["components"]}

    def emit(self, values: Mapping[str, Array], states: Labels, rng: np.random.Generator) -> Array:
        """Draw a row for each state."""
        drawn = self.covariance.gaussians(self.covariance.family.statistics(values["states"]))
        size = (self.n_components, self.n_features, self.n_features)
        dense = (
            drawn.precisions[:, :, None] * np.eye(self.n_features) if drawn.precisions.ndim == 2 else drawn.precisions
        )
        roots = np.broadcast_to(np.linalg.cholesky(np.linalg.inv(dense)), size)
        rows = rng.normal(size=(len(states), self.n_features))
        for k in range(self.n_components):
            own = states == k
            rows[own] = drawn.means[k] + rows[own] @ roots[k].T
        return rows

    def quantities(self, values: Mapping[str, Array]) -> Quantities:
        """Return means and covariances."""
        means, covariances = self.covariance.named(values["states"])
        dims = tuple("state" if dim == "component" else dim for dim in self.covariance.covariance_dims)
        return {"means": Quantity(means, ("state", "feature")), "covars": Quantity(covariances, dims)}

    def predictive(self, parameters: Mapping[str, Array]) -> Scores:
        """Return the log densities of Student distributions."""
        return density_of(self.covariance.students(parameters["states"], 1.0))

    def means(self, parameters: Mapping[str, Array]) -> Array:
        """Return E_q[mu]."""
        return self.covariance.means(parameters["states"])

    def deviations(self, parameters: Mapping[str, Array]) -> Array:
        """Return the deviations of mu under q."""
        return self.covariance.deviations(parameters["states"])

    def covariances(self, parameters: Mapping[str, Array]) -> Array:
        """Return the inverses of E_q[Lambda], in the shape of their kind."""
        return self.covariance.covariances(parameters["states"])
