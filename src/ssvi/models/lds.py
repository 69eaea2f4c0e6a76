"""A linear dynamical system: states that move linearly and are seen with noise, all coefficients unknown."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ssvi.batches import Sequences
from ssvi.families.learned import Usual
from ssvi.families.normal_wishart import NormalWishart
from ssvi.models.base import Block, Model, check_learned
from ssvi.models.quantities import Quantities, Quantity
from ssvi.models.regressions import NOISES, Regression, RegressionPrior, RegressionSums, noise_root
from ssvi.models.subspaces import first_states
from ssvi.numerics.random import derive_keys
from ssvi.typing import Array

_LENGTHS = (3, 9)  # of simulated sequences


class Dynamics(NamedTuple):
    """A linear dynamical system whose parameters are known; see `LDS`.

    Attributes
    ----------
    start_mean, start_covariance : (K,), (K, K)
        m and S of the first state. A covariance of None is a diffuse start: nothing is known of the first state.
    transition, drive : (K, K), (K, U)
        A and B.
    state_covariance : (K, K)
        Q.
    loadings, feedthrough, offset : (D, K), (D, U), (D,)
        C, D and d.
    noise : (D, D), or (D,) if it is diagonal
        R.

    """

    start_mean: Array
    start_covariance: Array | None
    transition: Array
    drive: Array
    state_covariance: Array
    loadings: Array
    feedthrough: Array
    offset: Array
    noise: Array


@dataclass(frozen=True)
class LDSPrior:
    """What is expected of columns of mean 0 and variance 1, in the fewest numbers; states have variances of about 1.

    Attributes
    ----------
    persistence : float
        The mean of A's diagonal; off it 0.
    dynamics_strength, emission_strength : float
        For how many observations of a unit state the means of (A, B) and of (C, D, d), which is 0, count.
    state_variance, noise_variance : float
        The means of the variances of w and of v.
    degrees : float
        How many degrees of freedom the three Wishart distributions have more than they need: with more than 2 the
        covariances have means.

    """

    persistence: float = 0.8
    dynamics_strength: float = 1.0
    emission_strength: float = 0.1
    state_variance: float = 0.2
    noise_variance: float = 0.2
    degrees: float = 3.0


@dataclass(frozen=True)
class LDS(Model):
    """z_1 ~ N(m, S), z_t = A z_(t-1) + B u_t + w, y_t = C z_t + D u_t + d + v, w ~ N(0, Q) and v ~ N(0, R).

    Blocks: `start` (m, S^-1), normal-Wishart; `dynamics` ((A, B), Q^-1) and `emissions` ((C, D, d), R^-1),
    matrix-normal-Wishart; with diagonal noise `emissions` has a row for each output. Data are `Sequences` whose columns
    are y, where entries may be missing, and then u.

    Attributes
    ----------
    n_features, n_states, n_inputs : int
        The numbers of outputs D, of states K and of inputs U.
    noise : {"full", "diag"}
        What R is.
    prior : LDSPrior
        Of all blocks.
    learned : tuple of str
        Which of "prior.dynamics_strength", "prior.emission_strength" and "prior.noise_variance" a fit learns; the value
        given is where it starts. (The variance of w sets the scale of the states, of which data say nothing.)

    """

    n_features: int
    n_states: int
    n_inputs: int = 0
    noise: str = "full"
    prior: LDSPrior = LDSPrior()
    learned: tuple[str, ...] = ()

    name = "lds"

    def __post_init__(self) -> None:
        if self.noise not in NOISES:
            raise ValueError(f"noise {self.noise!r} is not known; the known ones are 'full' and 'diag'.")
        check_learned(self)

    def usual_numbers(self) -> Mapping[str, Usual]:
        """Return how much the means of dynamics and emissions count, and the noise."""
        names, usual = ("dynamics_strength", "emission_strength", "noise_variance"), LDSPrior()
        return {f"prior.{name}": Usual(getattr(usual, name)) for name in names}

    @property
    def first(self) -> NormalWishart:
        """The family of the first state's mean and precision."""
        return NormalWishart(self.n_states)

    @property
    def dynamics(self) -> Regression:
        """The regression of a state on the last one and the inputs."""
        return Regression(self.n_states, self.n_states + self.n_inputs)

    @property
    def emissions(self) -> Regression:
        """The regression of what is seen on the state, the inputs and 1."""
        return Regression(self.n_features, self.n_states + self.n_inputs + 1, self.noise == "diag")

    def blocks(self) -> Mapping[str, Block]:
        """Return the first state, the dynamics and the emissions."""
        own, dynamics, emissions = self.prior, self.dynamics, self.emissions
        size, seen = self.n_states, self.n_features
        spare = own.degrees - 2.0  # the mean of an inverse Wishart matrix is S / (nu - D - 1)
        mean = own.persistence * np.eye(size, size + self.n_inputs)
        states = RegressionPrior(
            mean,
            np.full(dynamics.inputs, own.dynamics_strength),
            np.full(size, own.state_variance * max(spare, 0.5)),
            size - 1 + own.degrees,
        )
        outputs = RegressionPrior(
            np.zeros((seen, emissions.inputs)),
            np.full(emissions.inputs, own.emission_strength),
            np.full(seen, own.noise_variance * max(spare, 0.5)),
            emissions.family.outputs - 1 + own.degrees,
        )
        start = self.first.natural(
            np.zeros((1, size)), np.ones(1), max(spare, 0.5) * np.eye(size)[None], np.full(1, size - 1 + own.degrees)
        )
        return {
            "start": Block(self.first, start, (1, self.first.dimension)),
            "dynamics": Block(dynamics.family, dynamics.prior(states), dynamics.shape),
            "emissions": Block(emissions.family, emissions.prior(outputs), emissions.shape),
        }

    def init(self, rng: np.random.Generator) -> dict[str, Array]:
        """Return lambda as after a few time points of outputs at random, one made of a state each."""
        points, size = 4 * (self.n_states + self.n_inputs + 1), self.n_states
        loadings = rng.normal(size=(self.n_features, size)) / np.sqrt(size)
        states = rng.normal(size=(points, size))
        inputs = rng.normal(size=(points, self.n_inputs))
        seen = states @ loadings.T + 0.5 * rng.normal(size=(points, self.n_features))
        moved = self.prior.persistence * states + 0.5 * rng.normal(size=states.shape)
        return self._after(states[:4], (states, moved, inputs), (states, seen, inputs))

    def start(self, data: Sequences, rng: np.random.Generator) -> dict[str, Array]:
        """Return lambda as after states that the past of each time point tells of its future (`subspaces`)."""
        found = first_states(data.values[:, : self.n_features], data.indptr, self.n_states, rng)
        if found is None:
            return self.init(rng)
        states, rows, follows = found.states, found.rows, found.follows
        inputs, seen = data.values[rows, self.n_features :], found.outputs
        heads = np.flatnonzero(~np.isin(np.arange(len(rows)), follows))
        moves = (states[follows - 1], states[follows], inputs[follows])
        weight = max(1.0, int(data.indptr[-1] - data.indptr[0]) / len(rows))
        return self._after(states[heads], moves, (states, seen, inputs), weight)

    def _after(
        self,
        heads: Array,
        moves: tuple[Array, Array, Array],
        seen: tuple[Array, Array, Array],
        weight: float = 1.0,
    ) -> dict[str, Array]:
        """Return lambda after first states, moves (from, to, inputs) and what was seen (states, outputs, inputs)."""
        blocks = self.blocks()
        before = np.concatenate([moves[0], moves[2]], axis=1)
        design = np.concatenate([seen[0], seen[2], np.ones((len(seen[0]), 1))], axis=1)
        count = float(len(heads))
        first = Regression(self.n_states, 1).natural(
            RegressionSums(heads.sum(axis=0)[:, None], np.full((1, 1), count), heads.T @ heads, count)
        )
        dynamics = self.dynamics.natural(
            RegressionSums(moves[1].T @ before, before.T @ before, moves[1].T @ moves[1], float(len(before)))
        )
        emissions = self.emissions.natural(complete_sums(self.emissions, design, seen[1]))
        return {
            "start": blocks["start"].prior + first,
            "dynamics": blocks["dynamics"].prior + weight * dynamics,
            "emissions": blocks["emissions"].prior + weight * emissions,
        }

    def statistics(self, known: Dynamics) -> dict[str, Array]:
        """Return t of known parameters; of a diffuse start, what leaves the first state free."""
        if known.start_covariance is None:
            start = np.zeros((1, self.first.dimension))
            # The density of the first state is then 1 everywhere: its constant has to go as well.
            start[0, -1] = 0.5 * self.n_states * np.log(2.0 * np.pi)
        else:
            start = Regression(self.n_states, 1).statistics(known.start_mean[:, None], known.start_covariance)
        moves = np.concatenate([known.transition, known.drive], axis=1)
        seen = np.concatenate([known.loadings, known.feedthrough, known.offset[:, None]], axis=1)
        return {
            "start": start,
            "dynamics": self.dynamics.statistics(moves, known.state_covariance),
            "emissions": self.emissions.statistics(seen, known.noise),
        }

    def usual(self, views: Mapping[str, Array]) -> Dynamics:
        """Return the parameters at a view of t that is a draw or a mode."""
        first = self.first.expand(views["start"])
        start = np.linalg.solve(first.precision[0], first.product[0])
        moves, state_covariance = self.dynamics.usual(views["dynamics"])
        seen, noise = self.emissions.usual(views["emissions"])
        size, width = self.n_states, self.n_inputs
        return Dynamics(
            start, np.linalg.inv(first.precision[0]), moves[:, :size], moves[:, size:], state_covariance,
            seen[:, :size], seen[:, size : size + width], seen[:, -1], noise,
        )  # fmt: skip

    def quantities(self, values: Mapping[str, Array]) -> Quantities:
        """Return all that `Dynamics` has. States have no axes of their own: they may be turned, with all of this."""
        first = self.first.named(values["start"][:, 0])
        (moves, state_covariance), (seen, noise) = (
            regression.named(values[name])
            for name, regression in (("dynamics", self.dynamics), ("emissions", self.emissions))
        )
        size, square = self.n_states, ("latent", "other_latent")
        return {
            "start_mean": Quantity(first["mean"], ("latent",)),
            "start_covariance": Quantity(first["covariance"], square),
            "transition": Quantity(moves[..., :size], square),
            "input_transition": Quantity(moves[..., size:], ("latent", "input")),
            "state_covariance": Quantity(state_covariance, square),
            "loadings": Quantity(seen[..., :size], ("feature", "latent")),
            "feedthrough": Quantity(seen[..., size:-1], ("feature", "input")),
            "offset": Quantity(seen[..., -1], ("feature",)),
            "noise_covariance": Quantity(noise, ("feature", "other_feature")[: noise.ndim - 1]),
        }

    @classmethod
    def example(cls) -> LDS:
        """Return two states, three outputs and an input, with a prior under which states stay where they are seen."""
        prior = LDSPrior(0.5, dynamics_strength=30.0, emission_strength=3.0, degrees=12.0)
        return cls(3, 2, 1, prior=prior)

    def simulate(
        self, rng: np.random.Generator, n: int, *, values: Mapping[str, Array] | None = None
    ) -> tuple[dict[str, Array], Sequences]:
        """Draw all parameters, or take their values, then n short sequences, some entries of which are missing."""
        if values is None:
            values = {}
            for name, block in self.blocks().items():
                lam = np.ascontiguousarray(np.broadcast_to(block.prior, block.shape))
                keys = derive_keys(int(rng.integers(2**63)), len(lam))
                values[name] = block.family.values(block.family.draw(lam, keys).stats)
        known = self.usual(self.statistics_of(values))
        lengths = rng.integers(*_LENGTHS, n)
        inputs = rng.normal(size=(int(lengths.sum()), self.n_inputs))
        seen = self.sample(known, rng, lengths, inputs)[1]
        seen[rng.random(seen.shape) < 0.1] = np.nan
        return dict(values), Sequences.from_lengths(np.concatenate([seen, inputs], axis=1), lengths)

    def sample(self, known: Dynamics, rng: np.random.Generator, lengths: Any, inputs: Array) -> tuple[Array, Array]:
        """Draw sequences of given lengths; return the states and what is seen, one sequence after another."""
        if known.start_covariance is None:
            raise ValueError("states cannot be drawn from a diffuse start.")
        total = int(np.sum(lengths))
        states = rng.normal(size=(total, self.n_states)) @ noise_root(known.state_covariance).T
        states += inputs @ known.drive.T
        heads = np.cumsum(lengths) - lengths
        first = rng.normal(size=(len(lengths), self.n_states)) @ noise_root(known.start_covariance).T
        states[heads[np.asarray(lengths) > 0]] = (known.start_mean + first)[np.asarray(lengths) > 0]
        begins = np.zeros(total, dtype=bool)
        begins[heads[np.asarray(lengths) > 0]] = True
        for t in np.flatnonzero(~begins):
            states[t] += known.transition @ states[t - 1]
        noise = rng.normal(size=(total, self.n_features)) @ noise_root(known.noise).T
        return states, states @ known.loadings.T + inputs @ known.feedthrough.T + known.offset + noise


def complete_sums(regression: Regression, design: Array, outputs: Array) -> RegressionSums:
    """Return the sums of observations of which nothing is missing."""
    squares, count = design.T @ design, float(len(design))
    cross = outputs.T @ design
    if not regression.independent:
        return RegressionSums(cross, squares, outputs.T @ outputs, count)
    d = regression.outputs
    return RegressionSums(
        cross, np.broadcast_to(squares, (d, *squares.shape)), (outputs**2).sum(axis=0), np.full(d, count)
    )
