"""A mixture of Gaussians whose weights have a Dirichlet prior: finite, or a Dirichlet process, truncated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.batches import DenseRows
from ssvi.families.dirichlet import Dirichlet
from ssvi.families.learned import Usual
from ssvi.models.base import Block, Model, check_learned
from ssvi.models.covariances import COVARIANCES, Covariance, Sums
from ssvi.models.mixture_merging import merging
from ssvi.models.quantities import Quantities, Quantity
from ssvi.models.rearranging import Look, Rearrangement
from ssvi.models.scaling import Scaling
from ssvi.models.seeding import k_means
from ssvi.numerics.cholesky import cholesky
from ssvi.typing import Array

_MOST_SEEDED = 5_000  # rows that a start looks at


@dataclass(frozen=True)
class GaussianPrior:
    """The prior of each component: Lambda ~ Wishart(S^-1, nu), mu given Lambda ~ N(m, (kappa Lambda)^-1).

    Attributes
    ----------
    mean : (D,)
        m.
    strength : float
        kappa: how many rows the prior mean counts for.
    scatter : (D, D); (D,) for diagonal and () for spherical covariances
        S.
    degrees : float
        nu, more than D - 1; for diagonal and spherical covariances more than 0.
    scale : float
        What S is multiplied by: a fit that learns S learns this.

    """

    mean: Array
    strength: float
    scatter: Array
    degrees: float
    scale: float = 1.0

    @property
    def scaled_scatter(self) -> Array:
        """S, times its scale."""
        return self.scale * self.scatter

    def usual_numbers(self, covariance: Covariance) -> dict[str, Usual]:
        """Return kappa, nu and the scale of S."""
        usual = GaussianPrior.usual(covariance)
        return {
            "strength": Usual(usual.strength),
            "degrees": Usual(usual.degrees, covariance.least_degrees),
            "scale": Usual(1.0),
        }

    @classmethod
    def usual(cls, covariance: Covariance) -> GaussianPrior:
        """Return the prior for columns of mean 0 and variance 1.

        K components that share the space evenly have variances of K^(-2/D) (Fraley and Raftery 2007), which is what
        the prior expects of the covariances, with as few degrees as have a mean at all. With kappa the same number the
        means spread as widely as the rows do.
        """
        size = covariance.n_components ** (-2.0 / covariance.n_features)
        shape = covariance.scatter_shape
        scatter = size * (np.eye(*shape) if len(shape) == 2 else np.ones(shape))
        return cls(np.zeros(covariance.n_features), size, scatter, covariance.least_degrees + 3.0)

    @classmethod
    def given(
        cls,
        covariance: Covariance,
        scaling: Scaling,
        mean: Array | None,
        strength: Array | None,
        degrees: Array | None,
        scatter: Array | None,
    ) -> GaussianPrior:
        """Return the prior in units of a scaling of what is given in the data's own, and the usual for what is None."""
        usual = cls.usual(covariance)
        if mean is not None and mean.shape == usual.mean.shape:
            mean = scaling.apply(mean)
        if scatter is not None and scatter.shape == usual.scatter.shape:
            scatter = scatter / scaling.squares(scatter.ndim)
        return cls(
            usual.mean if mean is None else mean,
            usual.strength if strength is None else float(strength),
            usual.scatter if scatter is None else scatter,
            usual.degrees if degrees is None else float(degrees),
        )

    def check(self, covariance: Covariance) -> None:
        """Raise one clear sentence unless this is a prior of such covariances."""
        size, shape = covariance.n_features, covariance.scatter_shape
        if self.mean.shape != (size,) or not np.isfinite(self.mean).all():
            raise ValueError(f"mean_prior must be {size} finite numbers, one for each column.")
        if not 0 < self.strength < np.inf:
            raise ValueError(f"mean_precision_prior must be a positive number, not {self.strength!r}.")
        if not 0 < self.scale < np.inf:
            raise ValueError(f"the scale of covariance_prior must be a positive number, not {self.scale!r}.")
        if not covariance.least_degrees < self.degrees < np.inf:
            raise ValueError(
                f"degrees_of_freedom_prior must be more than {covariance.least_degrees} for {covariance.kind!r} "
                f"covariances of {size} columns, not {self.degrees!r}."
            )
        if self.scatter.shape != shape:
            wanted = " x ".join(map(str, shape)) + " numbers" if shape else "one number"
            raise ValueError(f"covariance_prior must be {wanted} for {covariance.kind!r} covariances.")
        if len(shape) < 2:
            definite = bool(((self.scatter > 0) & (self.scatter < np.inf)).all())
        else:
            round_enough = np.isfinite(cholesky(self.scatter[None])).all()
            definite = bool(round_enough and np.allclose(self.scatter, self.scatter.T, rtol=1e-8, atol=0.0))
        if not definite:
            kind = "a symmetric, positive definite matrix" if len(shape) == 2 else "positive"
            raise ValueError(f"covariance_prior must be {kind}, and it is not: add something to its diagonal.")


