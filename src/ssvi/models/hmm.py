"""A hidden Markov model: states that follow each other, and show themselves at each time point."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ssvi.batches import Sequences, Subchains
from ssvi.families.dirichlet import Dirichlet
from ssvi.families.learned import Usual
from ssvi.local_steps.base import LocalResult, Part
from ssvi.models.base import Block, Model, check_learned
from ssvi.models.emissions.base import Emission, Labels
from ssvi.models.growth import likeliest_growth
from ssvi.models.quantities import Quantities, Quantity
from ssvi.models.seeding import k_means
from ssvi.numerics.special import digamma_array
from ssvi.typing import Array

_MOST_SEEDED = 5_000  # time points that a start looks at
_LEAST_WEIGHT = 1e-6  # of a state in the base of transitions, so that it can come back
_GROWTHS = (1e-2, 1e3)  # of a gamma that is learned
_USUAL_LENGTHS = (3, 12)  # of simulated sequences


@dataclass(frozen=True, eq=False)
class HMM(Model):
    """start ~ Dirichlet(s), transitions_j ~ Dirichlet(a w + kappa e_j), z_1 ~ start, z_t ~ transitions_(z_t-1).

    Blocks: `start` (1 x K), `transitions` (K x K, from row to column) and those of the emission. Data are `Sequences`
    or `Subchains`. With `base` None all states are alike, and w is 1 for each: a is the prior of each transition. Else
    w are weights of states that all rows share, learned from how often states are gone to, w ~ Dirichlet(growth / K):
    with K large a hierarchical Dirichlet process (its weak limit), of which as many states stay as are needed.

    Attributes
    ----------
    n_components : int
        K.
    emission : Emission
        How states show themselves.
    start_prior : float
        s.
    transition_prior : float
        a: for each transition, or with `base` for all of a row. Below 1 rows are sparse.
    stickiness : float
        kappa, in favour of staying.
    base : K numbers, optional
        w, where it starts.
    growth : float
        gamma: the larger, the more states there are.
    learned : tuple of str
        Which of "base", "growth" (with it), "start_prior", "transition_prior", "stickiness" and the emission's numbers
        ("emission.prior", ...) a fit learns; the value given is where it starts.

    """

    n_components: int
    emission: Emission
    start_prior: float = 1.0
    transition_prior: float = 1.0
    stickiness: float = 0.0
    base: tuple[float, ...] | None = None
    growth: float = 1.0
    learned: tuple[str, ...] = ()

    name = "hmm"
    learnable = ("base", "growth")

    def __post_init__(self) -> None:
        check_learned(self)
        if "growth" in self.learned and "base" not in self.learned:
            raise ValueError("the growth of weights can be learned where these are: learn the base too.")

    def usual_numbers(self) -> Mapping[str, Usual]:
        """Return s, a, kappa and the emission's numbers."""
        chain = dict.fromkeys(("start_prior", "transition_prior", "stickiness"), Usual(1.0))
        return chain | {f"emission.{name}": usual for name, usual in self.emission.usual_numbers().items()}

    def blocks(self) -> Mapping[str, Block]:
        """Return the chain's blocks and the emission's."""
        size = self.n_components
        return {
            "start": Block(Dirichlet(), np.full((1, 1), self.start_prior), (1, size)),
            "transitions": Block(Dirichlet(), self._transition_prior(), (size, size)),
            **self.emission.blocks(),
        }

    def _transition_prior(self) -> Array:
        weights = np.ones(self.n_components) if self.base is None else np.array(self.base)
        return self.transition_prior * weights + self.stickiness * np.eye(self.n_components)

    def learn(
        self, views: Mapping[str, Array | Part], result: LocalResult, step_size: float, sweeps: float
    ) -> dict[str, Array]:
        """Return the weights of states, moved by a share rho towards what a minibatch says of them.

        That is their mean given how many tables the transitions to each of them sit at. n_jk transitions sit at
        E[m_jk] = a w_k (psi(a w_k + n_jk) - psi(a w_k)) tables, each of them a draw from w. A table of staying is one
        of w with probability a w_k / (a w_k + kappa), and else of stickiness (Fox et al. 2011). These tables tell gamma
        as well.
        """
        if "base" not in self.learned:
            return {}
        prior, seen = self._transition_prior(), result.eta_hat["transitions"] * result.scale
        tables = prior * (digamma_array(prior + seen) - digamma_array(prior))
        tables *= (prior - self.stickiness * np.eye(self.n_components)) / prior
        held = tables.sum(axis=0)
        wanted = self.growth / self.n_components + held
        own = np.array(self.base)
        weights = np.maximum(own + step_size * (wanted / wanted.sum() - own), _LEAST_WEIGHT)
        found = {"base": weights / weights.sum()}
        if "growth" in self.learned and held.sum() > 0:
            moved = self.growth + step_size * (likeliest_growth(self.growth, held) - self.growth)
            found["growth"] = np.array(float(np.clip(moved, *_GROWTHS)))
        return found

    def init(self, rng: np.random.Generator) -> dict[str, Array]:
        """Return lambda at random: the prior and a little more, different everywhere."""
        blocks = self.blocks()
        chain = {
            name: blocks[name].prior + rng.gamma(1.0, 1.0, blocks[name].shape) for name in ("start", "transitions")
        }
        return {**chain, **self.emission.init(rng)}

    def start(
        self, data: Sequences | Subchains, rng: np.random.Generator, *, one_try: bool = False, states: int | None = None
    ) -> dict[str, Array]:
        """Return the prior and time points as k-means divides them, with the transitions between these.

        Of many time points a few stretches are looked at, and stand for all. With `one_try` k-means starts once, not
        several times for the tightest clusters: for those who compare starts by another measure. With `states` only so
        many of the states have time points, and the others are as the prior has them.
        """
        chosen = self._some_of(data, rng)
        values = np.concatenate([data.group(int(n)) for n in chosen])
        known = ~np.isnan(values).all(axis=1)
        if not known.any():
            return self.init(rng)
        labels = np.full(len(values), -1)
        points, tries = self.emission.points(values[known]), {"starts": 1} if one_try else {}
        labels[known] = k_means(points, states or self.n_components, rng, **tries)
        lengths = data.costs()
        factor = float(lengths.sum() / lengths[chosen].sum())
        return self.after(values, labels, lengths[chosen], factor)

    def _some_of(self, data: Sequences | Subchains, rng: np.random.Generator) -> Labels:
        """Return sequences to look at, whose time points are not too many; one at the least."""
        order = rng.permutation(len(data))
        reached = np.cumsum(data.costs()[order])
        count = max(1, int(np.searchsorted(reached, _MOST_SEEDED, side="right")))
        return np.sort(order[:count])

    def after(self, values: Array, labels: Labels, lengths: Any, factor: float) -> dict[str, Array]:
        """Return lambda after sequences whose states are known (-1: not so), each counting `factor` times."""
        blocks, size, known = self.blocks(), self.n_components, labels >= 0
        begins = np.zeros(len(labels), np.bool_)
        begins[np.cumsum(lengths) - lengths] = True
        first = np.bincount(labels[begins & known], minlength=size)
        follows = np.flatnonzero(~begins & known)
        follows = follows[known[follows - 1]]
        counts = np.zeros((size, size))
        np.add.at(counts, (labels[follows - 1], labels[follows]), 1.0)
        weights = np.full(int(known.sum()), factor)
        return {
            "start": blocks["start"].prior + factor * first[None],
            "transitions": blocks["transitions"].prior + factor * counts,
            **self.emission.after(values[known], labels[known], weights),
        }

    def mean_start(self, parameters: Mapping[str, Array]) -> Array:
        """Return E_q[start]."""
        lam = parameters["start"][0]
        result: Array = lam / lam.sum()
        return result

    def mean_transitions(self, parameters: Mapping[str, Array]) -> Array:
        """Return E_q[transitions], K x K, from row to column."""
        lam = parameters["transitions"]
        result: Array = lam / lam.sum(axis=1, keepdims=True)
        return result

    def points_held(self, parameters: Mapping[str, Array]) -> Array:
        """Return how many time points each state holds, as far as first states and transitions to it tell."""
        start = np.maximum(parameters["start"][0] - self.start_prior, 0.0)
        held: Array = start + np.maximum(parameters["transitions"] - self._transition_prior(), 0.0).sum(axis=0)
        return held

    def quantities(self, values: Mapping[str, Array]) -> Quantities:
        """Return the probabilities of first states and of transitions, and what states show."""
        return {
            "startprob": Quantity(values["start"][:, 0], ("state",)),
            "transmat": Quantity(values["transitions"], ("state", "next_state")),
            **self.emission.quantities(values),
        }

    @classmethod
    def example(cls) -> HMM:
        """Return three states that show one of four symbols."""
        from ssvi.models.emissions.categorical import CategoricalEmission

        return cls(3, CategoricalEmission(1, 3, 4, 0.8), 1.2, 0.9, 0.5)

    @classmethod
    def identifiable(cls) -> HMM:
        """Return three states that show numbers in two columns, and lie apart."""
        from ssvi.models.emissions.gaussian import GaussianEmission
        from ssvi.models.gaussian_mixture import GaussianPrior

        prior = GaussianPrior(np.zeros(2), 0.02, np.full(2, 8.0), 10.0)
        return cls(3, GaussianEmission(2, 3, "diag", prior), 2.0, 2.0, 1.0)

    def simulate(
        self, rng: np.random.Generator, n: int, *, values: Mapping[str, Array] | None = None, lengths: Any = None
    ) -> tuple[dict[str, Array], Sequences]:
        """Draw the parameters, or take their values, then n sequences, of a few time points or of given lengths."""
        if values is None:
            prior = np.broadcast_to(self._transition_prior(), (self.n_components, self.n_components))
            values = {
                "start": rng.dirichlet(np.full(self.n_components, self.start_prior), 1),
                "transitions": np.stack([rng.dirichlet(row) for row in prior]),
                **self.emission.draw(rng),
            }
        sizes = rng.integers(*_USUAL_LENGTHS, n) if lengths is None else np.asarray(lengths)
        states = [self.walk(values["start"][0], values["transitions"], int(size), rng) for size in sizes]
        rows = self.emission.emit(values, np.concatenate(states), rng)
        return dict(values), Sequences.from_lengths(rows, sizes)

    def walk(self, start: Array, transitions: Array, length: int, rng: np.random.Generator) -> Labels:
        """Draw the states of a sequence."""
        levels, first = np.cumsum(transitions, axis=1), np.cumsum(start)
        states, uniforms = np.empty(length, np.int64), rng.random(length)
        row = first
        for t in range(length):
            states[t] = min(int(np.searchsorted(row, uniforms[t] * row[-1], side="right")), self.n_components - 1)
            row = levels[states[t]]
        return states
