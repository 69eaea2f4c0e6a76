"""A factorial hidden Markov model: several chains at once, whose states add up to what is seen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from ssvi.batches import Sequences
from ssvi.families.dirichlet import Dirichlet
from ssvi.families.gamma import Gamma
from ssvi.families.learned import Usual
from ssvi.models.base import Block, Model, check_learned
from ssvi.models.quantities import Quantities, Quantity
from ssvi.models.regressions import NOISES, Regression, RegressionPrior, RegressionSums, noise_root
from ssvi.models.seeding import k_means
from ssvi.typing import Array

EMISSIONS = ("gaussian", "poisson")
_LENGTHS = (3, 9)  # of simulated sequences
_MOST_SEEDED = 5_000  # time points that a start looks at
_SMALLEST_RATE = 1e-10
_STRENGTH, _NOISE_VARIANCE = 0.2, 0.2  # usual ones, of columns of variance 1


@dataclass(frozen=True)
class FHMM(Model):
    """M chains of K states: z_m1 ~ start_m, z_mt ~ transitions_m(z_m,t-1); what is seen is a sum over chains.

    Gaussian: y_t ~ N(sum_m W_m(z_mt), R). Poisson: y_td ~ Poisson(sum_m rate_md(z_mt)). Blocks: `start` (M x K) and
    `transitions` (M x K x K), Dirichlet; `emissions`, a regression of y on the M K indicators of states, with a row for
    each output where noise is diagonal; or M x K x D gamma variables. Data are `Sequences`; entries may be missing.

    Attributes
    ----------
    n_features, n_chains, n_states : int
        D, M and K.
    emission : {"gaussian", "poisson"}
        What is seen.
    noise : {"diag", "full"}
        What R is.
    start_prior, transition_prior, stickiness : float
        The Dirichlets' parameters; stickiness is added for staying.
    strength, noise_variance, degrees : float
        Gaussian: W given R is N(0, R / strength) for each state, R has the mean noise_variance and so many degrees of
        freedom more than it needs.
    shape, rate : float
        Poisson: rates are Gamma(shape, rate).
    learned : tuple of str
        Which of these numbers, but `degrees`, a fit learns; the value given is where it starts.

    """

    n_features: int
    n_chains: int
    n_states: int
    emission: str = "gaussian"
    noise: str = "diag"
    start_prior: float = 1.0
    transition_prior: float = 1.0
    stickiness: float = 0.0
    strength: float = _STRENGTH
    noise_variance: float = _NOISE_VARIANCE
    degrees: float = 3.0
    shape: float = 1.0
    rate: float = 1.0
    learned: tuple[str, ...] = ()

    name = "fhmm"

    def __post_init__(self) -> None:
        if self.emission not in EMISSIONS:
            raise ValueError(f"emission {self.emission!r} is not known; the known ones are 'gaussian' and 'poisson'.")
        if self.noise not in NOISES:
            raise ValueError(f"noise {self.noise!r} is not known; the known ones are 'full' and 'diag'.")
        check_learned(self)

    def usual_numbers(self) -> Mapping[str, Usual]:
        """Return the numbers of the chains' priors and of the emissions'."""
        chain = dict.fromkeys(("start_prior", "transition_prior", "stickiness"), Usual(1.0))
        if self.is_poisson:
            return chain | {"shape": Usual(1.0), "rate": Usual()}
        return chain | {"strength": Usual(_STRENGTH), "noise_variance": Usual(_NOISE_VARIANCE)}

    @property
    def regression(self) -> Regression:
        """The regression of what is seen on the indicators of states, chain after chain."""
        return Regression(self.n_features, self.n_chains * self.n_states, self.noise == "diag")

    @property
    def is_poisson(self) -> bool:
        """Whether counts are seen."""
        return self.emission == "poisson"

    def joint_states(self) -> npt.NDArray[np.int64]:
        """Return all K^M combinations of states, a row each."""
        return np.array(list(product(range(self.n_states), repeat=self.n_chains)), dtype=np.int64)

    def blocks(self) -> Mapping[str, Block]:
        """Return the chains' blocks and the emissions."""
        chains, size = self.n_chains, self.n_states
        stay = self.transition_prior + self.stickiness * np.eye(size)
        return {
            "start": Block(Dirichlet(), np.full((1, 1), self.start_prior), (chains, size)),
            "transitions": Block(Dirichlet(), stay[None], (chains, size, size)),
            "emissions": self._emission_block(),
        }

    def _emission_block(self) -> Block:
        if self.is_poisson:
            return Block(Gamma(), np.array([self.shape, self.rate]), (self.n_chains, self.n_states, self.n_features, 2))
        regression = self.regression
        own = RegressionPrior(
            np.zeros((self.n_features, regression.inputs)),
            np.full(regression.inputs, self.strength),
            np.full(self.n_features, self.noise_variance * max(self.degrees - 2.0, 0.5)),
            regression.family.outputs - 1 + self.degrees,
        )
        return Block(regression.family, regression.prior(own), regression.shape)

    def init(self, rng: np.random.Generator) -> dict[str, Array]:
        """Return lambda as after a few time points of states at random."""
        count, size = 6 * self.n_states, self.n_states
        labels = rng.integers(0, size, (count, self.n_chains))
        if self.is_poisson:
            levels = rng.gamma(2.0, 0.5 * self.shape / self.rate, (self.n_chains, size, self.n_features))
        else:
            levels = rng.normal(size=(self.n_chains, size, self.n_features)) / np.sqrt(self.n_chains)
        return self._after(labels, levels, np.array([count]), rng)

    def start(self, data: Sequences, rng: np.random.Generator) -> dict[str, Array]:
        """Return lambda as after some time points that k-means divides, chain by chain, each what others leave over.

        Missing entries are their columns' means. The chains' first levels are those of a few time points at random, so
        that different seeds begin in different places.
        """
        rows, lengths = _some_rows(data, rng)
        missing = np.isnan(rows)
        counts = np.maximum((~missing).sum(axis=0), 1)
        means = np.where(missing, 0.0, rows).sum(axis=0) / counts
        rest = np.where(missing, means, rows)
        if self.is_poisson:
            rest = rest - means
        labels = np.zeros((len(rows), self.n_chains), dtype=np.int64)
        levels = np.zeros((self.n_chains, self.n_states, self.n_features))
        for chain in range(self.n_chains):
            labels[:, chain] = k_means(rest, self.n_states, rng)
            for state in range(self.n_states):
                own = labels[:, chain] == state
                levels[chain, state] = rest[own].mean(axis=0) if own.any() else 0.0
            rest = rest - levels[chain, labels[:, chain]]
        if self.is_poisson:
            levels = np.maximum(means / self.n_chains + levels, 0.05 * means / self.n_chains + _SMALLEST_RATE)
        return self._after(labels, levels, lengths, rng)

    def _after(
        self, labels: npt.NDArray[np.int64], levels: Array, lengths: Any, rng: np.random.Generator
    ) -> dict[str, Array]:
        """Return lambda after chains whose states are known, and that show these levels with noise."""
        blocks, chains, size = self.blocks(), self.n_chains, self.n_states
        start, moves = np.zeros((chains, size)), np.zeros((chains, size, size))
        begins = np.zeros(len(labels), dtype=bool)
        begins[np.cumsum(lengths) - lengths] = True
        for chain in range(chains):
            own = labels[:, chain]
            start[chain] = np.bincount(own[begins], minlength=size)
            np.add.at(moves[chain], (own[:-1][~begins[1:]], own[1:][~begins[1:]]), 1.0)
        indicators = self.indicators(labels)
        if self.is_poisson:
            counts = indicators.sum(axis=0).reshape(chains, size, 1) + 1.0
            eta_hat = np.stack([counts * levels, np.broadcast_to(counts, levels.shape)], axis=-1)
        else:
            seen = indicators @ levels.reshape(chains * size, -1)
            seen = seen + np.sqrt(self.noise_variance) * rng.normal(size=seen.shape)
            squares, cross, count = indicators.T @ indicators, seen.T @ indicators, float(len(seen))
            if self.regression.independent:
                many = np.broadcast_to(squares, (self.n_features, *squares.shape))
                sums = RegressionSums(cross, many, (seen**2).sum(axis=0), np.full(self.n_features, count))
            else:
                sums = RegressionSums(cross, squares, seen.T @ seen, count)
            eta_hat = self.regression.natural(sums)
        return {
            "start": blocks["start"].prior + start,
            "transitions": blocks["transitions"].prior + moves,
            "emissions": blocks["emissions"].prior + eta_hat,
        }

    def indicators(self, labels: npt.NDArray[np.int64]) -> Array:
        """Return states of chains (rows x M) as indicators, rows x M K."""
        return np.eye(self.n_states)[labels].reshape(len(labels), -1)

    def mean_start(self, parameters: Mapping[str, Array]) -> Array:
        """Return E_q[start], M x K."""
        lam = parameters["start"]
        result: Array = lam / lam.sum(axis=-1, keepdims=True)
        return result

    def mean_transitions(self, parameters: Mapping[str, Array]) -> Array:
        """Return E_q[transitions], M x K x K, from row to column."""
        lam = parameters["transitions"]
        result: Array = lam / lam.sum(axis=-1, keepdims=True)
        return result

    def levels(self, parameters: Mapping[str, Array]) -> Array:
        """Return what each state of each chain adds to what is seen, M x K x D: W or rates, at the mode of q."""
        lam = parameters["emissions"]
        if self.is_poisson:
            result: Array = lam[..., 0] / lam[..., 1]
            return result
        coefficients = self.regression.usual(self.regression.family.mode_stats(lam))[0]
        return coefficients.T.reshape(self.n_chains, self.n_states, self.n_features)

    def noise_covariance(self, parameters: Mapping[str, Array]) -> Array:
        """Return R at the mode of q."""
        return self.regression.usual(self.regression.family.mode_stats(parameters["emissions"]))[1]

    def quantities(self, values: Mapping[str, Array]) -> Quantities:
        """Return the probabilities of first states and of transitions, what states add, and the noise covariance."""
        found = {
            "startprob": Quantity(values["start"], ("hidden_chain", "state")),
            "transmat": Quantity(values["transitions"], ("hidden_chain", "state", "next_state")),
        }
        dims = ("hidden_chain", "state", "feature")
        if self.is_poisson:
            return {**found, "levels": Quantity(values["emissions"], dims)}
        coefficients, noise = self.regression.named(values["emissions"])
        levels = np.swapaxes(coefficients, 1, 2).reshape(-1, self.n_chains, self.n_states, self.n_features)
        noise_dims = ("feature", "other_feature")[: noise.ndim - 1]
        return {**found, "levels": Quantity(levels, dims), "noise_covariance": Quantity(noise, noise_dims)}

    @classmethod
    def example(cls) -> FHMM:
        """Return two chains of two states, seen in two columns."""
        return cls(2, 2, 2, start_prior=2.0, transition_prior=2.0, strength=1.0, noise_variance=0.5, degrees=10.0)

    @classmethod
    def identifiable(cls) -> FHMM:
        """Return the same with levels that lie apart."""
        return cls(2, 2, 2, start_prior=2.0, transition_prior=2.0, strength=0.1, noise_variance=0.1, degrees=10.0)

    def simulate(
        self, rng: np.random.Generator, n: int, *, values: Mapping[str, Array] | None = None, lengths: Any = None
    ) -> tuple[dict[str, Array], Sequences]:
        """Draw all parameters, or take their values, then n sequences: short ones with gaps, or of given lengths."""
        values = self.draw_parameters(rng) if values is None else values
        sizes = rng.integers(*_LENGTHS, n) if lengths is None else np.asarray(lengths)
        labels = self.walk(values["start"], values["transitions"], sizes, rng)
        rows = self.emit(values["emissions"], labels, rng)
        if lengths is None:
            rows[rng.random(rows.shape) < 0.1] = np.nan
        return dict(values), Sequences.from_lengths(rows, sizes)

    def draw_parameters(self, rng: np.random.Generator) -> dict[str, Array]:
        """Draw all parameters from the prior, in the form of the families' `statistics`."""
        blocks, chains, size = self.blocks(), self.n_chains, self.n_states
        moves = np.broadcast_to(blocks["transitions"].prior, (chains, size, size))
        block = blocks["emissions"]
        if self.is_poisson:
            emissions = rng.gamma(self.shape, 1.0 / self.rate, block.shape[:-1])
        else:
            emissions = self.regression.draw(rng, np.ascontiguousarray(np.broadcast_to(block.prior, block.shape)))
        return {
            "start": rng.dirichlet(np.full(size, self.start_prior), chains),
            "transitions": np.stack([[rng.dirichlet(row) for row in own] for own in moves]),
            "emissions": emissions,
        }

    def walk(self, start: Array, transitions: Array, lengths: Any, rng: np.random.Generator) -> npt.NDArray[np.int64]:
        """Draw the states of all chains, time points x M."""
        begins = np.zeros(int(np.sum(lengths)), dtype=bool)
        begins[(np.cumsum(lengths) - lengths)[np.asarray(lengths) > 0]] = True
        labels = np.empty((len(begins), self.n_chains), dtype=np.int64)
        uniforms = rng.random(labels.shape)
        first, levels = np.cumsum(start, axis=-1), np.cumsum(transitions, axis=-1)
        chains = np.arange(self.n_chains)
        for t in range(len(begins)):
            rows = first if begins[t] else levels[chains, labels[t - 1]]
            reached = (rows < uniforms[t][:, None] * rows[:, -1:]).sum(axis=1)
            labels[t] = np.minimum(reached, self.n_states - 1)
        return labels

    def emit(self, emissions: Array, labels: npt.NDArray[np.int64], rng: np.random.Generator) -> Array:
        """Draw what is seen of states, given the values of the emission block."""
        indicators = self.indicators(labels)
        if self.is_poisson:
            rates = indicators @ emissions.reshape(self.n_chains * self.n_states, -1)
            return rng.poisson(rates).astype(float)
        coefficients, noise = self.regression.usual(self.regression.family.statistics(emissions))
        return indicators @ coefficients.T + rng.normal(size=(len(labels), self.n_features)) @ noise_root(noise).T


def _some_rows(data: Sequences, rng: np.random.Generator) -> tuple[Array, npt.NDArray[np.int64]]:
    """Return the rows of some sequences that are not too many, and their lengths."""
    order = rng.permutation(len(data))
    reached = np.cumsum(data.costs()[order])
    count = max(1, int(np.searchsorted(reached, _MOST_SEEDED, side="right")))
    chosen = np.sort(order[:count])
    rows = [data.group(int(n))[:_MOST_SEEDED] for n in chosen]
    return np.concatenate(rows), np.array([len(own) for own in rows])