@dataclass(frozen=True, eq=False)
class GaussianMixture(Model):
    """pi ~ Dirichlet(a), (mu_k, Lambda_k) ~ normal-Wishart, z_n ~ pi, y_n ~ N(mu_z, Lambda_z^-1).

    Blocks: `weights` (1 x K) and `components`, whose shape is the covariances' kind's (`ssvi.models.covariances`).
    Data are `DenseRows`, in which entries may be missing. With a = alpha / K and K large, pi approaches the weights of
    a Dirichlet process.

    Attributes
    ----------
    n_features, n_components : int
        D and K.
    weight_prior : float
        a, the Dirichlet's parameter of each weight.
    covariance_type : {"full", "tied", "diag", "spherical"}
        Which covariances there are.
    prior : GaussianPrior, optional
        Of each component; by default one for columns of mean 0 and variance 1.
    learned : tuple of str
        Which of "weight_prior", "prior.strength", "prior.degrees" and "prior.scale" a fit learns; the value given is
        where it starts.

    """

    n_features: int
    n_components: int
    weight_prior: float
    covariance_type: str = "full"
    prior: GaussianPrior | None = None
    learned: tuple[str, ...] = ()

    name = "gaussian_mixture"

    @property
    def covariance(self) -> Covariance:
        """The kind of covariances."""
        return COVARIANCES[self.covariance_type](self.n_features, self.n_components)

    def __post_init__(self) -> None:
        if self.covariance_type not in COVARIANCES:
            raise ValueError(f"covariance_type {self.covariance_type!r} is not known.")
        if self.prior is not None:
            self.prior.check(self.covariance)
        elif any(name.startswith("prior.") for name in self.learned):  # of something that is there
            object.__setattr__(self, "prior", GaussianPrior.usual(self.covariance))
        check_learned(self)

    @property
    def component_prior(self) -> GaussianPrior:
        """The prior of each component."""
        return self.prior or GaussianPrior.usual(self.covariance)

    def blocks(self) -> Mapping[str, Block]:
        """Return the weights and the components."""
        covariance, own = self.covariance, self.component_prior
        eta = covariance.prior(own.mean, own.strength, own.scaled_scatter, own.degrees)
        return {
            "weights": Block(Dirichlet(), np.full((1, 1), self.weight_prior), (1, self.n_components)),
            "components": Block(covariance.family, eta, covariance.shape),
        }

    def usual_numbers(self) -> Mapping[str, Usual]:
        """Return a, and kappa, nu and the scale of S of the components' prior."""
        own = self.component_prior.usual_numbers(self.covariance)
        return {"weight_prior": Usual(1.0 / self.n_components)} | {
            f"prior.{name}": usual for name, usual in own.items()
        }

    def rearrangement(self, lam: Callable[[str], Array], look: Look) -> Rearrangement | None:
        """Merge components that are better one; their places stay empty. Tied covariances have no components alone."""
        blocks = self.blocks()
        if self.covariance_type == "tied":
            return None
        return merging(blocks, {name: lam(name) for name in blocks}, look.local()["responsibilities"])

    def init(self, rng: np.random.Generator) -> dict[str, Array]:
        """Return lambda at random: the prior and a row or so for each component, drawn around the prior mean."""
        own = self.component_prior
        widths = np.sqrt(self._prior_variances() / own.strength)
        points = own.mean + widths * rng.normal(size=(self.n_components, self.n_features))
        counts = rng.gamma(2.0, 0.5, self.n_components)
        return self.after(points, np.arange(self.n_components), counts)

    def start(self, data: DenseRows, rng: np.random.Generator) -> dict[str, Array]:
        """Return the prior and the rows as k-means divides them; a component without any is as the prior has it.

        Of many rows some are looked at, and stand for all. Missing entries are their column's mean; rows of which
        nothing is known are left out.
        """
        some = np.flatnonzero(~data.missing.all(axis=1))
        if not len(some):
            return self.init(rng)
        count = len(some)
        if count > _MOST_SEEDED:
            some = np.sort(rng.choice(some, _MOST_SEEDED, replace=False))
        points = data.values[some]
        missing = np.isnan(points)
        known = np.maximum((~missing).sum(axis=0), 1)
        points = np.where(missing, np.where(missing, 0.0, points).sum(axis=0) / known, points)
        weights = np.full(len(points), count / len(points))
        return self.after(points, k_means(points, self.n_components, rng), weights)

    def after(self, points: Array, labels: npt.NDArray[np.int64], weights: Array) -> dict[str, Array]:
        """Return lambda after some points, each of a component and with a weight."""
        blocks, covariance, size = self.blocks(), self.covariance, self.n_components
        weighted = weights[:, None] * points
        counts, firsts = _sums_by(labels, weights[:, None], size)[:, 0], _sums_by(labels, weighted, size)
        if covariance.independent:
            seconds = _sums_by(labels, weighted * points, size)
            counts_of = np.repeat(counts[:, None], self.n_features, axis=1)
        else:
            own = [np.einsum("ni,nj->ij", weighted[labels == k], points[labels == k]) for k in range(size)]
            seconds, counts_of = np.stack(own), counts
            if self.covariance_type == "tied":
                seconds = seconds.sum(axis=0, keepdims=True)
        sums = Sums(counts_of, firsts, seconds)
        return {
            "weights": blocks["weights"].prior + counts[None],
            "components": blocks["components"].prior + covariance.natural(sums),
        }

    def mean_weights(self, parameters: Mapping[str, Array]) -> Array:
        """Return E_q[pi]."""
        lam = parameters["weights"][0]
        weights: Array = lam / lam.sum()
        return weights

    def means(self, parameters: Mapping[str, Array]) -> Array:
        """Return E_q[mu], K x D."""
        return self.covariance.means(parameters["components"])

    def covariances(self, parameters: Mapping[str, Array]) -> Array:
        """Return the inverses of E_q[Lambda]: (K, D, D), (D, D) if tied, (K, D) if diagonal, (K,) if spherical."""
        return self.covariance.covariances(parameters["components"])

    def precisions(self, parameters: Mapping[str, Array]) -> Array:
        """Return E_q[Lambda], in the shape of `covariances`."""
        covariances = self.covariances(parameters)
        return 1.0 / covariances if self.covariance.independent else _inverse(covariances)

    def summarize(self, parameters: Mapping[str, Array]) -> tuple[Array, Array, Array]:
        """Return each component's share of the rows, its means, and their standard deviations under q."""
        return (
            self.mean_weights(parameters),
            self.means(parameters),
            self.covariance.deviations(parameters["components"]),
        )

    def rows_held(self, parameters: Mapping[str, Array]) -> Array:
        """Return how many rows each component holds, as far as q's weights tell."""
        held: Array = np.maximum(parameters["weights"][0] - self.weight_prior, 0.0)
        return held

    def statistics(self, weights: Array, means: Array, precisions: Array) -> dict[str, Array]:
        """Return t of some weights, means and precisions (in the shape of `covariances`)."""
        with np.errstate(divide="ignore"):
            return {"weights": np.log(weights)[None], "components": self.covariance.statistics(means, precisions)}

    def quantities(self, values: Mapping[str, Array]) -> Quantities:
        """Return the weights, means and covariances."""
        means, covariances = self.covariance.named(values["components"])
        return {
            "weights": Quantity(values["weights"][:, 0], ("component",)),
            "means": Quantity(means, ("component", "feature")),
            "covariances": Quantity(covariances, self.covariance.covariance_dims),
        }

    @classmethod
    def example(cls) -> GaussianMixture:
        """Return four components in three columns."""
        return cls(3, 4, 1.5)

    @classmethod
    def identifiable(cls) -> GaussianMixture:
        """Return three components in two columns that lie apart: means spread seven times as widely as rows do."""
        return cls(2, 3, 5.0, prior=GaussianPrior(np.zeros(2), 0.02, 7.0 * np.eye(2), 10.0))

    def simulate(
        self, rng: np.random.Generator, n: int, *, values: Mapping[str, Array] | None = None
    ) -> tuple[dict[str, Array], DenseRows]:
        """Draw weights, means and precisions, or take their values, then n rows."""
        covariance, own = self.covariance, self.component_prior
        if values is None:
            weights = rng.dirichlet(np.full(self.n_components, self.weight_prior))
            precisions = covariance.draw(rng, own.mean, own.strength, own.scaled_scatter, own.degrees)
            means = own.mean + _draw(rng, own.strength * covariance.dense(precisions))
            components = covariance.family.values(covariance.statistics(means, precisions))
            values = {"weights": weights[None], "components": components}
        drawn = covariance.gaussians(covariance.family.statistics(values["components"]))
        dense = drawn.precisions[:, :, None] * np.eye(self.n_features) if covariance.independent else drawn.precisions
        covariances = np.broadcast_to(_inverse(dense), (self.n_components, self.n_features, self.n_features))
        rows, _ = self.sample(values["weights"][0], drawn.means, covariances, rng, n)
        return dict(values), DenseRows(rows)

    def sample(
        self, weights: Array, means: Array, covariances: Array, rng: np.random.Generator, n: int
    ) -> tuple[Array, Any]:
        """Draw n rows given weights, means and covariances (K, D, D); return them and their components."""
        z = rng.choice(self.n_components, n, p=weights)
        rows = rng.normal(size=(n, self.n_features))
        for k, factor in enumerate(np.linalg.cholesky(covariances)):
            rows[z == k] = means[k] + rows[z == k] @ factor.T
        return rows, z

    def _prior_variances(self) -> Array:
        """Return the variances that the prior expects, roughly."""
        own = self.component_prior
        scatter = np.diagonal(own.scaled_scatter) if own.scatter.ndim == 2 else own.scaled_scatter
        return np.broadcast_to(scatter / own.degrees, (self.n_features,))


def _draw(rng: np.random.Generator, precisions: Array) -> Array:
    """Draw from N(0, Lambda^-1) for each of some precisions."""
    noise = rng.normal(size=precisions.shape[:-1])
    roots = np.linalg.cholesky(precisions)
    return np.linalg.solve(np.swapaxes(roots, -1, -2), noise[..., None])[..., 0].astype(np.float64)


def _inverse(matrices: Array) -> Array:
    return np.linalg.inv(matrices).astype(np.float64)


def _sums_by(labels: npt.NDArray[np.int64], values: Array, size: int) -> Array:
    """Return the sums of columns over the rows of each label."""
    sums = [np.bincount(labels, column, size) for column in values.T]
    return np.stack(sums, axis=1).astype(np.float64)
